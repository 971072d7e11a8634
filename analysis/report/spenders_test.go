package report_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis/report"
)

// Who took most of a long time is named, with who else took a part that matters.
func TestSpendersAreNamed(t *testing.T) {
	t.Parallel()
	facts := func(seconds ...float64) (f report.Facts) {
		var all float64
		for _, s := range seconds {
			all += s
		}
		for i, s := range seconds {
			f.Spenders = append(f.Spenders, report.Spender{Name: string(rune('a' + i)), Kind: "js", CPUSeconds: s, Share: s / all})
		}
		return f
	}
	for _, tc := range []struct {
		facts report.Facts
		want  []string
	}{
		{facts(), nil},
		{facts(4.5), nil},
		{facts(4, 4, 4), nil},
		{facts(40, 8, 1, 1), []string{"Of 50.0 s of processor time that scripts and plugins took: a 80.0 %, b 16.0 %."}},
		{facts(6), []string{"Of 6.0 s of processor time that scripts and plugins took: a 100.0 %."}},
	} {
		if got := tc.facts.SpenderLines(); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %q, want %q", tc.facts.Spenders, got, tc.want)
		}
	}
}
