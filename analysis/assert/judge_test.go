package assert_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/host/results"
)

// play returns a plan and leagues in which player i says even with chance even[i]; the
// last one fails in every tenth match.
func play(t *testing.T, names []string, even []float64, leagues int) (results.Plan, []results.League) {
	t.Helper()
	f := calibration.Field{Legs: 4, Leagues: leagues}
	for _, p := range even {
		f.Players = append(f.Players, calibration.Player{Even: p})
	}
	f.Players[len(even)-1].Fault = 0.1
	plan := f.Plan(5)
	for i, name := range names {
		plan.Field[i].Name = name
	}
	var list []results.League
	if err := f.Play(t.Context(), plan, func(l *results.League) error {
		var kept results.League
		kept.CopyFrom(l)
		list = append(list, kept)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return plan, list
}

func judged(t *testing.T, plan results.Plan, leagues []results.League, texts ...string) ([]assert.Outcome, *analysis.Accumulator) {
	t.Helper()
	j := attest.Must(assert.NewJudge(plan, texts, nil))
	acc := attest.Must(analysis.NewAccumulator(plan))
	for i := range leagues {
		attest.OK(t, j.Append(&leagues[i]))
		attest.OK(t, acc.Add(leagues[i]))
	}
	return j.Outcomes(acc.Estimates, 0.95), acc
}

var (
	names = []string{"odd", "even", "coin", "coin-2", "my strat"}
	evens = []float64{0, 1, 0.5, 0.5, 0.9}
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	plan, leagues := play(t, names, evens, 400)
	for _, c := range []struct {
		text string
		want assert.Verdict
	}{
		{"odd.adjusted > coin.adjusted", assert.Holds},
		{"odd.adjusted < coin.adjusted", assert.Refuted},
		{"odd.adjusted > coin.adjusted + 1", assert.Refuted},
		{"coin.adjusted > coin-2.adjusted", assert.Undecided},
		{"coin.adjusted - coin-2.adjusted < 0.1", assert.Holds},
		{"2 * odd.adjusted > coin.adjusted + coin-2.adjusted", assert.Holds},
		{"odd.win_rate > 0.3", assert.Holds},
		{"odd.win_rate > 0.9", assert.Refuted},
		{"1 - odd.win_rate < 0.7", assert.Holds},
		{"coin.differ == 0.5", assert.Undecided},
		{"odd.differ == 0.5", assert.Refuted},
		{"2 * coin.differ > 1.001", assert.Undecided},
		{"odd.rank < coin.rank", assert.Holds},
		{`"my strat".technical_losses == 0`, assert.Refuted},
		{`"my strat".technical_losses > 0`, assert.Holds},
		{"odd.technical_losses == 0", assert.Holds},
		{"odd.wins + odd.draws + odd.losses == odd.matches", assert.Holds},
		{"odd.matches == 6400", assert.Holds},
		{"odd.wins + odd.ties + odd.losses == odd.matches", assert.Holds},
		{"odd.ties == odd.draws", assert.Holds},
		{"odd.champion_share >= 0", assert.Holds},
	} {
		outcomes, _ := judged(t, plan, leagues, c.text)
		if o := outcomes[0]; o.Verdict != c.want || strings.Contains(o.Note, "NaN") {
			t.Errorf("%s: %s, want %s (%+v)", c.text, o.Verdict, c.want, o)
		}
	}
}

// The interval of a difference of adjusted points is that of the paired comparison,
// which package analysis computes on another way; that of raw points is Student's, on
// the differences of the leagues.
func TestDifferenceIsThePairedComparison(t *testing.T) {
	t.Parallel()
	plan, leagues := play(t, names, evens, 100)
	near := func(got assert.Outcome, want analysis.Estimate) {
		t.Helper()
		for _, x := range [][2]float64{{got.Value.Estimate, want.Estimate}, {got.Value.Low, want.Low}, {got.Value.High, want.High}} {
			if !(math.Abs(x[0]-x[1]) <= 1e-7) || !got.Paired {
				t.Errorf("%s: %+v, want %v", got.Of, got, want)
			}
		}
	}
	outcomes, acc := judged(t, plan, leagues, "odd.adjusted > coin.adjusted", "odd.wins > 1")
	e := acc.Estimates(0.95)
	c, found := e.Compared(slices.Index(names, "odd"), slices.Index(names, "coin"))
	if !found {
		t.Fatal("not compared")
	}
	near(outcomes[0], c.Difference)

	scorer := attest.Must(analysis.NewScorer(plan))
	var differences []float64
	for i := range leagues {
		attest.OK(t, scorer.Score(&leagues[i]))
		a, base := scorer.Value(analysis.Points, slices.Index(names, "odd"))
		b, _ := scorer.Value(analysis.Points, slices.Index(names, "coin"))
		differences = append(differences, float64(a-b)/float64(base))
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	half := distuv.StudentsT{Sigma: 1, Nu: 99}.Quantile(0.975) * deviation / 10
	outcomes, _ = judged(t, plan, leagues, "odd.points > coin.points")
	near(outcomes[0], analysis.Estimate{Estimate: mean, Low: mean - half, High: mean + half})
}

func TestSeveralAreCorrected(t *testing.T) {
	plan, leagues := play(t, names, evens, 100)
	alone, _ := judged(t, plan, leagues, "odd.adjusted > 1.2")
	five, _ := judged(t, plan, leagues, "odd.adjusted > 1.2", "odd.rank < 5", "coin.points > 1", "odd.wins > 1",
		"coin.points > coin-2.points", "even.rank < coin.rank")
	if *alone[0].Level != 0.95 || math.Abs(*five[0].Level-0.99) > 1e-12 {
		t.Errorf("levels %v and %v, want 0.95 and 0.99: counts need no correction", *alone[0].Level, *five[0].Level)
	}
	if five[0].Value.Width() <= alone[0].Value.Width() {
		t.Error("the corrected interval is no wider")
	}
}

func TestFewLeagues(t *testing.T) {
	plan, leagues := play(t, names, evens, 1)
	for n := range 2 {
		outcomes, _ := judged(t, plan, leagues[:n], "odd.adjusted > coin.adjusted", "odd.win_rate > 0.3")
		for _, o := range outcomes {
			if o.Verdict != assert.Undecided {
				t.Errorf("after %d leagues %s %s", n, o.Text, o.Verdict)
			}
		}
	}
}
