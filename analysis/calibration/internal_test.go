package calibration

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
)

// TestTruthByHand: two players that say even with chances a and b differ with chance
// a(1-b)+(1-a)b; the rest follows from the rules.
func TestTruthByHand(t *testing.T) {
	t.Parallel()
	truth := Field{Players: []Player{{Even: 0.3}, {Even: 0.6}}}.Truth()
	differ := 0.3*0.4 + 0.7*0.6
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"P(differ)", truth.Differ[0], differ}, {"pair", truth.PairDiffer[1][0], differ},
		{"wins", truth.Wins[0], differ / 2}, {"ties", truth.Draws[1], 1 - differ}, {"points", truth.Points[1], 1 + differ/2},
	} {
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	// Even numbers come three times in four: who says even wins that often.
	biased := Field{Draw: "weights:1=1,2=3", Players: []Player{{Even: 1}, {Even: 0}, {Even: 0, Fault: 1}}}.Truth()
	if got, want := biased.Wins[0], (0.75+1)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("wins of the favourite %v, want %v", got, want)
	}
	if got := biased.Points[2]; got != 0 || biased.Technical[2] != 1 {
		t.Errorf("one that always fails has %v points and %v technical losses", got, biased.Technical[2])
	}
	defer func() {
		if recover() == nil {
			t.Error("an invalid draw has a truth")
		}
	}()
	Field{Draw: "none"}.Truth()
}

// TestRarities: all players of these fields expect the same, whatever the first does
// rarely.
func TestRarities(t *testing.T) {
	t.Parallel()
	list := Suite{Players: []int{2, 3, 4, 20}, Legs: 10}.rarities()
	if len(list) != 12+17+17 {
		t.Errorf("%d fields", len(list))
	}
	for _, f := range list {
		for _, points := range f.Truth().Points {
			if math.Abs(points-f.Truth().Points[0]) > 1e-12 {
				t.Errorf("%s: %v", f.Name, f.Truth().Points)
			}
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	if err := WriteTable(&buf, rows); err != nil {
		t.Fatal(err)
	}
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
	trim := func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		}
		return strings.Join(lines, "\n")
	}
	if diff := cmp.Diff(trim(want), trim(buf.String())); diff != "" {
		t.Errorf("%s\n%s", diff, buf.String())
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersReportTheirDisk(t *testing.T) {
	t.Parallel()
	rows := []Row{{What: "x"}}
	for name, err := range map[string]error{
		"table": WriteTable(full{}, rows), "JSON": WriteJSON(full{}, rows),
	} {
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write calibration: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
