package experiments_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// sometimes faults now and then, in all kinds, without ever earning quarantine.
func sometimes(league, field int) game.Fault {
	if league%64 == 9 && field == 2 {
		return game.FaultTimeout // a second one before the next checkpoint is one too many
	}
	switch (league*7 + field*3) % 23 {
	case 1:
		return game.FaultError
	case 2:
		return game.FaultInvalid
	case 3:
		return game.FaultBudget
	}
	return game.NoFault
}

func TestResultDoesNotDependOnScheduling(t *testing.T) {
	t.Parallel()
	plan := planOf(5, 2, 500)
	want, outcome := run(t, &stub{plan: plan, fault: sometimes}, experiments.Config{Workers: 1})
	if outcome.Leagues != 500 || outcome.Matches != 500*20 || outcome.Reproducible || outcome.Stopped {
		t.Errorf("outcome %+v", outcome)
	}
	for i, l := range want.leagues {
		if l.Index != i {
			t.Fatalf("league %d was recorded as number %d", l.Index, i)
		}
	}
	for _, workers := range []int{0, 1, 2, 7, 600} {
		for _, block := range []int{1, 5, 64, 100, 1000} {
			driver := &stub{plan: plan, fault: sometimes, block: block}
			got, out := run(t, driver, experiments.Config{Workers: workers})
			wantLeagues(t, want, got)
			wantOutcome(t, outcome, out)
			if driver.played != 500 {
				t.Errorf("%d leagues were played, want none twice", driver.played)
			}
			if got.flushed != 500 {
				t.Errorf("the last flush was after %d leagues", got.flushed)
			}
		}
	}
	other := plan
	other.Seed++
	if _, out := run(t, &stub{plan: other, fault: sometimes}, experiments.Config{}); out.Digest == outcome.Digest {
		t.Error("another seed has the same digest")
	}
}

func TestReproducible(t *testing.T) {
	t.Parallel()
	plan := planOf(3, 1, 10)
	for fault, want := range map[game.Fault]bool{
		game.NoFault: true, game.FaultError: true, game.FaultInvalid: true, game.FaultBudget: true,
		game.FaultTimeout: false, game.FaultCrash: false, game.FaultNoAnswer: false,
	} {
		_, out := run(t, &stub{plan: plan, fault: func(league, field int) game.Fault {
			if league == 3 && field == 1 {
				return fault
			}
			return game.NoFault
		}}, experiments.Config{})
		if out.Reproducible != want {
			t.Errorf("with fault %v: reproducible %v, want %v", fault, out.Reproducible, want)
		}
	}
}

// TestInterruptAndResume cancels runs at random leagues, over and over, and
// resumes them from what was recorded.
func TestInterruptAndResume(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 300)
	want, outcome := run(t, &stub{plan: plan, fault: loops(1, 70)}, experiments.Config{Workers: 2})
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 20 {
		var got collector
		cause := fmt.Errorf("interruption of trial %d", trial)
		for interruptions := 0; ; interruptions++ {
			prefix, err := experiments.Resume(plan, got.all, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			var left atomic.Int64
			left.Store(rng.Int64N(150))
			driver := &stub{plan: plan, fault: loops(1, 70), block: 1 + rng.IntN(40), before: func(ctx context.Context, _ int) error {
				if left.Add(-1) == 0 {
					cancel(cause)
				}
				return ctx.Err()
			}}
			out, err := experiments.Run(ctx, plan, driver, &got, experiments.Config{Workers: 1 + rng.IntN(4), After: prefix})
			if out.Leagues != len(got.leagues) || got.flushed != len(got.leagues) {
				t.Fatalf("outcome of %d leagues, %d flushed, %d recorded", out.Leagues, got.flushed, len(got.leagues))
			}
			if err == nil {
				wantOutcome(t, outcome, out)
				break
			}
			if !errors.Is(err, cause) {
				t.Fatalf("error %v, want the cause", err)
			}
			if interruptions > 200 {
				t.Fatal("the run does not get on")
			}
		}
		wantLeagues(t, want, &got)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	short, long := planOf(4, 1, 100), planOf(4, 1, 300)
	want, outcome := run(t, &stub{plan: long, fault: sometimes}, experiments.Config{})
	got, _ := run(t, &stub{plan: short, fault: sometimes}, experiments.Config{})
	var again collector
	prefix, err := experiments.Resume(long, got.all, &again)
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), long, &stub{plan: long, fault: sometimes}, &again, experiments.Config{After: prefix})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, outcome, out)
	wantLeagues(t, want, &again)

	// Nothing is left to play, and too much was played.
	idle := &stub{plan: long}
	out, err = experiments.Run(t.Context(), long, idle, &again, experiments.Config{After: prefix})
	if err != nil || idle.played != 0 {
		t.Errorf("a finished run: %d leagues played, error %v", idle.played, err)
	}
	wantOutcome(t, outcome, out)
	if _, err = experiments.Run(t.Context(), short, idle, &again, experiments.Config{After: prefix}); err == nil {
		t.Error("more leagues than the plan has were accepted")
	}
	if _, err = experiments.Resume(planOf(3, 1, 300), got.all, nil); err == nil {
		t.Error("leagues of another field were accepted")
	}
	broken := errors.New("disk on fire")
	if _, err := experiments.Resume(long, func(yield func(*results.League, error) bool) { yield(nil, broken) }, nil); !errors.Is(err, broken) {
		t.Errorf("unreadable leagues: %v", err)
	}
	if _, err := experiments.Resume(long, got.all, &collector{fail: func(int) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("a sink that fails: %v", err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 300)
	broken := errors.New("broken")
	at := func(n int) func(context.Context, int) error {
		return func(_ context.Context, league int) error {
			if league == n {
				return broken
			}
			return nil
		}
	}
	for name, tc := range map[string]struct {
		driver *stub
		sink   *collector
		says   string
		most   int // leagues recorded
	}{
		"a league":      {&stub{plan: plan, before: at(90)}, &collector{}, "play league", 90},
		"a worker":      {&stub{plan: plan, open: func() error { return broken }}, &collector{}, "start worker", 0},
		"closing":       {&stub{plan: plan, release: broken}, &collector{}, "stop worker", 300},
		"the sink":      {&stub{plan: plan}, &collector{fail: func(i int) error { return at(50)(nil, i) }}, "record league 50", 50},
		"the first one": {&stub{plan: plan, before: at(0)}, &collector{}, "play league 0", 0},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
				out, err := experiments.Run(t.Context(), plan, tc.driver, tc.sink, experiments.Config{Workers: workers})
				if !errors.Is(err, broken) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %v, want one that says %q", err, tc.says)
				}
				n := len(tc.sink.leagues)
				if n > tc.most || out.Leagues != n {
					t.Errorf("%d leagues recorded, outcome %+v, want at most %d", n, out, tc.most)
				}
				if workers == 1 && n != tc.most {
					t.Errorf("%d leagues recorded, want all %d that were complete", n, tc.most)
				}
				if tc.driver.workers != 0 {
					t.Errorf("%d workers were not closed", tc.driver.workers)
				}
				tc.sink.leagues = nil
			})
		}
	}
	if _, err := experiments.Run(t.Context(), planOf(1, 1, 1), &stub{}, &collector{}, experiments.Config{}); err == nil {
		t.Error("a field of one was accepted")
	}
}

