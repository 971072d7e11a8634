package analysis_test

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
)

// edge is a field of equal players and, before them, one that differs from each
// of them with a chance that is higher by e than their chance among themselves.
// The equal ones throw fair coins but for a lean to even; whoever says odd more
// often differs from those.
func edge(t *testing.T, players, legs int, e float64) *world {
	t.Helper()
	// Among players that say even with chance h they differ with 2h(1-h); one
	// that always says odd differs from them with h.
	h := 0.5
	for h-2*h*(1-h) < e {
		h += 1e-4
	}
	bots := make([]bot, players)
	for i := range bots {
		bots[i].even = h
	}
	bots[0].even = 0
	if e == 0 {
		bots[0].even = h
	}
	return newWorld(t, "", legs, bots...)
}

// TestNoFalseWinner plays fields of equal players: one is put above another in at
// most 5 % of experiments, whatever the size of the field. Naive practice, which
// calls the first different from the last if their intervals do not overlap,
// goes wrong far more often. One false alarm in 1,000 for all fields together.
func TestNoFalseWinner(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 11,000 leagues and ranks 150 times")
	}
	t.Parallel()
	repetitions := repeated(150)
	limit := 0
	for b := (distuv.Binomial{N: float64(repetitions), P: 0.05}); b.CDF(float64(limit)) < 1-1e-3/3; {
		limit++
	}
	total := 0
	for players, leagues := range map[int]int{3: 100, 5: 20, 8: 100} {
		w := edge(t, players, 3, 0)
		wrong := 0
		for rep := range repetitions {
			r := analyse(t, w.plan, w.leagues(uint64(rep), leagues)).Ranking(0.95)
			if len(r.Tiers) > 1 {
				wrong++
			}
		}
		t.Logf("%d players, %d leagues: told apart in %d of %d experiments (limit %d)", players, leagues, wrong, repetitions, limit)
		if wrong > limit {
			t.Errorf("%d equal players: told apart in %d of %d experiments, want at most %d", players, wrong, repetitions, limit)
		}
		total += wrong
	}
	if total == 0 {
		t.Errorf("not one false alarm in %d experiments: the test is blind", 3*repetitions)
	}
}

// TestWinnerIsFound: one player with an edge of 0.10 in P(differ) against seven
// equal ones, 10 legs, 200 leagues, is alone in the first tier in at least 95 %
// of experiments, and no equal player is put above another more often than in 5 %.
func TestWinnerIsFound(t *testing.T) {
	t.Parallel()
	const repetitions = 40
	w := edge(t, 8, 10, 0.10)
	found, spurious := 0, 0
	for rep := range repetitions {
		r := analyse(t, w.plan, w.leagues(uint64(rep), 200)).Ranking(0.95)
		if slices.Equal(r.Tiers[0], []int{0}) && r.Places[0] == [2]int{1, 1} {
			found++
		}
		if len(r.Tiers) > 2 {
			spurious++
		}
	}
	if found < repetitions-5 { // Binomial(40, 0.95) is below 35 once in 300
		t.Errorf("found in %d of %d", found, repetitions)
	}
	if spurious > 8 { // Binomial(40, 0.05) exceeds 8 less than once in 10,000
		t.Errorf("equal players told apart in %d of %d", spurious, repetitions)
	}
}

// TestPlacesHold: with true places known, all players' ranges of places hold
// together in at least 95 % of experiments. Players 1 and 2 are truly level.
func TestPlacesHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 4, bot{even: 0.1}, bot{even: 0.45}, bot{even: 0.45}, bot{even: 0.9}, bot{even: 0.7})
	// Adjusted points grow with 1 + p/2; by the mean of P(differ) the true order is:
	truth := trueOrder(w)
	const repetitions = 150
	for _, leagues := range []int{15, 100} { // Holm's correction, the step-down procedure
		held := 0
		for rep := range repetitions {
			r := analyse(t, w.plan, w.leagues(uint64(rep), leagues)).Ranking(0.95)
			ok := true
			for i, p := range r.Places {
				// A player level with others has all of the places they share.
				ok = ok && p[0] <= truth[i][0] && p[1] >= truth[i][1]
			}
			if ok {
				held++
			}
		}
		t.Logf("%d leagues: all places hold in %d of %d experiments", leagues, held, repetitions)
		if held < 132 { // Binomial(150, 0.95) is below 132 once in 2,000
			t.Errorf("%d leagues: all places hold in %d of %d experiments", leagues, held, repetitions)
		}
	}
}

