package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
)

// TestDigest plays a plan with several numbers of workers: the digest is that of one
// process, and every league is credited once.
func TestDigest(t *testing.T) {
	t.Parallel()
	plan := planOf(500)
	want := here(t, plan)
	for _, number := range []int{1, 3} {
		b := broker(t, cluster.BrokerConfig{})
		l := link(t, cluster.Config{URL: b.URL(), Broker: b})
		for range number {
			serve(t, t.Context(), b.URL(), nil)
		}
		out, shares, err := coordinate(t, l, cluster.RunConfig{Plan: plan})
		if err != nil || out.Digest != want.Digest || out.Leagues != 500 {
			t.Fatalf("%d workers: %+v, %v; want %+v", number, out, err, want)
		}
		leagues := 0
		for _, s := range shares {
			leagues += s.Leagues
		}
		if leagues != 500 || len(shares) > number {
			t.Errorf("%d workers: shares %+v", number, shares)
		}
	}
}

// faulty is a driver that fails or changes records.
type faulty struct {
	experiments.Driver
	play func(first int, out []results.League) error // after the leagues were played
}

func (f faulty) NewWorker(ctx context.Context) (experiments.Worker, error) {
	w, err := f.Driver.NewWorker(ctx)
	return faultyWorker{w, f.play}, err
}

type faultyWorker struct {
	experiments.Worker
	play func(first int, out []results.League) error
}

func (w faultyWorker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	if err := w.Worker.Play(ctx, first, out, quarantined); err != nil {
		return err
	}
	return w.play(first, out)
}

// openFaulty opens jobs with a faulty driver.
func openFaulty(play func(first int, out []results.League) error) func(*cluster.ServeConfig) {
	return func(c *cluster.ServeConfig) {
		c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			d, end, err := open(ctx, job, source)
			return faulty{d, play}, end, err
		}
	}
}

// TestLiar has a worker that sends other draws or seats than the plan gives: it is put
// aside and named, and the digest is right.
func TestLiar(t *testing.T) {
	t.Parallel()
	plan := planOf(300)
	want := here(t, plan)
	lies := map[string]func(out []results.League){
		"other seats": func(out []results.League) { s := out[0].Seats; s[0], s[1] = s[1], s[0] },
		"the number is": func(out []results.League) {
			m := &out[0].Matches[3]
			m.Number = m.Number%10 + 1
		},
	}
	for word, lie := range lies {
		b, n := broker(t, cluster.BrokerConfig{}), newNotes()
		l := link(t, cluster.Config{URL: b.URL(), Broker: b, Note: n.add})
		lied := make(chan struct{})
		var once sync.Once
		serve(t, t.Context(), b.URL(), openFaulty(func(_ int, out []results.League) error {
			once.Do(func() { close(lied) })
			lie(out)
			return nil
		}))
		serve(t, t.Context(), b.URL(), func(c *cluster.ServeConfig) {
			c.Open = func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
				select {
				case <-lied: // else it may play everything before the other does
				case <-ctx.Done():
				}
				return open(ctx, job, source)
			}
		})
		out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan})
		if err != nil || out.Digest != want.Digest {
			t.Errorf("%s: %+v, %v; want %+v", word, out, err, want)
		}
		n.wait(t, func(text string) bool { return strings.Contains(text, "put aside") && strings.Contains(text, word) })
	}
}

// TestPoison has a league that no worker can play: the run ends with the leagues before
// it, and names it, the workers and the suspect.
func TestPoison(t *testing.T) {
	t.Parallel()
	plan := planOf(200)
	b := broker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Broker: b})
	serve(t, t.Context(), b.URL(), openFaulty(func(first int, out []results.League) error {
		if first <= 100 && 100 < first+len(out) {
			return errors.New("no memory left")
		}
		return nil
	}))
	out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Suspects: []string{"markov-2"}})
	var poison *cluster.PoisonError
	if !errors.As(err, &poison) || poison.League != 100 || len(poison.Tried) == 0 || !strings.Contains(err.Error(), "no memory left") || !strings.Contains(err.Error(), "markov-2") {
		t.Fatalf("%+v, %v", out, err)
	}
	if out.Leagues > 100 {
		t.Errorf("%d leagues are recorded, want at most 100", out.Leagues)
	}
}

// TestVerify has two workers of which one plays other choices, which no record shows: only
// playing twice does.
func TestVerify(t *testing.T) {
	t.Parallel()
	plan := planOf(200)
	want := here(t, plan)
	b := broker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Broker: b})
	serve(t, t.Context(), b.URL(), nil)
	serve(t, t.Context(), b.URL(), nil)
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Verify: 1}); err != nil || out.Digest != want.Digest {
		t.Fatalf("two honest workers: %+v, %v; want %+v", out, err, want)
	}
	serve(t, t.Context(), b.URL(), openFaulty(func(_ int, out []results.League) error {
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
	b := broker(t, cluster.BrokerConfig{})
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
