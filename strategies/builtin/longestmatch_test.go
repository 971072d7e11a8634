package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

func TestLongestMatchBeatsCycles(t *testing.T) {
	check := func(pattern string) {
		past := versus(t, "longest-match", cycle(pattern), 300, 1)
		wantDifferFrom(t, "longest-match against "+pattern, past, 200)
	}
	for period := 1; period <= 6; period++ {
		for _, pattern := range patterns(period) {
			check(pattern)
		}
	}
	rnd := game.NewRand(game.Key{5, 6})
	for range 200 {
		pattern := make([]byte, 7+rnd.IntN(14))
		for i := range pattern {
			pattern[i] = "eo"[rnd.IntN(2)]
		}
		check(string(pattern))
	}
}

func TestLongestMatchLearnsReactions(t *testing.T) {
	for what, o := range reactions() {
		past := versus(t, "longest-match", o, 300, 1)
		wantDifferFrom(t, "longest-match against one who "+what, past, 200)
	}
}

// An opponent that changes its behaviour is learnt again: old scores fade.
func TestLongestMatchForgets(t *testing.T) {
	turncoat := func(past []match) game.Parity {
		return cycle([]string{"eeo", "oooe", "e", "eo"}[len(past)/250%4])(past)
	}
	past := versus(t, "longest-match", turncoat, 1000, 1)
	for phase := range 4 {
		end := past[phase*250 : (phase+1)*250][150:]
		wantDifferFrom(t, "longest-match late in a phase", end, 0)
	}
}

// Copies of one predictor that start alike mirror each other; the coin that
// longest-match falls back on parts them.
func TestLongestMatchFindsItsCopy(t *testing.T) {
	const seeds = 100
	settled := 0
	for seed := range uint64(seeds) {
		past := each(t, "longest-match", "longest-match", game.FairDraw(), 200, seed)
		if count(past[150:], match.differ) == 50 {
			settled++
		}
	}
	if settled < 95 {
		t.Errorf("%d of %d pairs settled into differing, want at least 95", settled, seeds)
	}
}
