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
		turn := strategies.Turn{}
		turn.Points = 12
		if _, err := seat.Choose(t.Context(), &turn); err != nil {
			t.Errorf("%s: a call of nearly all instructions fails with %v", kind, err)
		}
		if got, want := used(seat), int64(96_000); got < want || got > want+10 {
			t.Errorf("%s: it used %d instructions, want %d and some", kind, got, want)
		}
		turn.Points = 13
		if _, err := seat.Choose(t.Context(), &turn); !errors.Is(err, strategies.ErrBudget) {
			t.Errorf("%s: a call of too many instructions fails with %v, want the budget", kind, err)
		}
		if got, want := used(seat), int64(196_000); got < want || got > want+10 {
			t.Errorf("%s: both used %d instructions, want %d and some", kind, got, want)
		}
	}
}