// TestStop: a run ends at the league that Stop chose, whatever the workers, with looks at
// checkpoints or after every league.
func TestStop(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 500)
	want, _ := run(t, &stub{plan: plan}, experiments.Config{})
	for _, tc := range []struct{ every, end int }{{0, 192}, {1, 1}, {1, 63}, {1, 97}} {
		for _, workers := range []int{1, 3, 8} {
			var got collector
			asked := 0
			opts := experiments.Config{Workers: workers, Every: tc.every, Stop: func(leagues int) bool {
				if asked += max(1, 64*(1-tc.every)); len(got.leagues) != leagues || leagues != min(asked, tc.end) {
					t.Errorf("asked about %d leagues with %d in the sink, want %d", leagues, len(got.leagues), asked)
				}
				return leagues == tc.end
			}}
			out, err := experiments.Run(t.Context(), plan, &stub{plan: plan}, &got, opts)
			if err != nil || !out.Stopped || out.Leagues != tc.end || asked != tc.end {
				t.Errorf("outcome %+v after a look at %d, error %v, want a stop after %d leagues", out, asked, err, tc.end)
			}
			wantLeagues(t, &collector{leagues: want.leagues[:tc.end]}, &got)

			// Resumed, it asks at once: it may have been killed before it could.
			if opts.After, err = experiments.Resume(plan, got.all, nil); err != nil {
				t.Fatal(err)
			}
			idle := &stub{plan: plan}
			if out, err = experiments.Run(t.Context(), plan, idle, &got, opts); err != nil || !out.Stopped || idle.played != 0 {
				t.Errorf("resumed: outcome %+v, %d leagues played, error %v, want none", out, idle.played, err)
			}
		}
	}
}

// TestLookAheadIsBounded holds league 0 back until everybody else has nothing
// more to do.
func TestLookAheadIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const workers, runs = 3, 100_000
		plan := planOf(2, 1, runs)
		hold := make(chan struct{})
		driver := &stub{plan: plan, before: func(_ context.Context, league int) error {
			if league == 0 {
				<-hold
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got collector
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err = experiments.Run(ctx, plan, driver, &got, experiments.Config{Workers: workers})
		}()
		synctest.Wait()
		driver.mu.Lock()
		ahead := driver.played
		driver.mu.Unlock()
		if most := 4 * workers * experiments.Checkpoint; ahead > most || ahead == 0 {
			t.Errorf("%d leagues were played ahead, want some and at most %d", ahead, most)
		}
		cancel()
		close(hold)
		<-done
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if len(got.leagues) == 0 || len(got.leagues) > runs/2 {
			t.Errorf("%d leagues recorded, want those that were complete", len(got.leagues))
		}
	})
}

func TestTee(t *testing.T) {
	t.Parallel()
	var a, b collector
	broken := errors.New("broken")
	plain := plainSink{}
	both := experiments.Tee(&a, &plain, &b)
	l := &results.League{}
	if err := errors.Join(both.Append(l), both.Flush()); err != nil || a.flushed != 1 || b.flushed != 1 || plain.n != 1 {
		t.Errorf("flushed %d and %d, plain sink %d, error %v", a.flushed, b.flushed, plain.n, err)
	}
	a.fail = func(int) error { return broken }
	if err := both.Append(l); !errors.Is(err, broken) || len(b.leagues) != 1 {
		t.Errorf("error %v, and %d leagues in the sink behind the broken one", err, len(b.leagues))
	}
}

// plainSink knows no Flush.
type plainSink struct{ n int }

func (p *plainSink) Append(*results.League) error { p.n++; return nil }
