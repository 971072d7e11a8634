package budget_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/strategies/budget"
)

func TestOverrunIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(100 * time.Millisecond)
		defer w.Close()
		hit := make(chan struct{})
		g := w.Guard(func() { close(hit) })
		start := time.Now()
		g.Enter(t.Context())
		<-hit
		if err := g.Leave(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Leave = %v, want DeadlineExceeded", err)
		}
		if d := time.Since(start); d < 100*time.Millisecond || d > 125*time.Millisecond {
			t.Errorf("interrupted after %v, want 100 ms and at most a quarter more", d)
		}
	})
}

func TestContextEndsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(time.Hour)
		defer w.Close()
		hit := make(chan struct{})
		g := w.Guard(func() { close(hit) })
		why := errors.New("the user pressed Ctrl-C")
		ctx, cancel := context.WithCancelCause(t.Context())
		g.Enter(ctx)
		cancel(why)
		<-hit
		if err := g.Leave(); !errors.Is(err, why) {
			t.Errorf("Leave = %v, want the context's cause", err)
		}
	})
}

// Many short calls under a tight limit: none of them overruns, so none may be
// interrupted, and after Leave no interrupt may arrive.
func TestInnocentCallsAreLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(8 * time.Millisecond)
		defer w.Close()
		var hits atomic.Int32
		g := w.Guard(func() { hits.Add(1) })
		for range 1000 {
			g.Enter(t.Context())
			time.Sleep(time.Millisecond) // the fake clock of the bubble
			if err := g.Leave(); err != nil {
				t.Fatalf("Leave = %v for a call of 1 ms", err)
			}
		}
		if n := hits.Load(); n != 0 {
			t.Errorf("%d interrupts of innocent calls", n)
		}
	})
}

func TestNextCallAfterOverrunIsClean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(50 * time.Millisecond)
		defer w.Close()
		hit := make(chan struct{}, 1)
		g := w.Guard(func() { hit <- struct{}{} })
		g.Enter(t.Context())
		<-hit
		_ = g.Leave()
		time.Sleep(time.Second)
		g.Enter(t.Context())
		if err := g.Leave(); err != nil {
			t.Errorf("the call after an overrun got %v", err)
		}
		g.Release()
		g.Release()
		if len(hit) != 0 {
			t.Error("a second interrupt arrived")
		}
	})
}

func BenchmarkEnterLeave(b *testing.B) {
	w := budget.NewWatchdog(time.Second)
	defer w.Close()
	g := w.Guard(func() {})
	ctx := b.Context()
	for b.Loop() {
		g.Enter(ctx)
		_ = g.Leave()
	}
}
