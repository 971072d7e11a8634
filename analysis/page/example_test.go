package page_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
)

func ExampleWrite() {
	plan := analysistest.Plan()
	run := report.Run{Plan: plan, Estimates: analysistest.Estimates(plan), Facts: report.Facts{Reproducible: true}}
	var html bytes.Buffer
	if err := page.Write(&html, page.Input{Document: report.New(run)}); err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(html.String(), "<h1>")
	headline, _, _ := strings.Cut(rest, "</h1>")
	fmt.Println(headline)
	// Output:
	// even scores most against these opponents
}
