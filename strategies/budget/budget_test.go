package budget_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// late is how late a watchdog may notice that the time of a call is up.
func late(limit time.Duration) time.Duration {
	if runtime.GOMAXPROCS(0) == 1 {
		return min(limit/2, 40*time.Millisecond)
	}
	return min(limit/4, 20*time.Millisecond)
}

func TestContextEndsCall(t *testing.T) {
	t.Parallel()
	bubble(t, time.Hour, func(ctx context.Context, g *budget.Guard, hit chan struct{}) {
		why := errors.New("the user pressed Ctrl-C")
		ctx, cancel := context.WithCancelCause(ctx)
		g.Enter(ctx)
		cancel(why)
		<-hit
		if err := g.Leave(); !errors.Is(err, why) {
			t.Errorf("Leave = %v, want the context's cause", err)
		}
	})
}

// bubble runs a test with a fake clock, and a seat whose calls have a limit: an interrupt sends
// to hit.
func bubble(t *testing.T, limit time.Duration, test func(ctx context.Context, g *budget.Guard, hit chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		w := budget.NewWatchdog(budget.Limits{Time: limit})
		defer w.Close()
		hit := make(chan struct{}, 10)
		g := w.Guard(func() { hit <- struct{}{} }, 0)
		test(t.Context(), g, hit)
		g.Release()
		g.Release()
	})
}

// Many short calls under a tight limit: none of them overruns, so none may be interrupted, and
// after Leave no interrupt may arrive.
func TestInnocentCallsAreLeftAlone(t *testing.T) {
	t.Parallel()
	bubble(t, 8*time.Millisecond, func(ctx context.Context, g *budget.Guard, hit chan struct{}) {
		for range 1000 {
			g.Enter(ctx)
			time.Sleep(time.Millisecond) // the fake clock of the bubble
			if err := g.Leave(); err != nil || len(hit) > 0 {
				t.Fatalf("Leave = %v for a call of 1 ms, %d interrupts", err, len(hit))
			}
		}
	})
}

func BenchmarkEnterLeave(b *testing.B) {
	w := budget.NewWatchdog(budget.Limits{Time: time.Second})
	defer w.Close()
	g := w.Guard(func() {}, 0)
	ctx := b.Context()
	for b.Loop() {
		g.Enter(ctx)
		_ = g.Leave()
	}
}

// A call that no interrupt reaches is reported once; the watchdog goes on watching the
// others, though the interrupt itself hangs.
func TestStuckCall(t *testing.T) {
	t.Parallel()
	for limit, grace := range map[time.Duration]time.Duration{time.Second: budget.Grace, 150 * time.Millisecond: 150 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) { reportsStuck(t, limit, grace) })
	}
}

func reportsStuck(t *testing.T, limit, grace time.Duration) {
	stuck := make(chan struct{}, 10)
	w := budget.NewWatchdog(budget.Limits{Time: limit, Stuck: stuck})
	defer w.Close()
	wake, hit := make(chan struct{}), make(chan struct{}, 1)
	deaf := w.Guard(func() { <-wake }, 0)
	other := w.Guard(func() { hit <- struct{}{} }, 0)
	start := time.Now()
	deaf.Enter(t.Context())
	other.Enter(t.Context())
	<-hit
	if err := other.Leave(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call beside it got %v", err)
	}
	<-stuck
	if d, want := time.Since(start), limit+grace; d < want || d > want+100*time.Millisecond {
		t.Errorf("it was reported after %v, want a little over %v", d, want)
	}
	time.Sleep(time.Minute)
	if len(stuck) > 0 {
		t.Error("a call was reported twice")
	}
	close(wake)
	if err := deaf.Leave(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("when it woke up at last it got %v", err)
	}
}

