package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
)

// faulty is a driver that fails or changes records.
type faulty struct {
	experiments.Driver
	play func(first int, out []results.League, quarantined []bool) error // after the leagues were played
}

func (f faulty) NewWorker(ctx context.Context) (experiments.Worker, error) {
	w, err := f.Driver.NewWorker(ctx)
	return faultyWorker{w, f.play}, err
}

type faultyWorker struct {
	experiments.Worker
	play func(first int, out []results.League, quarantined []bool) error
}

func (w faultyWorker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	if err := w.Worker.Play(ctx, first, out, quarantined); err != nil {
		return err
	}
	return w.play(first, out, quarantined)
}

// openFaulty opens jobs with a faulty driver.
func openFaulty(play func(first int, out []results.League, quarantined []bool) error) func(*cluster.ServeConfig) {
	return func(c *cluster.ServeConfig) {
		c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			d, end, err := open(ctx, job, source)
			return faulty{d, play}, end, err
		}
	}
}

// counting is a driver that counts its workers.
type counting struct {
	experiments.Driver
	made *atomic.Int32
}

func (c counting) NewWorker(ctx context.Context) (experiments.Worker, error) {
	c.made.Add(1)
	return c.Driver.NewWorker(ctx)
}

// TestOneWorkerForACore has a machine with one core play many chunks. It plays them all
// with one worker of the driver, so in one process with a grown heap and warm caches, also
// while the broker stores the records of an earlier chunk.
func TestOneWorkerForACore(t *testing.T) {
	t.Parallel()
	plan := planOf(2000)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true})
	var made atomic.Int32
	serve(t, t.Context(), b.URL(), func(c *cluster.ServeConfig) {
		c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			d, end, err := open(ctx, job, source)
			return counting{d, &made}, end, err
		}
	})
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan}); err != nil || out.Leagues != plan.Runs {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := made.Load(); n != 1 {
		t.Errorf("the driver made %d workers, want 1", n)
	}
}

// poisonous fails in a league in which none of some players is quarantined.
func poisonous(league int, players ...int) func(int, []results.League, []bool) error {
	return func(first int, out []results.League, quarantined []bool) error {
		if first > league || league >= first+len(out) {
			return nil
		}
		for _, field := range players {
			if quarantined[field] {
				return nil
			}
		}
		return errors.New("no memory left")
	}
}

// TestVerify has two workers of which one plays other choices, which no record shows: only
// playing twice does.
func TestVerify(t *testing.T) {
	t.Parallel()
	plan := planOf(60)
	want := here(t, plan)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true})
	serve(t, t.Context(), b.URL(), nil)
	serve(t, t.Context(), b.URL(), nil)
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Verify: 1}); err != nil || out.Digest != want.Digest {
		t.Fatalf("two honest workers: %+v, %v; want %+v", out, err, want)
	}
	serve(t, t.Context(), b.URL(), openFaulty(func(_ int, out []results.League, _ []bool) error {
		for i := range out {
			a := &out[i].Matches[0].A
			a.Choice = 3 - a.Choice // the other of even (1) and odd (2)
		}
		return nil
	}))
	_, _, err := coordinate(t, l, cluster.RunConfig{Plan: planOf(5000), Verify: 1})
	if err == nil || !strings.Contains(err.Error(), "different records") {
		t.Fatalf("a worker that plays other choices: %v", err)
	}
}

// TestRefused has wrong tokens and prefixes: the sentence says so, without the token.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := startBroker(t, cluster.BrokerConfig{})
	for _, bad := range []string{"nats://wrong@" + strings.SplitN(b.URL(), "@", 2)[1], "nats://" + strings.SplitN(b.URL(), "@", 2)[1]} {
		_, err := cluster.Connect(t.Context(), cluster.Config{URL: bad, Wait: true})
		var refused *cluster.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "refuses the token") || refused.Hint == "" || strings.Contains(err.Error(), "wrong@") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := cluster.Connect(t.Context(), cluster.Config{URL: b.URL(), Prefix: "a b"}); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("prefix: %v", err)
	}
}
