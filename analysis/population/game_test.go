package population_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/host/results"
)

func TestReplicatorFindsTheMixedEquilibrium(t *testing.T) {
	// Always even and always odd: equal shares, 1.25 points.
	r := population.Replicate([][]float64{{0, 1}, {1, 0}}, 50_000)
	if last := r.Last(); !r.Settled || math.Abs(last.Payoff-1.25) > 1e-9 || math.Abs(last.Share[0]-0.5) > 1e-9 {
		t.Errorf("even against odd ends with %+v", last)
	}
	// Nobody ever differs from anybody: nothing changes, and that is an equilibrium.
	if r := population.Replicate([][]float64{{0, 0}, {0, 0}}, 50_000); !r.Settled || r.Last().Payoff != 1 {
		t.Errorf("without fitness: %+v", r)
	}
}

func plan(names ...string) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: 10, Legs: 1}
	for _, n := range names {
		base, _, _ := strings.Cut(n, "#")
		p.Field = append(p.Field, results.Entrant{Name: n, Kind: "builtin", Ref: base, Fingerprint: base})
	}
	return p
}

func estimates(n int, differ func(i, j int) analysis.Estimate) *analysis.Estimates {
	e := &analysis.Estimates{Fair: true, Players: make([]analysis.Player, n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			e.Pairs = append(e.Pairs, analysis.Pair{A: i, B: j, Differ: differ(i, j)})
		}
	}
	return e
}

func around(x float64) analysis.Estimate {
	return analysis.Estimate{Estimate: x, Low: x - 0.1, High: x + 0.1}
}

// TestCopiesGiveTheDiagonal holds that copies are one strategy, and that what they did
// against each other is its diagonal.
func TestCopiesGiveTheDiagonal(t *testing.T) {
	e := estimates(3, func(i, j int) analysis.Estimate { return around(0.2 + 0.2*float64(i+j)/2) }) // 0.3, 0.4, 0.5
	g := attest.Must(population.NewGame(plan("random#1", "random#2", "mine"), e, []population.Mirror{{Strategy: "mine", Differ: around(0.7)}, {Strategy: "random", Differ: around(0.9)}}, nil))
	if strings.Join(g.Names, " ") != "random mine" {
		t.Fatalf("strategies are %q", g.Names)
	}
	attest.Near(t, g.Payoff(0, 0).Estimate, 1.15, 1e-12, "random against its copy")
	attest.Near(t, g.Payoff(0, 1).Estimate, 1+0.45/2, 1e-12, "random against mine")
	attest.Near(t, g.Payoff(1, 0).Low, 1+0.35/2, 1e-12, "the lower end")
	attest.Near(t, g.Payoff(1, 1).Estimate, 1.35, 1e-12, "mine against its copy")
	if len(g.Unknown()) != 0 {
		t.Errorf("unknown: %q", g.Unknown())
	}
}

func TestViewWithoutDiagonal(t *testing.T) {
	e := estimates(3, func(i, j int) analysis.Estimate { return around(0.1 * float64(i+j)) })
	g := attest.Must(population.NewGame(plan("a", "b", "c"), e, nil, nil))
	v := population.NewView(g)
	if v.Trajectory != nil || len(v.Missing) != 3 || v.Members[0].Share.Defined() || v.Members[0].AlphaRank.Defined() {
		t.Errorf("dynamics without a diagonal: %+v", v.Members[0])
	}
	// 0 meets 1 at 0.1 and 2 at 0.2; 1 meets 2 at 0.3.
	if m := v.Members[0]; m.Worst != "b" || m.Borda.Estimate != 0 {
		t.Errorf("a: %+v", m)
	}
	if m := v.Members[2]; m.Worst != "a" || m.Borda.Estimate != 1 {
		t.Errorf("c: %+v", m)
	}
}

