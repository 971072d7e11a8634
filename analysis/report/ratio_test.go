package report_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
)

func TestParseRatio(t *testing.T) {
	t.Parallel()
	got, err := report.ParseRatio("new=x.lua, old=y.lua,delta=0.02,beta=0.1")
	if want := (results.Ratio{New: "x.lua", Old: "y.lua", Delta: 0.02, Alpha: 0.05, Beta: 0.1}); err != nil || got != want {
		t.Errorf("parsed as %+v, %v; want %+v", got, err, want)
	}
	for text, part := range map[string]string{
		"":                                "not of the form name=value",
		"new=a,old=b":                     "delta is missing",
		"new=a,delta=0.1":                 "new or old is missing",
		"new=a,old=a,delta=0.1":           `both "a"`,
		"new=a,old=b,delta=much":          `delta is "much"`,
		"new=a,old=b,delta=0.1,delta=0.2": "delta is given twice",
		"new=a,old=b,gamma=0.1":           `unknown key "gamma"`,
		"new=a,old=b,delta=0.1,alpha=2":   "2",
	} {
		_, err := report.ParseRatio(text)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %s", text, err, part)
		}
	}
}
