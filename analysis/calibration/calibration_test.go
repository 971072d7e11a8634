package calibration

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/results"
)

// TestTruth: what a long experiment shows agrees with what was computed, in every
// number, within five standard errors.
func TestTruth(t *testing.T) {
	f := Field{
		Legs: 3, Leagues: 4000, Draw: "weights:1=1,2=3",
		Players: []Player{{Even: 0.5, Mood: 0.3}, {Even: 0.9, Fault: 0.1}, {Even: 0.2, Fault: 0.02}, {Even: 0.6, Mood: 0.4}},
	}
	plan := f.Plan(3)
	acc := attest.Must(analysis.NewAccumulator(plan))
	attest.OK(t, f.Play(t.Context(), plan, func(l *results.League) error { return acc.Add(*l) }))
	e, truth := acc.Estimates(0.95), f.Truth()
	check := func(what string, i int, got analysis.Estimate, want float64) {
		attest.Near(t, got.Estimate, want, 5*got.Width()/2/1.96+1e-9, "%s of %d", what, i)
	}
	for i, p := range e.Players {
		check("points", i, p.Points, truth.Points[i])
		check("adjusted points", i, p.Adjusted, truth.Points[i])
		check("wins", i, p.AdjustedWinRate, truth.Wins[i])
		check("draws", i, p.DrawRate, truth.Draws[i])
		check("technical losses", i, p.TechnicalRate, truth.Technical[i])
		check("P(differ)", i, p.Differ, truth.Differ[i])
	}
	for _, p := range e.Pairs {
		check("P(differ) of a pair with", p.A, p.Differ, truth.PairDiffer[p.A][p.B])
	}
}

// long repeats simulations as often as their figures need, as make statistics does.
var long = os.Getenv("LONG_TESTS") != ""

// TestMeasure: what the estimators promise they keep, in fields of equal, unlike
// and better players and of two; the rows do not depend on the number of workers.
func TestMeasure(t *testing.T) {
	t.Parallel()
	edge := Edge(8, 10, 200, 0.10)
	edge.Found = 0.95
	repetitions := attest.Repetitions(8, 16, 500)
	for i, f := range []Field{
		Pair(0.3, 0.2, 10, 60), Pair(0.5, 0.5, 10, 50), Equal(4, 10, 120), Mixed(4, 10, 100), edge,
		Equal(5, 3, 20), Equal(12, 2, 30), Mixed(5, 4, 15), Rare(3, 200),
	} {
		opts := Options{Repetitions: repetitions, Seed: 5, Workers: 2}
		rows := attest.Must(Measure(t.Context(), f, opts))
		for _, r := range rows {
			if !r.Kept() {
				t.Errorf("%s: %+v", f.Name, r)
			}
		}
		if opts.Workers = 1; i > 0 {
			continue
		}
		again := attest.Must(Measure(t.Context(), f, opts))
		var one, two bytes.Buffer
		attest.OK(t, WriteJSON(&one, rows))
		attest.OK(t, WriteJSON(&two, again))
		if diff := cmp.Diff(one.String(), two.String()); diff != "" {
			t.Errorf("%s: one worker and two differ: %s", f.Name, diff)
		}
	}
}

// TestMeasureRare: a player that fails for a whole league is found different while it has
// not failed, and then there is a warning.
func TestMeasureRare(t *testing.T) {
	rows := attest.Must(measureRare(t.Context(), failing(3, 4, 40, 0.03), Options{Repetitions: 60, Seed: 1, Workers: 2}))
	share := map[string]float64{}
	for _, r := range rows {
		share[r.What] = float64(r.Measured)
		if !r.Kept() {
			t.Errorf("%s: %v", r.What, r.Measured)
		}
	}
	hidden := share["not failed yet"]
	if hidden < 0.1 || hidden > 0.5 || share["false difference"] < hidden/2 || share["covers"] > 1-hidden/2 {
		t.Errorf("%v", share)
	}
	if warned := share["warned"]; warned < 0.9*(1-hidden) || warned > 1-hidden {
		t.Errorf("warned in %v of experiments, and it failed in %v", warned, 1-hidden)
	}
}

