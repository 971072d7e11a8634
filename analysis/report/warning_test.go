package report_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// TestWarnings: what intervals do not hold for is on both screens and in the document,
// except under a guarantee that holds for it.
func TestWarnings(t *testing.T) {
	t.Parallel()
	r := runs(t)["faulty"]
	r.Estimates.Skewed = []analysis.Skewed{{Field: 1, Failed: 3, Enough: 1100}, {Field: 2, Enough: 400}}
	list := report.New(r).Warnings
	names := r.Estimates.Names([]int{1, 2})
	if len(list) != 2 || list[0].Kind != "skewed" || !slices.Equal(list[0].Players, names) || list[0].Leagues != 1100 || list[1].Kind != "unseen" {
		t.Errorf("%+v", list)
	}
	for _, details := range []bool{false, true} {
		text := string(rendered(t, func(w io.Writer) error { return report.WriteTable(w, report.New(r), report.Screen{Details: details}) }))
		for _, w := range list {
			if strings.Count(text, w.Text) != 1 {
				t.Errorf("details %v: not once %q:\n%s", details, w.Text, text)
			}
		}
	}
	r.Stopping.Options = &sequential.Options{Guarantee: sequential.Asymptotic, Level: 0.95}
	r.Estimates.Skewed = nil // there are technical losses
	if list := report.New(r).Warnings; len(list) != 2 || list[1].Kind != "asymptotic" {
		t.Errorf("with a stopping rule: %+v", list)
	}
	r.Stopping.Options = &sequential.Options{Guarantee: sequential.Finite, Level: 0.95}
	if list := report.New(r).Warnings; list != nil {
		t.Errorf("with a finite guarantee: %+v", list)
	}
}
