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
		w := budget.NewWatchdog(100*time.Millisecond, nil)
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
		w := budget.NewWatchdog(time.Hour, nil)
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
		w := budget.NewWatchdog(8*time.Millisecond, nil)
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
		w := budget.NewWatchdog(50*time.Millisecond, nil)
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
	w := budget.NewWatchdog(time.Second, nil)
	defer w.Close()
	g := w.Guard(func() {})
	ctx := b.Context()
	for b.Loop() {
		g.Enter(ctx)
		_ = g.Leave()
	}
}

// A call that no interrupt reaches is reported with its own context, once; the
// watchdog goes on watching the others, though the interrupt itself hangs.
func TestLostCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		lost := make(chan any, 10)
		w := budget.NewWatchdog(100*time.Millisecond, func(ctx context.Context) { lost <- ctx.Value(key{}) })
		defer w.Close()
		wake, hit := make(chan struct{}), make(chan struct{}, 1)
		deaf := w.Guard(func() { <-wake })
		other := w.Guard(func() { hit <- struct{}{} })
		start := time.Now()
		deaf.Enter(context.WithValue(t.Context(), key{}, "the deaf one"))
		other.Enter(t.Context())
		<-hit
		if err := other.Leave(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call beside it got %v", err)
		}
		if who := <-lost; who != "the deaf one" {
			t.Errorf("the call of %v is lost", who)
		}
		if d := time.Since(start); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("it was given up after %v, want a little over 2 s", d)
		}
		time.Sleep(time.Minute)
		if len(lost) > 0 {
			t.Error("a call was lost twice")
		}
		close(wake)
		if err := deaf.Leave(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("when it woke up at last it got %v", err)
		}
	})
}

// Who overruns again and again gets less and less time to do so in.
func TestOverrunsHalveTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(800*time.Millisecond, nil)
		defer w.Close()
		hit := make(chan struct{})
		g := w.Guard(func() { hit <- struct{}{} })
		for i, want := range []time.Duration{800, 400, 200, 100, 50, 50, 50} {
			want *= time.Millisecond
			start := time.Now()
			g.Enter(t.Context())
			<-hit
			_ = g.Leave()
			if d := time.Since(start); d < want || d > want+20*time.Millisecond {
				t.Errorf("call %d was stopped after %v, want %v", i, d, want)
			}
		}
	})
}
