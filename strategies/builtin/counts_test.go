package builtin_test

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

func TestFrequencyPlaysAgainstTheMajority(t *testing.T) {
	past := versus(t, "frequency", cycle("eooe"), 2000, 1) // a surplus of 0, 1, 0, -1, ...
	surplus, ties, even := 0, 0, 0
	for i, m := range past {
		switch {
		case surplus > 0 && m.own != game.Odd, surplus < 0 && m.own != game.Even:
			t.Fatalf("match %d: plays %v after a surplus of %d evens", i, m.own, surplus)
		case surplus == 0:
			ties++
			if m.own == game.Even {
				even++
			}
		}
		if m.theirs == game.Even {
			surplus++
		} else {
			surplus--
		}
	}
	wantShare(t, "even in a tie", even, ties, 0.5)
}

// Alternation has even frequencies: at every second match the majority is
// what has just been played, and the other is due.
func TestFrequencyNeverLearnsAlternation(t *testing.T) {
	for i, m := range versus(t, "frequency", cycle("eo"), 200, 1) {
		if i%2 == 1 && m.differ() {
			t.Errorf("differs in match %d", i)
		}
	}
}

// In a pattern of period p <= k+1 the last k choices tell the next, and all of
// them have been seen by match k+p.
func TestMarkovLearnsEveryPatternUpToItsOrder(t *testing.T) {
	for order := 1; order <= 3; order++ {
		for period := 1; period <= order+1; period++ {
			for _, pattern := range patterns(period) {
				name := fmt.Sprintf("markov-%d", order)
				past := versus(t, name, cycle(pattern), 60, 1)
				wantDifferFrom(t, name+" against "+pattern, past, order+period)
			}
		}
	}
}

// A pattern longer than that may hold a context that is followed by both.
func TestMarkovNeedsItsOrder(t *testing.T) {
	for name, pattern := range map[string]string{"markov-1": "eeoo", "markov-2": "eeeooo", "markov-3": "eeeeoooo"} {
		past := versus(t, name, cycle(pattern), 400, 1)[200:]
		if n := count(past, match.differ); n == len(past) {
			t.Errorf("%s learns %s", name, pattern)
		}
	}
}

// Until its context has been seen, a Markov predictor goes by a shorter one.
func TestMarkovFallsBackToShorterContexts(t *testing.T) {
	for _, name := range []string{"markov-1", "markov-2", "markov-3", "joint-markov-2", "frequency", "ctw", "longest-match"} {
		wantDifferFrom(t, name+" against always even", versus(t, name, cycle("e"), 50, 1), 1)
		wantDifferFrom(t, name+" against always odd", versus(t, name, cycle("o"), 50, 1), 1)
	}
}

// reactions are opponents who react to the last match only.
func reactions() map[string]opponent {
	react := func(f func(m match) game.Parity) opponent {
		return func(past []match) game.Parity {
			if len(past) == 0 {
				return game.Even
			}
			return f(past[len(past)-1])
		}
	}
	return map[string]opponent{
		"copies":   react(func(m match) game.Parity { return m.own }),
		"opposes":  react(func(m match) game.Parity { return m.own.Opposite() }),
		"stays":    react(func(m match) game.Parity { return m.theirs }),
		"changes":  react(func(m match) game.Parity { return m.theirs.Opposite() }),
		"contrary": react(func(m match) game.Parity { return [2]game.Parity{m.theirs, m.own}[b2i(m.differ())] }),
		"perverse": react(func(m match) game.Parity { // gives up what differs and keeps what does not
			if m.differ() {
				return m.theirs.Opposite()
			}
			return m.theirs
		}),
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An opponent that reacts to the last two matches alone is deterministic given the
// joint context, so each of the 16 contexts misleads at most once, and besides
// the first two matches nothing else does.
func TestJointMarkovLearnsReactions(t *testing.T) {
	const most = 16 + 2
	check := func(what string, o opponent) {
		for seed := range uint64(10) {
			past := versus(t, "joint-markov-2", o, 300, seed)
			if n := len(past) - count(past, match.differ); n > most {
				t.Errorf("joint-markov-2 against %s: %d equal choices, want at most %d", what, n, most)
			}
		}
	}
	for what, o := range reactions() {
		check("one who "+what, o)
	}
	for period := 1; period <= 3; period++ {
		for _, pattern := range patterns(period) {
			check(pattern, cycle(pattern))
		}
	}
}
