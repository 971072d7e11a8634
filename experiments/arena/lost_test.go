package arena_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// tapped is a Batcher that a test can watch and spoil.
type tapped struct {
	strategies.Batcher
	spoil func(step int, s *strategies.Step) error // instead of the result of the step, counted from 0
	open  func() error                             // before a batch is made

	mu      sync.Mutex
	batches int
	closed  int
	steps   []int // choices asked for in each
}

func (b *tapped) NewBatch(ctx context.Context) (strategies.Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open != nil {
		if err := b.open(); err != nil {
			return nil, err
		}
	}
	b.batches++
	inner, err := b.Batcher.NewBatch(ctx)
	return &tappedBatch{Batch: inner, b: b}, err
}

type tappedBatch struct {
	strategies.Batch
	b *tapped
}

func (t *tappedBatch) Step(ctx context.Context, s *strategies.Step) error {
	t.b.mu.Lock()
	step := len(t.b.steps)
	t.b.steps = append(t.b.steps, len(s.Choose))
	t.b.mu.Unlock()
	if err := t.Batch.Step(ctx, s); err != nil || t.b.spoil == nil {
		return err
	}
	return t.b.spoil(step, s)
}

func (t *tappedBatch) Close() error {
	t.b.mu.Lock()
	t.b.closed++
	t.b.mu.Unlock()
	return t.Batch.Close()
}

// TestOneStepARound counts the exchanges of four blocks of five leagues in which
// one strategy has two of four seats.
func TestOneStepARound(t *testing.T) {
	t.Parallel()
	b := &tapped{Batcher: batch.Of(&script{})}
	a := newArena(t, planOf(4, 2, 20), arena.Config{Block: 5}, b, &script{}, b, &script{})
	playInBlocks(t, a, 4, 20)
	// Four calls of Play; 6 rounds, and one step to close.
	if len(b.steps) != 4*7 {
		t.Errorf("%d steps, want %d", len(b.steps), 4*7)
	}
	asked := 0
	for _, n := range b.steps {
		if n != 0 && n != 10 {
			t.Errorf("a step asks for %d choices, want 10", n)
		}
		asked += n
	}
	if want := 20 * 6 * 2; asked != want {
		t.Errorf("%d choices asked for, want %d", asked, want)
	}
	if b.batches != 1 || b.closed != 1 {
		t.Errorf("%d batches made and %d closed, want one for the worker", b.batches, b.closed)
	}
}

// TestLostBatches spoils one step of a league in which one strategy has two of
// four seats. Both seats forfeit from that round on, everybody else plays on,
// and the next leagues have a fresh batch.
func TestLostBatches(t *testing.T) {
	t.Parallel()
	stray := func(f func(s *strategies.Step) strategies.SeatError) func(*strategies.Step) error {
		return func(s *strategies.Step) error {
			s.Failed = append(s.Failed, f(s))
			return nil
		}
	}
	for name, tc := range map[string]struct {
		spoil func(s *strategies.Step) error
		fault game.Fault
		note  string
	}{
		"process dies": {func(*strategies.Step) error { return fmt.Errorf("plugin: %w", strategies.ErrCrashed) },
			game.FaultCrash, "plugin: process exited"},
		"process hangs": {func(*strategies.Step) error { return context.DeadlineExceeded },
			game.FaultTimeout, "deadline exceeded"},
		"something else": {func(*strategies.Step) error { return errBoom }, game.FaultError, "boom"},
		"panics":         {func(*strategies.Step) error { panic("ouch") }, game.FaultError, "panic: ouch"},
		"too few choices": {func(s *strategies.Step) error { s.Choices = s.Choices[:1]; return nil },
			game.FaultError, "returned 1 choices, want 2"},
		"failure of a stranger": {stray(func(*strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: 999, Op: strategies.OpObserve, Err: errBoom}
		}), game.FaultError, "unknown seat 999"},
		"failure of nothing": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: strategies.OpObserve}
		}), game.FaultError, "with a nil error"},
		"failure of no operation": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: "dance", Err: errBoom}
		}), game.FaultError, `unknown operation "dance"`},
		"failure of a choice not asked for": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: strategies.OpChoose, Index: 1, Err: errBoom}
		}), game.FaultError, "that was not requested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLost(t, tc.spoil, tc.fault, tc.note)
		})
	}
}

