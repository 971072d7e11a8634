package luascript_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// TestClock stops a script that is within its instructions.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"while true do end",
		"while true do pcall(function() while true do end end) end",
		"local t = {} t[2^14] = 1 t[2^14] = nil while true do local n = #t end", // where every # looks at all of it
		"local t = {} for i = 1, 1000 do t[i] = i end while true do table.sort(t) end",
	} {
		s, limit := sitWithin(t, "function choose()\n"+body+"\nend")
		_, err := s.Choose(t.Context(), turn(0))
		want := fmt.Sprintf("scripts/mine.lua:2: choose: exceeded its time limit: more than %v in one call", limit)
		if !errors.Is(err, strategies.ErrTimeout) || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
		_ = s.Close()
	}
}

// sitWithin makes a seat whose calls have a time limit, which it returns: 100 ms, or
// more where this machine needs more to load the script.
func sitWithin(t *testing.T, source string) (strategies.Strategy, time.Duration) {
	t.Helper()
	for limit := 100 * time.Millisecond; ; limit *= 2 {
		f, err := compile(t, source, luascript.Config{Limits: budget.Limits{Time: limit, Instructions: 1 << 40}})
		if err == nil {
			var s strategies.Strategy
			if s, err = f.New(t.Context(), setup()); err == nil {
				return s, limit
			}
		}
		if !errors.Is(err, strategies.ErrTimeout) {
			t.Fatal(err)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	f := mustCompile(t, "function start() end function choose() while true do end end function observe() end")
	why := errors.New("the user pressed Ctrl-C")
	done, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := f.New(done, setup()); !errors.Is(err, strategies.ErrTimeout) || !errors.Is(err, why) {
		t.Errorf("New with a context that is done: %v, want ErrTimeout and its cause", err)
	}
	limits := budget.Limits{Time: time.Minute, Instructions: 1 << 40}
	f, err := compile(t, "function choose() while true do end end", luascript.Config{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSit(t, f)
	defer s.Close()
	soon, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := s.Choose(soon, turn(0)); !errors.Is(err, strategies.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Choose with a deadline: %v, want ErrTimeout and DeadlineExceeded", err)
	}
}
