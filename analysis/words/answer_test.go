package words

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
)

// compared gives a shown experiment the verdicts that go with its tiers, and pairs in
// which everybody scores least against dora, and dora against carl.
func compared(e *analysis.Estimates, different func(i, j int) bool) *analysis.Estimates {
	for i := range e.Players {
		behind, ahead := 0, 0
		for j := range e.Players {
			ahead += count(i < j && different(i, j))
			behind += count(j < i && different(j, i))
			if i >= j {
				continue
			}
			c := analysis.Comparison{A: i, B: j}
			if different(i, j) {
				c.Verdict = analysis.Different
			}
			e.Ranking.Comparisons = append(e.Ranking.Comparisons, c)
			differ := 0.9 - float64(i+j)/10 // most alike are those with a high index
			e.Pairs = append(e.Pairs, analysis.Pair{A: i, B: j, Differ: analysis.Estimate{Estimate: differ, Low: differ - 0.01, High: differ + 0.01}})
		}
		e.Ranking.Places[i] = [2]int{1 + behind, len(e.Players) - ahead}
	}
	return e
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	clear := compared(shown(100, []int{0}, []int{1, 2}, []int{3}), func(i, j int) bool { return i == 0 || j == 3 })
	level := compared(shown(100, []int{0, 1, 2, 3}), func(int, int) bool { return false })
	pair := compared(shown(100, []int{0, 1}, []int{2, 3}), func(i, j int) bool { return i < 2 && j > 1 })
	copies, same := *pair, *clear
	copies.Copies, same.Copies = []int{0, 0, 2, 3}, []int{0, 0, 0, 0}
	two := shown(100, []int{0, 1})
	two.Players = two.Players[:2]
	two.Pairs = []analysis.Pair{{B: 1, Differ: analysis.Estimate{Estimate: 0.61, Low: 0.6, High: 0.62}}}
	const first = "anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), ahead of all 3 others."
	for name, tt := range map[string]struct {
		e     *analysis.Estimates
		yours []int
		want  []string
	}{
		"nobody's":  {clear, nil, []string{first}},
		"yours":     {clear, []int{2}, []string{first, "Yours, carl, is 3rd (2nd to 3rd): level with 1 other; it scores least against dora."}},
		"the first": {clear, []int{0}, []string{first, "Yours, anna, is 1st: ahead of all 3 others; it scores least against dora."}},
		"the last":  {clear, []int{3}, []string{first, "Yours, dora, is 4th: behind all 3 others; it scores least against carl."}},
		"by place": {clear, []int{3, 1}, []string{first, "Yours, bert, is 2nd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"Yours, dora, is 4th: behind all 3 others; it scores least against carl."}},
		"all": {clear, []int{0, 1, 2, 3}, []string{first, "Yours, anna, is 1st: ahead of all 3 others; it scores least against dora.",
			"Yours, bert, is 2nd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"Yours, carl, is 3rd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"The table marks 1 other strategy of yours."}},
		"together": {pair, nil, []string{"anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), " +
			"ahead of 2 of 3 others, with no evidence of a difference from bert."}},
		"copies": {&copies, nil, []string{"anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), " +
			"ahead of both others; only chance separates it from bert, the same strategy."}},
		"all the same": {&same, nil, []string{"All are one strategy, so there is nothing to rank."}},
		"level": {level, []int{1}, []string{"These leagues do not tell the strategies apart: 1.30 to 1.24 points a match, and no difference is significant; " +
			"more leagues may show one.", "Yours, bert, is 2nd (1st to 4th): level with 3 others; it scores least against dora."}},
		"one league": {shown(1, []int{0, 1, 2, 3}), []int{0}, []string{"Too few leagues to compare strategies."}},
		"two":        {two, []int{0}, []string{"Two players and a fair draw: there is nothing to rank. Their choices differ in 61.0 % of matches (95 % interval 60.0 to 62.0)."}},
	} {
		if diff := cmp.Diff(tt.want, Plain.Answer(tt.e, nil, tt.yours)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOrdinal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 113: "113th"} {
		if got := Ordinal(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := brief(analysis.Estimate{Estimate: math.NaN()}); got < 2 {
		t.Errorf("nothing known: %d decimals", got)
	}
}
