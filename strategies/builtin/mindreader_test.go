package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

// creature is an opponent who stays or changes by Shannon's eight situations:
// the bits of its rule say in which it changes.
func creature(rule int) opponent {
	return func(past []match) game.Parity {
		n := len(past)
		if n < 2 {
			return game.Even
		}
		before, last := past[n-2], past[n-1]
		situation := b2i(before.differ())<<2 | b2i(before.theirs != last.theirs)<<1 | b2i(last.differ())
		if rule>>situation&1 == 1 {
			return last.theirs.Opposite()
		}
		return last.theirs
	}
}

// Each situation misleads at most twice before its habit is known.
func TestMindReaderReadsEveryMindOfItsKind(t *testing.T) {
	const most = 2*8 + 2
	for rule := range 256 {
		past := versus(t, "mind-reader", creature(rule), 200, uint64(rule))
		if n := len(past) - count(past, match.differ); n > most {
			t.Errorf("rule %08b: %d equal choices, want at most %d", rule, n, most)
		}
	}
}
