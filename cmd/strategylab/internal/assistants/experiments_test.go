package assistants

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
)

// shown is what an experiment of four players has shown, in tiers.
func shown(tiers ...[]int) *analysis.Estimates {
	est := &analysis.Estimates{Level: 0.95, Leagues: 100, Fair: true, Order: []int{2, 0, 1, 3}}
	for i, name := range []string{"anna", "ben", "carl", "dora"} {
		score := 1.25 + 0.01*float64(i%3)
		est.Players = append(est.Players, analysis.Player{Name: name, Matches: 300, Adjusted: analysis.Estimate{Estimate: score, Low: score - 0.005, High: score + 0.005}})
	}
	est.Ranking.Tiers = tiers
	for k, i := range est.Order { // carl is ahead of everybody outside the first tier
		for _, j := range est.Order[k+1:] {
			c := analysis.Comparison{A: i, B: j, Verdict: analysis.Undecided}
			if k == 0 && !slices.Contains(tiers[0], j) {
				c.Verdict = analysis.Different
			}
			est.Ranking.Comparisons = append(est.Ranking.Comparisons, c)
		}
	}
	est.Ranking.Places = [][2]int{{1, 2}, {3, 4}, {1, 1}, {3, 4}}
	return est
}

func TestSummary(t *testing.T) {
	t.Parallel()
	complete := Outcome{Stopped: "complete", Requested: 100}
	failing := shown([]int{2}, []int{0, 1, 3})
	failing.Players[3].TechnicalLosses = 7
	failing.Players[3].Faults = []analysis.Fault{{Kind: game.FaultError, Count: 7, Where: "dora.lua:3: choose: no"}}
	one := shown([]int{0, 1, 2, 3})
	one.Leagues = 1
	for _, test := range []struct {
		est     *analysis.Estimates
		outcome Outcome
		want    string
	}{
		{shown([]int{2}, []int{0, 1, 3}), complete, "In 100 leagues of 4 players: carl scores most against these opponents: 1.270 points a match (95 % interval 1.265 to 1.275), ahead of all 3 others."},
		{shown([]int{2, 0}, []int{1, 3}), complete, "In 100 leagues of 4 players: carl scores most against these opponents: 1.270 points a match (95 % interval 1.265 to 1.275), ahead of 2 of 3 others, with no evidence of a difference from anna."},
		{one, complete, "In 1 league of 4 players: Too few leagues to compare strategies."},
		{shown([]int{0, 1, 2, 3}), complete, "In 100 leagues of 4 players: These leagues do not tell the strategies apart: 1.270 to 1.250 points a match, and no difference is significant; more leagues may show one."},
		{shown([]int{2}, []int{0, 1, 3}), Outcome{Stopped: "time", Requested: 500}, "Stopped (time) after 100 of 500 leagues: carl scores most against these opponents: 1.270 points a match (95 % interval 1.265 to 1.275), ahead of all 3 others."},
		{failing, complete, "dora lost 7 of 300 matches by failing, first at dora.lua:3: choose: no. In 100 leagues of 4 players: carl scores most against these opponents: 1.270 points a match (95 % interval 1.265 to 1.275), ahead of all 3 others."},
	} {
		if got := summary(answered(test.est), test.outcome); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func answered(est *analysis.Estimates) *report.Document {
	d := &report.Document{Run: report.Run{Estimates: *est}}
	d.Answer = d.Sentences(words.Plain)
	return d
}