// Who overruns again and again gets less and less time to do so in. The next call is clean.
func TestOverrunsHalveTheTime(t *testing.T) {
	t.Parallel()
	bubble(t, 800*time.Millisecond, func(ctx context.Context, g *budget.Guard, hit chan struct{}) {
		for i, want := range []time.Duration{800, 400, 200, 100, 50, 50, 50} {
			want *= time.Millisecond
			start := time.Now()
			g.Enter(ctx)
			<-hit
			err := g.Leave()
			// The ticks are those of the whole limit: what is left may be no multiple of them.
			if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d < want || d > want+late(800*time.Millisecond)*3/2 {
				t.Errorf("call %d was stopped after %v by %v, want %v", i, d, err, want)
			}
			time.Sleep(time.Second)
			g.Enter(ctx)
			if err := g.Leave(); err != nil || len(hit) > 0 {
				t.Errorf("the call after an overrun got %v, and %d interrupts", err, len(hit))
			}
		}
	})
}

// Who thinks for a millisecond about every choice (10 in the first version) stays within its share in
// any field, with time to spare; who uses what a call may use exceeds it, and is stopped before a
// league takes long.
func TestTotalIsForHonestStrategies(t *testing.T) {
	t.Parallel()
	for i, matches := range []int{1, 2, 8, 38, 190, 989, 1, 2, 8, 38, 190, 989} {
		version, thinks, uses, least := 1, 10*time.Millisecond, 1_000_000, 2*budget.DefaultTime
		if i >= 6 {
			version, thinks, uses, least = 2, time.Millisecond, 40_000, budget.DefaultTime*5/4
		}
		total := budget.Limits{}.Total(version, matches)
		n := time.Duration(matches)
		if s := total.Share(n*thinks, 0); s.Over() || s.Share > 850 {
			t.Errorf("%d matches of %v cost a share of %d", matches, thinks, s.Share)
		}
		if s := total.Share(n*100*time.Millisecond, 0); !s.Over() || s.Exact {
			t.Errorf("%d matches of 100 ms cost %+v", matches, s)
		}
		if s := total.Counted().Share(0, int64(matches)*budget.DefaultInstructions); !s.Over() || !s.Exact {
			t.Errorf("%d matches with all instructions of a call cost %+v", matches, s)
		}
		if s := total.Counted().Share(n*thinks, int64(matches*uses)); s.Over() {
			t.Errorf("%d matches of %d instructions cost %+v", matches, uses, s)
		}
		most, instructions := total.Most()
		if s := total.Share(most, 0); most < least || s.Share < 3900 {
			t.Errorf("%d matches may take %v in one league, a share of %d", matches, most, s.Share)
		}
		if s := total.Share(0, instructions); instructions < 2*budget.DefaultInstructions && s.Share > 4100 || s.Share < 3900 {
			t.Errorf("%d matches may take %d instructions in one league, a share of %d", matches, instructions, s.Share)
		}
	}
	if s := (budget.Limits{}).Total(0, 10).Share(time.Hour, 1<<60); s != (strategies.Spent{}) {
		t.Errorf("without a bound an hour costs %+v", s)
	}
}

// The watchdog adds up what the calls of a seat take, and interrupts the one with which
// they take too much, though none exceeds its own limit. It charges nobody else.
func TestTotalIsEnforced(t *testing.T) {
	t.Parallel()
	const most = 50 * time.Millisecond
	w := budget.NewWatchdog(budget.Limits{Time: time.Hour})
	defer w.Close()
	hit, idle := make(chan struct{}), w.Guard(func() {}, most)
	defer idle.Release()
	g := w.Guard(func() { close(hit) }, most)
	defer g.Release()
	for {
		g.Enter(t.Context())
		for n := 0; n < 1_000_000; n++ {
			if n%1000 == 0 {
				select {
				case <-hit:
					n = 1_000_000
				default:
				}
			}
		}
		err := g.Leave()
		if err == nil {
			continue
		}
		if !errors.Is(err, budget.ErrTotal) {
			t.Errorf("Leave = %v, want ErrTotal", err)
		}
		break
	}
	if g.Spent() <= most || w.Busy() < g.Spent() || idle.Spent() != 0 {
		t.Errorf("the calls took %v of %v, the idle seat %v", g.Spent(), w.Busy(), idle.Spent())
	}
}
