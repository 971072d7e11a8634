package jsscript_test

import (
	"context"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies/budget"
)

// limit is the deadline where something is expected to overrun it. On a busy
// machine an honest call may do so too: those are given patient limits.
const limit = 60 * time.Millisecond

var patient = budget.Limits{Time: time.Hour}

// An interrupt must not strike anybody else, nor the next call of the seat that
// it missed: here a call ends about when its context does. This runs alone, so
// that innocent calls have a processor.
func TestInnocentCallsAfterOverruns(t *testing.T) {
	const script = `let n = 0;
function choose(turn) { n = 0; while (turn.round === 1 && n >= 0) n++; return "even" }
function observe(outcome) { for (let i = 0; i < 50; i++) n += i }`
	f := load(t, script, patient)
	beside := sit(t, f, game.Key{3, 4})
	for range 25 { // the interrupt comes at any moment of a call, or after it
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		s := sit(t, f, game.Key{})
		for err := error(nil); err == nil; {
			err = s.Observe(ctx, outcome(1))
		}
		cancel()
		if _, err := beside.Choose(t.Context(), turn(1)); err != nil {
			t.Fatalf("an innocent call: %v", err)
		}
	}
}