// trueOrder returns the best and the worst place by the mean true P(differ).
func trueOrder(w *world) [][2]int {
	mean := make([]float64, len(w.bots))
	for i, a := range w.bots {
		for j, b := range w.bots {
			if i != j {
				mean[i] += a.even*(1-b.even) + b.even*(1-a.even)
			}
		}
	}
	places := make([][2]int, len(mean))
	for i := range places {
		places[i] = [2]int{1, len(mean)}
		for j := range mean {
			switch d := mean[i] - mean[j]; {
			case d > 1e-9:
				places[i][1]--
			case d < -1e-9:
				places[i][0]++
			}
		}
	}
	return places
}

// TestRankingCases goes through fields in which the answer is known.
func TestRankingCases(t *testing.T) {
	t.Parallel()
	even, odd, coin := bot{even: 1}, bot{even: 0}, bot{even: 0.5}
	for _, tt := range []struct {
		name    string
		w       *world
		leagues int
		tiers   string
		places  string
	}{
		{"no league", newWorld(t, "", 2, even, odd, coin), 0, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"one league", newWorld(t, "", 2, even, odd, coin), 1, "[[0 1 2]]", "[[1 3] [1 3] [1 3]]"},
		{"two players", newWorld(t, "", 9, odd, coin), 100, "[[0 1]]", "[[1 2] [1 2]]"},
		{"two players, biased draw", newWorld(t, "weights:1=1,2=9", 9, odd, coin), 100, "[[1] [0]]", "[[2 2] [1 1]]"},
		// Nothing varies at all, and yet the order is known.
		{"constant", newWorld(t, "", 2, even, even, even, odd), 100, "[[3] [0 1 2]]", "[[2 4] [2 4] [2 4] [1 1]]"},
		{"constant, few leagues", newWorld(t, "", 2, even, even, even, odd), 3, "[[3 0 1 2]]", "[[1 4] [1 4] [1 4] [1 4]]"},
		// Two that are the same and one that only differs from one of them.
		{"three tiers", newWorld(t, "", 10, even, even, even, coin, odd), 200, "[[4] [3] [0 1 2]]", "[[3 5] [3 5] [3 5] [2 2] [1 1]]"},
	} {
		r := analyse(t, tt.w.plan, tt.w.leagues(1, tt.leagues)).Ranking(0.95)
		if got := fmt.Sprint(r.Tiers); got != tt.tiers {
			t.Errorf("%s: tiers %v, want %v", tt.name, got, tt.tiers)
		}
		if got := fmt.Sprint(r.Places); got != tt.places {
			t.Errorf("%s: places %v, want %v", tt.name, got, tt.places)
		}
	}
}

// TestStepDownAgainstHolm: the corrected p-values of the two methods are
// computed in different ways, one by simulation, and must tell one story. No
// correction goes below the single comparison, and none of the step-down's goes
// beyond Bonferroni's for both directions of all pairs.
func TestStepDownAgainstHolm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 5, bot{even: 0.5}, bot{even: 0.55}, bot{even: 0.6, mood: 0.2}, bot{even: 0.35}, bot{even: 0.5, mood: 0.4}, bot{even: 0.8})
	acc := analyse(t, w.plan, w.leagues(8, 120))
	holm, step := acc.Compare(analysis.AdjustedPoints, 0.95), acc.Ranking(0.95).Comparisons
	agree := 0
	for k := range holm {
		h, s := holm[k], step[k]
		if h.A != s.A || h.B != s.B || h.P != s.P || h.Difference != s.Difference {
			t.Fatalf("comparisons are not of the same players: %+v, %+v", h, s)
		}
		if s.Corrected < s.P/2 || s.Corrected > min(1, float64(len(step))*s.P)+0.02 {
			t.Errorf("%d over %d: p = %v, step-down %v", s.A, s.B, s.P, s.Corrected)
		}
		if h.Verdict == s.Verdict {
			agree++
		}
	}
	if agree < len(holm)-2 {
		t.Errorf("the methods agree on %d of %d pairs", agree, len(holm))
	}
	again := acc.Ranking(0.95)
	if fmt.Sprint(again.Comparisons) != fmt.Sprint(step) {
		t.Error("a second ranking of the same leagues differs")
	}
}