// TestRanges: of two strategies that differ with chance b from each other, and with chance
// 0.2 and 0 from their copies, the first ends with b/(2b-0.2) of the population. b is 0.5,
// and 0.4 to 0.6 in 95 of 100 experiments, so its share is between 0.667 and 0.6.
func TestRanges(t *testing.T) {
	sure := func(p float64) analysis.Estimate {
		return analysis.Estimate{Estimate: p, Low: p, High: p, Level: 0.95}
	}
	e := estimates(2, func(i, j int) analysis.Estimate {
		return analysis.Estimate{Estimate: 0.5, Low: 0.4, High: 0.6, Level: 0.95}
	})
	e.Level = 0.95
	mirrors := []population.Mirror{{Strategy: "a", Differ: sure(0.2)}, {Strategy: "b", Differ: sure(0)}}
	view := func() *population.View {
		g := attest.Must(population.NewGame(plan("a", "b"), e, mirrors, nil))
		return population.NewView(g)
	}
	v := view()
	share := v.Members[0].Share
	if math.Abs(share.Estimate-0.625) > 1e-3 || math.Abs(share.Low-0.6) > 0.01 || math.Abs(share.High-0.667) > 0.02 {
		t.Errorf("share %+v, want 0.625 (0.600 to 0.667)", share)
	}
	if share.Level != 0.95 || share.Method != analysis.ByDrawing {
		t.Errorf("a share of level %v by %q", share.Level, share.Method)
	}
	if other := v.Members[1].Share; math.Abs(other.Low+share.High-1) > 1e-9 || math.Abs(other.High+share.Low-1) > 1e-9 {
		t.Errorf("shares %+v and %+v do not add up", share, other)
	}
	if again := view(); again.Members[0].Share != share || again.Members[0].Invades != v.Members[0].Invades {
		t.Errorf("the same game gives %+v and %+v", v.Members[0], again.Members[0])
	}
	e.Pairs[0].Differ = sure(0.5)
	for _, m := range view().Members {
		for _, x := range []analysis.Estimate{m.Share, m.AlphaRank, m.Invades} {
			attest.Near(t, x.Width(), 0, 1e-12, "%s: %+v follows from payoffs that are known", m.Name, x)
		}
	}
}

func TestRefusals(t *testing.T) {
	e := estimates(2, func(i, j int) analysis.Estimate { return around(0.5) })
	e.Fair = false
	if _, err := population.NewGame(plan("a", "b"), e, nil, nil); !errors.Is(err, population.ErrBiased) {
		t.Errorf("with a biased draw: %v", err)
	}
}

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

func TestAgainstReference(t *testing.T) {
	r := load(t)
	if len(r.Moran) < 5 || len(r.Fermi) < 3 || len(r.Replicator.Steps) < 5 {
		t.Error("reference values are missing")
	}
	for _, c := range r.Moran { // the chain was solved
		a := c.Args
		attest.Near(t, population.Moran(a[0], a[1], a[2], a[3], int(a[4]), a[5]), c.Want, 1e-12, "Moran")
	}
	for _, c := range r.Fermi {
		a := c.Args
		attest.Near(t, population.Fermi(a[0], a[1], a[2], a[3], int(a[4]), a[5]), c.Want, 1e-12, "Fermi")
	}
	ranks := population.AlphaRank(r.AlphaRank.Payoff, r.AlphaRank.M, r.AlphaRank.Alpha)
	for i, want := range r.AlphaRank.Want { // from powers of the chain
		attest.Near(t, ranks[i], want, 1e-10, "alpha-rank")
	}
	for _, s := range population.Replicate(r.Replicator.Differ, 100).Steps {
		if s.Generation >= len(r.Replicator.Steps) {
			break
		}
		want := r.Replicator.Steps[s.Generation]
		attest.Near(t, s.Payoff, want.Payoff, 1e-12, "mean payoff")
		for i := range want.Share {
			attest.Near(t, s.Share[i], want.Share[i], 1e-12, "share")
		}
	}
	names := []string{"a", "b", "c", "d"}
	e := estimates(len(names), func(i, j int) analysis.Estimate { return around(r.Borda.Differ[i][j]) })
	for i, m := range population.NewView(attest.Must(population.NewGame(plan(names...), e, nil, nil))).Members {
		attest.Near(t, m.Borda.Estimate, r.Borda.Want[i], 1e-12, "Borda of %s", names[i]) // ballots were counted
	}
}

func TestFixationIsNeverZeroOrNaN(t *testing.T) {
	for _, s := range []float64{1e3, 1e5, 1e300} {
		if p := population.Fermi(0, 0, 1, 1, 1000, s); !(p > 0 && p < 1e-100) {
			t.Errorf("with selection %g a hopeless mutant takes over with chance %g", s, p)
		}
		attest.Near(t, population.Fermi(1, 1, 0, 0, 1000, s), 1, 1e-12, "fixation of an overwhelming mutant")
	}
}

// TestAlphaRankOfCommitmentGame has the values of T. A. Han, L. M. Pereira,
// F. C. Santos and T. Lenaerts, Scientific Reports 3 (2013), 2695, in the form in which
// OpenSpiel tests its alpha-rank: m = 20, alpha = 0.1, to four decimals.
func TestAlphaRankOfCommitmentGame(t *testing.T) {
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
		attest.Near(t, got[i], want, 5e-5, "strategy %d", i)
	}
}
