package words

import (
	"math"
	"strings"
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

func TestHeadline(t *testing.T) {
	t.Parallel()
	two := shown(100, []int{0, 1})
	two.Players = two.Players[:2]
	two.Pairs = []analysis.Pair{{B: 1, Differ: analysis.Estimate{Estimate: 0.61, Low: 0.6, High: 0.62}}}
	for name, tt := range map[string]struct {
		e                    *analysis.Estimates
		headline, confidence string
	}{
		"one is best": {compared(shown(100, []int{0}, []int{1, 2, 3}), func(i, _ int) bool { return i == 0 }), "anna scores most against these opponents.",
			"It expects 1.3000 adjusted points per match (95 % interval 1.2900 to 1.3100) and significantly beats all 3 others, adjusted for all comparisons"},
		"one alone": {compared(shown(100, []int{0}, []int{1, 2, 3}), func(i, j int) bool { return i+1 < j || i == 1 }), "anna scores most against these opponents.",
			"and significantly beats 2 of 3 others, adjusted"},
		"two lead":    {shown(100, []int{0, 1}, []int{2, 3}), "anna and bert lead together.", "No strategy significantly beats any of these 2, and there is no evidence that one of them is best. Each of the other 2 is"},
		"all equal":   {shown(100, []int{0, 1, 2, 3}), "These leagues do not tell the strategies apart.", "At 95 % confidence no strategy significantly beats another."},
		"one league":  {shown(1, []int{0, 1, 2, 3}), "Too few leagues to compare strategies.", "One league says nothing about the next."},
		"no league":   {shown(0), "Too few leagues to compare strategies.", "One league says nothing about the next."},
		"two players": {two, "Two players and a fair draw: there is nothing to rank.", "Their choices differ in 61.0 % of matches (95 % interval 60.0 to 62.0)."},
	} {
		if got := Headline(tt.e); got != tt.headline {
			t.Errorf("%s: %q, want %q", name, got, tt.headline)
		}
		if got := Plain.Confidence(tt.e); !strings.Contains(got, tt.confidence) {
			t.Errorf("%s: %q, want %q", name, got, tt.confidence)
		}
	}
}

// TestCorrectedWinner: the number of a winner is the one that allows for its selection.
func TestCorrectedWinner(t *testing.T) {
	t.Parallel()
	e := shown(100, []int{0}, []int{1, 2, 3})
	e.Winner = &analysis.Winner{Field: 0, Adjusted: analysis.Estimate{Estimate: 1.2912, Low: 1.28, High: 1.31}}
	if got := Plain.Confidence(e); !strings.Contains(got, "1.2912 adjusted points per match (95 % interval 1.2800 to 1.3100, corrected for selection)") {
		t.Errorf("%s", got)
	}
	e.Winner.Field = 2 // of somebody else
	if got := Plain.Confidence(e); strings.Contains(got, "selection") {
		t.Errorf("%s", got)
	}
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

// TestNeighbours counts verdicts along the order, of which comparisons have all pairs.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	e := shown(100, []int{0, 1, 2, 3})
	verdict := map[[2]int]analysis.Verdict{{0, 1}: analysis.Different, {1, 2}: analysis.Equal, {2, 3}: analysis.Undecided}
	for i := range 4 {
		for j := i + 1; j < 4; j++ {
			v, neighbours := verdict[[2]int{i, j}]
			if !neighbours {
				v = analysis.Different // must not be counted
			}
			e.Ranking.Comparisons = append(e.Ranking.Comparisons, analysis.Comparison{A: i, B: j, Verdict: v})
		}
	}
	if got, want := Plain.Neighbours(e), "Significant differences between neighbours: 1 of 3 (>), equal 1 (=), no evidence for 1 (~)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for k := range e.Ranking.Comparisons {
		e.Ranking.Comparisons[k].Verdict = analysis.Different
	}
	if got, want := Plain.Neighbours(e), "Significant differences between neighbours: 3 of 3 (>)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNarrower(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]string{
		25:  "adjusted intervals are 5.0 times narrower than raw ones (variance ratio 25.0)",
		0.5: "adjusted intervals are not narrower than raw ones here (variance ratio 0.50)",
	} {
		if got := Plain.Narrower(&analysis.Estimates{VarianceRatio: ratio}); got != want {
			t.Errorf("ratio %v: %q, want %q", ratio, got, want)
		}
	}
	if got := Plain.Narrower(&analysis.Estimates{VarianceRatio: math.NaN()}); got != "adjusted points do not vary from league to league" {
		t.Errorf("without a ratio: %q", got)
	}
}
