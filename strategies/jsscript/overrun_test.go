package jsscript_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// limit is the deadline where something is expected to overrun it. On a busy
// machine an honest call may do so too: those are given patient limits.
const limit = 60 * time.Millisecond

var patient = budget.Limits{Time: time.Hour}

// An overrun ends the seat: the script is not called again.
func TestOverrunEndsTheSeat(t *testing.T) {
	t.Parallel()
	for _, overrun := range []string{"for (;;);", "again()"} {
		s := sit(t, load(t, "let n = 0; const again = () => again();\n"+body("if (n++ === 1) { "+overrun+" }\nreturn 'even'"), patient), game.Key{})
		if _, err := s.Choose(t.Context(), turn(0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, first := s.Choose(ctx, turn(1))
		cancel()
		_, second := s.Choose(t.Context(), turn(2))
		if first == nil || second != first || s.Observe(t.Context(), outcome(2)) != first {
			t.Errorf("%s: %v, and then %v", overrun, first, second)
		}
	}
}

// innocent lets seats overrun the limit, and another one play after each of
// them. It returns what goes wrong with that one.
func innocent(t *testing.T, script string, limit time.Duration) error {
	t.Helper()
	f := load(t, script, budget.Limits{Time: limit})
	beside, err := f.New(t.Context(), setup(game.Key{3, 4}))
	if err != nil {
		return err
	}
	defer beside.Close()
	for range 20 {
		s, err := f.New(t.Context(), setup(game.Key{1, 2}))
		if err != nil {
			return err
		}
		_, err = s.Choose(t.Context(), turn(0))
		want(t, err, strategies.OpChoose, game.FaultTimeout, source+":2", fmt.Sprintf("more than %v in one call", limit))
		_ = s.Close()
		for n := 1; n < 1000; n++ {
			if c, err := beside.Choose(t.Context(), turn(n)); err != nil || c != strategies.Even {
				return fmt.Errorf("an innocent call with a limit of %v: %v, %v", limit, c, err)
			}
		}
	}
	return nil
}

// An interrupt must not strike anybody else, nor the next call of the seat that
// it missed: here a call ends about when its context does. This runs alone, so
// that innocent calls have a processor.
func TestInnocentCallsAfterOverruns(t *testing.T) {
	const script = `let n = 0;
function choose(turn) { n = 0; while (turn.round === 1 && n >= 0) n++; return "even" }
function observe(outcome) { for (let i = 0; i < 50; i++) n += i }`
	// On a machine that is too slow for the innocent calls the limit grows.
	var err error
	for limit := 30 * time.Millisecond; limit < 2*time.Second; limit *= 8 {
		if err = innocent(t, script, limit); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
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