// TestMeasureFindsFaults: an arena in which the players are not what they say must be
// found out, or a measurement proves nothing.
func TestMeasureFindsFaults(t *testing.T) {
	t.Parallel()
	liar := func(ctx context.Context, f Field, plan results.Plan, add func(*results.League) error) error {
		f.Players = append([]Player(nil), f.Players...)
		f.Players[0].Even = 0.8
		return f.Play(ctx, plan, add)
	}
	f := Equal(3, 10, 100)
	f.Players = []Player{{Even: 0.6}, {Even: 0.6}, {Even: 0.6}}
	rows := attest.Must(Measure(t.Context(), f, Options{Repetitions: 60, Seed: 1, Workers: 2, play: liar}))
	missed := map[string]bool{}
	for _, r := range rows {
		missed[r.What] = missed[r.What] || !r.Kept()
	}
	for _, what := range []string{"coverage: adjusted points", "coverage: P(differ) of a pair", "a false winner", "any false difference (Holm)",
		"coverage: all place ranges at once", "coverage: winner's points, corrected"} {
		if !missed[what] {
			t.Errorf("%s was kept among players that lie", what)
		}
	}
	var table bytes.Buffer
	attest.OK(t, WriteTable(&table, rows))
	if n := strings.Count(table.String(), "MISSED"); n < 6 {
		t.Errorf("%d lines are marked:\n%s", n, table.String())
	}
}

// TestNarrowing: adjusted points after 1,000 leagues say more than raw ones after
// 15,000.
func TestNarrowing(t *testing.T) {
	if !long {
		t.Skip("plays 60,000 leagues: make statistics does")
	}
	r := attest.Must(measureNarrowing(t.Context(), 3, 2, Options{Seed: 1}))
	// By theory sqrt(15/19) = 0.889.
	if !r.Kept() || math.Abs(float64(r.Measured)-0.889) > 0.03 {
		t.Errorf("%+v", r)
	}
}

