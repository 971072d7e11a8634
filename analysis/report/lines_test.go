package report_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Who took most of a long time is named, with who else took a part that matters.
func TestSpendersAreNamed(t *testing.T) {
	for _, tc := range []struct {
		seconds []float64
		want    string
	}{
		{nil, ""}, {[]float64{4.5}, ""}, {[]float64{4, 4, 4}, ""},
		{[]float64{40, 8, 1, 1}, "Of 50.0 s of processor time that scripts and plugins took: a 80.0 %, b 16.0 %."},
		{[]float64{6}, "Of 6.0 s of processor time that scripts and plugins took: a 100.0 %."},
	} {
		var f report.Facts
		for i, s := range tc.seconds {
			f.Spenders = append(f.Spenders, report.Spender{Name: string(rune('a' + i)), Kind: "js", CPUSeconds: s, Share: s / floats.Sum(tc.seconds)})
		}
		if got := strings.Join(f.Lines(), "\n"); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.seconds, got, tc.want)
		}
	}
}

// TestWarnings: what intervals do not hold for is on both screens and in the document,
// except under a guarantee that holds for it.
func TestWarnings(t *testing.T) {
	r := runs()["faulty"]
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
	r.Estimates.Players = slices.Clone(r.Estimates.Players)
	r.Estimates.Players[1].Faults = []analysis.Fault{{Kind: game.FaultQuarantined, Count: 1}}
	text := string(rendered(t, func(w io.Writer) error { return report.WriteTable(w, report.New(r), report.Screen{Details: true}) }))
	if strings.Contains(text, "corrected for ") || !strings.Contains(text, "mix fields") {
		t.Errorf("of a mixture:\n%s", text)
	}
}

func TestParseRatio(t *testing.T) {
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
		attest.Fails(t, err, part, "%s", text)
	}
}