// checkLost spoils the step that asks for the third round of league 0.
func checkLost(t *testing.T, spoil func(*strategies.Step) error, f game.Fault, note string) {
	t.Helper()
	const strike = 2
	inner, calm := &script{}, &script{}
	b := &tapped{Batcher: batch.Of(inner), spoil: func(step int, s *strategies.Step) error {
		if step == strike {
			return spoil(s)
		}
		return nil
	}}
	plan := planOf(4, 2, 8)
	w, err := newArena(t, plan, arena.Config{}, b, b, calm, calm).NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := make([]results.League, 1)
	if err := w.Play(t.Context(), 0, first, make([]bool, 4)); err != nil {
		t.Fatal(err)
	}
	wantLost(t, plan, first[0], strike, f, note)
	rest := make([]results.League, 7)
	if err := w.Play(t.Context(), 1, rest, make([]bool, 4)); err != nil {
		t.Fatal(err)
	}
	for _, l := range rest {
		for field := range 4 {
			if sides := sidesOf(plan, l, field); !slices.Equal(sides, slices.Repeat([]game.Side{{Choice: game.Even}}, 6)) {
				t.Errorf("league %d: player %d: %v, but the batch is a fresh one", l.Index, field, sides)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b.batches != 2 || b.closed != 2 || calm.open != 0 || inner.open != 0 {
		t.Errorf("%d batches made, %d closed, %d and %d seats open; want 2, 2, 0, 0",
			b.batches, b.closed, calm.open, inner.open)
	}
}

// wantLost checks a league in which players 0 and 1 were lost in a round,
// counted from 0.
func wantLost(t *testing.T, plan results.Plan, l results.League, round int, f game.Fault, note string) {
	t.Helper()
	for field := range 4 {
		for i, side := range sidesOf(plan, l, field) {
			want := game.Side{Choice: game.Even}
			switch {
			case field > 1 || i < round:
			case i == round:
				want = game.Side{Fault: f}
			default:
				want = game.Side{Fault: game.FaultForfeit}
			}
			if side != want {
				t.Errorf("player %d, round %d: %v, want %v", field, i+1, side, want)
			}
		}
	}
	if len(l.Notes) != 2 {
		t.Fatalf("notes %+v, want two", l.Notes)
	}
	for _, n := range l.Notes {
		if n.Field > 1 || n.Fault != f || !strings.Contains(n.Text, note) {
			t.Errorf("note %+v, want one on %v that says %q", n, f, note)
		}
	}
}

func TestBatchThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() error{
		"error": func() error { return errBoom },
		"panic": func() error { panic("boom") },
	} {
		b := &tapped{Batcher: batch.Of(&script{}), open: open}
		plan := planOf(4, 2, 1)
		l := play(t, newArena(t, plan, arena.Config{}, b, b, &script{}, &script{}), 4, 1)[0]
		wantLost(t, plan, l, 0, game.FaultError, "start: ")
		if b.batches != 0 || b.closed != 0 {
			t.Errorf("%s: %d batches made and %d closed, want none", name, b.batches, b.closed)
		}
	}
	nothing := noBatch{&script{}}
	plan := planOf(4, 2, 1)
	l := play(t, newArena(t, plan, arena.Config{}, nothing, nothing, &script{}, &script{}), 4, 1)[0]
	wantLost(t, plan, l, 0, game.FaultError, "factory returned neither a batch nor an error")
}

// noBatch makes no batches and says nothing.
type noBatch struct{ *script }

func (noBatch) NewBatch(context.Context) (strategies.Batch, error) { return nil, nil }
