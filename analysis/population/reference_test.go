package population_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/population"
)

// reference has the values that testdata/reference.py computed by other means.
type reference struct {
	Moran, Fermi []struct {
		Args []float64
		Want float64
	}
	AlphaRank struct {
		Payoff [][]float64
		M      int
		Alpha  float64
		Want   []float64
	}
	Borda struct {
		Differ [][]float64
		Want   []float64
	}
	Replicator struct {
		Differ [][]float64
		Steps  []struct {
			Share  []float64
			Payoff float64
		}
	}
}

func load(t *testing.T) reference {
	t.Helper()
	var r reference
	attest.OK(t, json.Unmarshal(attest.Must(os.ReadFile("testdata/reference.json")), &r))
	return r
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

func TestAgainstReference(t *testing.T) {
	t.Parallel()
	r := load(t)
	if len(r.Moran) < 5 || len(r.Fermi) < 3 || len(r.Replicator.Steps) < 5 {
		t.Error("reference values are missing")
	}
	for _, c := range r.Moran { // the chain was solved
		a := c.Args
		near(t, "Moran", population.Moran(a[0], a[1], a[2], a[3], int(a[4]), a[5]), c.Want, 1e-12)
	}
	for _, c := range r.Fermi {
		a := c.Args
		near(t, "Fermi", population.Fermi(a[0], a[1], a[2], a[3], int(a[4]), a[5]), c.Want, 1e-12)
	}
	ranks := population.AlphaRank(r.AlphaRank.Payoff, r.AlphaRank.M, r.AlphaRank.Alpha)
	for i, want := range r.AlphaRank.Want { // from powers of the chain
		near(t, "alpha-rank", ranks[i], want, 1e-10)
	}
	for _, s := range population.Replicate(r.Replicator.Differ, 100).Steps {
		if s.Generation >= len(r.Replicator.Steps) {
			break
		}
		want := r.Replicator.Steps[s.Generation]
		near(t, "mean payoff", s.Payoff, want.Payoff, 1e-12)
		for i := range want.Share {
			near(t, "share", s.Share[i], want.Share[i], 1e-12)
		}
	}
	names := []string{"a", "b", "c", "d"}
	e := estimates(len(names), func(i, j int) analysis.Estimate { return around(r.Borda.Differ[i][j]) })
	for i, m := range population.NewView(attest.Must(population.NewGame(plan(names...), e, nil, nil))).Members {
		near(t, names[i], m.Borda.Estimate, r.Borda.Want[i], 1e-12) // ballots were counted
	}
}

func TestFixationIsNeverZeroOrNaN(t *testing.T) {
	t.Parallel()
	for _, s := range []float64{1e3, 1e5, 1e300} {
		if p := population.Fermi(0, 0, 1, 1, 1000, s); !(p > 0 && p < 1e-100) {
			t.Errorf("with selection %g a hopeless mutant takes over with chance %g", s, p)
		}
		near(t, "fixation of an overwhelming mutant", population.Fermi(1, 1, 0, 0, 1000, s), 1, 1e-12)
	}
}

// TestAlphaRankOfCommitmentGame has the values of T. A. Han, L. M. Pereira,
// F. C. Santos and T. Lenaerts, Scientific Reports 3 (2013), 2695, in the form in which
// OpenSpiel tests its alpha-rank: m = 20, alpha = 0.1, to four decimals.
func TestAlphaRankOfCommitmentGame(t *testing.T) {
	t.Parallel()
	const r, temptation, p, s, delta, eps = 1.0, 2.0, 0.0, -1.0, 4.0, 0.25
	payoff := [][]float64{
		{r - eps/2, r - eps, 0, s + delta - eps, r - eps},
		{r, r, s, s, s},
		{0, temptation, p, p, p},
		{temptation - delta, temptation, p, p, p},
		{r, temptation, p, p, p},
	}
	got := population.AlphaRank(payoff, 20, 0.1)
	for i, want := range []float64{0.40966787, 0.07959841, 0.20506998, 0.08505983, 0.2206039} {
		if math.Abs(got[i]-want) > 5e-5 {
			t.Errorf("strategy %d has %.6f, want %.6f", i, got[i], want)
		}
	}
}