func TestKept(t *testing.T) {
	nan := analysis.Number(math.NaN())
	for _, tt := range []struct {
		name string
		row  Row
		want bool
	}{
		{"inside", Row{AtLeast: 0.94, AtMost: 0.96, Measured: 0.95, Error: 0.002}, true},
		{"below, within chance", Row{AtLeast: 0.94, AtMost: nan, Measured: 0.935, Error: 0.002}, true},
		{"below", Row{AtLeast: 0.94, AtMost: nan, Measured: 0.93, Error: 0.002}, false},
		{"above", Row{AtLeast: nan, AtMost: 0.05, Measured: 0.06, Error: 0.002}, false},
		{"the lowest is off", Row{AtLeast: 0.94, AtMost: 1, Measured: 0.95, Error: 0.002, Intervals: 5, Lowest: 0.92, Highest: 0.96}, false},
		{"no promise", Row{AtLeast: nan, AtMost: nan, Measured: 0.5, Error: 0.1}, true},
		{"no share", Row{AtLeast: nan, AtMost: 1, Measured: 1.1, Error: nan}, false},
	} {
		if got := tt.row.Kept(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMeasureFails: what stops the arena stops the measurement, and is told.
func TestMeasureFails(t *testing.T) {
	broken := errors.New("broken arena")
	f := Equal(3, 1, 5)
	opts := Options{Repetitions: 10, Workers: 2}
	opts.play = func(context.Context, Field, results.Plan, func(*results.League) error) error { return broken }
	_, err := Measure(t.Context(), f, opts)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "3 equal players") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	opts.play = nil
	if _, err := Measure(ctx, f, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestRarities: all players of these fields expect the same, whatever the first does
// rarely.
func TestRarities(t *testing.T) {
	list := Suite{Players: []int{2, 3, 4, 20}, Legs: 10}.rarities()
	if len(list) != 12+17+17 {
		t.Errorf("%d fields", len(list))
	}
	for _, f := range list {
		for _, points := range f.Truth().Points {
			attest.Near(t, points, f.Truth().Points[0], 1e-12, "%s: points", f.Name)
		}
		if first := f.Players[0]; f.Rare != (first.fails()+first.Rarely > 0) || first.Rarely > first.Even || first.Even > 1 {
			t.Errorf("%s: %+v", f.Name, first)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a player that fails in half of the leagues is level with others")
		}
	}()
	failing(4, 10, 10, 0.5)
}

// judgement is an experiment with three players of whom the first is truly best, the
// others equal.
func judgement(change func(e *analysis.Estimates)) verdicts {
	t := &tally{opts: Options{Level: 0.95}, truth: Truth{Points: []float64{1.3, 1.2, 1.2}}}
	t.places, t.best = t.truth.places(), t.truth.best()
	e := analysis.Estimates{
		Order: []int{0, 1, 2},
		Players: []analysis.Player{
			{Adjusted: analysis.Estimate{Estimate: 1.33, Low: 1.31, High: 1.35}}, {}, {},
		},
		Winner: &analysis.Winner{Field: 0, Adjusted: analysis.Estimate{Estimate: 1.31, Low: 1.29, High: 1.33}},
	}
	e.Ranking.Tiers = [][]int{{0}, {1, 2}}
	e.Ranking.Places = [][2]int{{1, 1}, {2, 3}, {2, 3}}
	e.Ranking.Comparisons = []analysis.Comparison{
		{A: 0, B: 1, P: 0.001, Corrected: 0.001, Holm: 0.002, Verdict: analysis.Different},
		{A: 0, B: 2, P: 0.001, Corrected: 0.001, Holm: 0.002, Verdict: analysis.Different},
		{A: 1, B: 2, P: 0.2, Corrected: 0.6, Holm: 0.6},
	}
	change(&e)
	return t.judge(&e)
}

// TestJudge: what is right is not counted as an error, and every error is.
func TestJudge(t *testing.T) {
	right := verdicts{placesHold: true, winnerHolds: true, winnerAloneFirst: true}
	for name, tt := range map[string]struct {
		change func(e *analysis.Estimates)
		want   func(v *verdicts)
	}{
		"all is right":                  {func(*analysis.Estimates) {}, func(*verdicts) {}},
		"equal players found different": {func(e *analysis.Estimates) { e.Ranking.Comparisons[2].Verdict = analysis.Different }, func(v *verdicts) { v[falseDifference] = true }},
		"by Holm alone":                 {func(e *analysis.Estimates) { e.Ranking.Comparisons[2].Holm = 0.01 }, func(v *verdicts) { v[falseByHolm] = true }},
		"without adjustment":            {func(e *analysis.Estimates) { e.Ranking.Comparisons[2].P = 0.04 }, func(v *verdicts) { v[falseUncorrected] = true }},
		"the wrong direction": {func(e *analysis.Estimates) { c := &e.Ranking.Comparisons[0]; c.A, c.B = c.B, c.A }, func(v *verdicts) {
			v[falseDifference], v[falseByHolm], v[falseUncorrected] = true, true, true
		}},
		"equal in every league": {func(e *analysis.Estimates) {
			e.Ranking.Comparisons[2] = analysis.Comparison{A: 1, B: 2, Verdict: analysis.Equal}
		}, func(*verdicts) {}},
		"a false winner":         {func(e *analysis.Estimates) { e.Ranking.Tiers = [][]int{{1}, {0, 2}} }, func(v *verdicts) { v[falseWinner], v[winnerAloneFirst] = true, false }},
		"not alone":              {func(e *analysis.Estimates) { e.Ranking.Tiers = [][]int{{0, 1}, {2}} }, func(v *verdicts) { v[winnerAloneFirst] = false }},
		"a place range too near": {func(e *analysis.Estimates) { e.Ranking.Places[2] = [2]int{3, 3} }, func(v *verdicts) { v[placesHold] = false }},
		"the winner misses":      {func(e *analysis.Estimates) { e.Winner.Adjusted.Low = 1.305 }, func(v *verdicts) { v[winnerHolds] = false }},
		"the naive one holds":    {func(e *analysis.Estimates) { e.Players[0].Adjusted.Low = 1.29 }, func(v *verdicts) { v[winnerNaive] = true }},
		"no winner":              {func(e *analysis.Estimates) { e.Winner = nil }, func(v *verdicts) { v[winnerHolds] = false }},
	} {
		want := right
		tt.want(&want)
		if got := judgement(tt.change); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestCoverage: the share of intervals that hold the truth, its extremes and the mean
// width, for a known truth and for one that the repetitions tell.
func TestCoverage(t *testing.T) {
	estimates := func(lows ...float64) *analysis.Estimates {
		e := &analysis.Estimates{}
		for _, low := range lows {
			e.Players = append(e.Players, analysis.Player{Points: analysis.Estimate{Estimate: low + 0.1, Low: low, High: low + 0.2}})
		}
		return e
	}
	of := players(func(p *analysis.Player) analysis.Estimate { return p.Points })
	known := newCoverage(quantity{"points", true, of, func(t *Truth) []float64 { return t.Points }}, &Truth{Points: []float64{1, 2}}, 4)
	told := newCoverage(quantity{"points", true, of, nil}, nil, 4)
	for rep, e := range []*analysis.Estimates{estimates(0.9, 1.9), estimates(0.95, 1.5), estimates(0.85, 1.5), estimates(0.9, 1.9)} {
		known.add(rep, e)
		told.add(rep, e)
	}
	opts := Options{Repetitions: 4, Level: 0.95}
	r := known.row(Field{}, opts)
	if r.Measured != 0.75 || r.Lowest != 0.5 || r.Highest != 1 || math.Abs(float64(r.Width)-0.2) > 1e-9 || r.Intervals != 2 || r.AtMost != 0.96 {
		t.Errorf("known truth: %+v", r)
	}
	// The mean estimates are 1 and 1.8: the second player's intervals hold it never.
	if r := told.row(Field{Rare: true}, opts); r.Measured != 0.5 || r.Lowest != 0 || r.AtMost != 1 {
		t.Errorf("told truth: %+v", r)
	}
}

// TestTable holds the table, with every kind of row, to a reference.
func TestTable(t *testing.T) {
	f := Equal(3, 10, 100)
	tl := &tally{field: f, opts: Options{Repetitions: 400, Level: 0.95}}
	coverage := newRow(f, "coverage: points", tl.opts)
	coverage.Nominal, coverage.AtLeast, coverage.AtMost = 0.95, 0.94, 0.96
	coverage.Measured, coverage.Lowest, coverage.Highest, coverage.Intervals, coverage.Width = 0.951, 0.9475, 0.955, 3, 0.04567
	other := tl.value("bias of winner's points", 0.00123)
	other.Field = "4 unlike players"
	rows := []Row{
		coverage, tl.event("a false winner", 12, atMost, 0.05), tl.event("the best alone in tier 1", 100, atLeast, 0.95),
		tl.event("uncorrected", 100, noPromise, 0), other,
	}
	var buf bytes.Buffer
	attest.OK(t, WriteTable(&buf, rows))
	want := `3 equal players, 10 legs, 100 leagues, 400 repetitions
                          promised    measured  ± MC error  lowest to highest        mean width
coverage: points          95 %        95.10 %   1.09        94.75 % to 95.50 % of 3  0.04567
a false winner            <= 5 %      3.00 %    1.09
the best alone in tier 1  >= 95 %     25.00 %   1.09                                             MISSED
uncorrected                           25.00 %   2.17

4 unlike players, 10 legs, 100 leagues, 400 repetitions
                         promised  measured  ± MC error  lowest to highest  mean width
bias of winner's points            0.00123
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(buf.String())); diff != "" {
		t.Errorf("%s\n%s", diff, buf.String())
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersReportTheirDisk(t *testing.T) {
	rows := []Row{{What: "x"}}
	for name, err := range map[string]error{
		"table": WriteTable(full{}, rows), "JSON": WriteJSON(full{}, rows),
	} {
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write calibration: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
