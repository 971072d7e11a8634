package builtin

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

// The machine trusts a habit once it has shown twice running, and no longer
// once it is broken. The opponent always wins here, so there are two situations:
// where no comment says otherwise the opponent stayed last.
func TestMindNeedsAHabitTwice(t *testing.T) {
	t.Parallel()
	var m mind
	meet := func(opponent, predicted game.Parity) {
		t.Helper()
		if got := m.predict(); got != predicted {
			t.Fatalf("predicts %v, want %v", got, predicted)
		}
		m.add(opponent, true)
	}
	meet(game.Even, game.NoParity)
	meet(game.Even, game.NoParity)
	meet(game.Even, game.NoParity) // stayed once
	meet(game.Even, game.NoParity) // stayed twice
	meet(game.Even, game.Even)
	meet(game.Odd, game.Even)      // changed, which breaks the habit
	meet(game.Odd, game.NoParity)  // after won, changed, won: stayed once
	meet(game.Even, game.NoParity) // changed twice
	meet(game.Even, game.NoParity) // after won, changed, won: stayed twice
	meet(game.Odd, game.Odd)       // changed again
	meet(game.Odd, game.Odd)
	meet(game.Odd, game.Even)
	meet(game.Odd, game.NoParity) // the new habit is broken
}

// The eight situations each have a memory of their own.
func TestMindKnowsEightSituations(t *testing.T) {
	t.Parallel()
	seen := map[uint8]bool{}
	for n := range 8 {
		var m mind
		m.add(game.Even, n>>2 == 1)
		theirs := game.Even + game.Parity(n>>1&1)
		m.add(theirs, n&1 == 1)
		seen[m.situation] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d situations, want 8", len(seen))
	}
}
