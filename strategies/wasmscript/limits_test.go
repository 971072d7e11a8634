package wasmscript_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// shout is a handler of logs that tells when something is printed.
type shout struct {
	slog.Handler
	heard chan struct{}
}

func (s shout) Enabled(context.Context, slog.Level) bool { return true }

func (s shout) Handle(context.Context, slog.Record) error { close(s.heard); return nil }

// TestCollectsDuringACall collects garbage while a call runs that ends only afterwards.
func TestCollectsDuringACall(t *testing.T) {
	for kind, config := range map[string]wasmscript.Config{"compiled": {}, "interpreted": wasmscript.Interpreted(wasmscript.Config{})} {
		config.Limits = budget.Limits{Time: 1 << 60, Instructions: 1 << 60}
		m := Module{Pages: 1, Imports: []Import{From("lab", "log", "ii", "")}, Funcs: []Func{
			{Name: "choose", Results: "d", Code: Code(I32(0), I32(1), Call(0), forever, F64(1))},
		}}
		s := setup()
		running := make(chan struct{})
		s.Log = slog.New(shout{slog.DiscardHandler, running})
		seat := sit(t, loadWith(t, m, config), s)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := seat.Choose(ctx, &strategies.Turn{})
			done <- err
		}()
		<-running
		runtime.GC()
		cancel()
		if err := <-done; !errors.Is(err, strategies.ErrTimeout) {
			t.Errorf("%s: choose fails with %v, want a timeout", kind, err)
		}
	}
}

// TestSlicesAddUp has a call use most of many slices, and another all of them: the limit
// and the count are the same as in one piece.
func TestSlicesAddUp(t *testing.T) {
	// each round costs 10 instructions: choose(rounds = 10,000 times the standing's points)
	m := Module{Pages: 1, Funcs: []Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "i", Code: Code(
		Get(7), I32(10_000), I32Mul, Set(8),
		Loop(0), Get(8), I32(1), I32Sub, Tee(8), I32(0), I32GtS, BrIf(0), End, F64(1),
	)}}}
	for kind, config := range map[string]wasmscript.Config{"compiled": {}, "interpreted": wasmscript.Interpreted(wasmscript.Config{})} {
		config.Limits = budget.Limits{Time: 1 << 60, Instructions: 100_000} // a million of a module
		seat := sit(t, loadWith(t, m, config), setup())
		for _, call := range []struct {
			points   int
			fails    error
			together int64
		}{{12, nil, 96_000}, {13, strategies.ErrBudget, 196_000}} {
			turn := strategies.Turn{Standing: strategies.Standing{Points: call.points}}
			_, err := seat.Choose(t.Context(), &turn)
			if got := used(seat); !errors.Is(err, call.fails) || got < call.together || got > call.together+10 {
				t.Errorf("%s: %v after %d instructions, want %v after %d and some", kind, err, got, call.fails, call.together)
			}
		}
	}
}
