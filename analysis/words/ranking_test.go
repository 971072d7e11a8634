package words

import (
	"testing"

	"github.com/strategylab/strategylab/analysis"
)

// shown is what 100 leagues of four players have shown, with these tiers. The players
// stand in the order of the field.
func shown(leagues int, tiers ...[]int) *analysis.Estimates {
	e := &analysis.Estimates{Leagues: leagues, Level: 0.95, Fair: true, VarianceRatio: 25}
	e.Ranking.Level, e.Ranking.Tiers = 0.95, tiers
	for i, name := range []string{"anna", "bert", "carl", "dora"} {
		mean := 1.3 - float64(i)/50
		e.Order = append(e.Order, i)
		e.Players = append(e.Players, analysis.Player{Field: i, Name: name, Adjusted: analysis.Estimate{Estimate: mean, Low: mean - 0.01, High: mean + 0.01}})
		e.Ranking.Places = append(e.Ranking.Places, [2]int{1, 4})
	}
	return e
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	e := shown(100, []int{0, 1, 2, 3})
	for _, tt := range []struct {
		verdict    analysis.Verdict
		difference float64
		words      string
		mark       string
	}{
		{analysis.Different, 0.1, "bert is better", ">"},
		{analysis.Different, -0.1, "carl is better", ">"},
		{analysis.Equal, 0, "both scored the same in every league", "="},
		{analysis.Undecided, 0.1, "no evidence that these differ", "~"},
	} {
		c := analysis.Comparison{A: 1, B: 2, Verdict: tt.verdict, Difference: analysis.Estimate{Estimate: tt.difference}}
		if got := Verdict(e, c); got != tt.words {
			t.Errorf("%v by %v: %q, want %q", tt.verdict, tt.difference, got, tt.words)
		}
		if got := Verdict(e, c.Reversed()); got != tt.words {
			t.Errorf("%v by %v reversed: %q, want %q", tt.verdict, tt.difference, got, tt.words)
		}
		if got := Mark(tt.verdict); got != tt.mark {
			t.Errorf("%v: mark %q, want %q", tt.verdict, got, tt.mark)
		}
	}
}
