package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// TestDigest plays a plan with several numbers of workers: the digest is that of one
// process, and every league is credited once.
func TestDigest(t *testing.T) {
	t.Parallel()
	plan := planOf(500)
	want := here(t, plan)
	for _, number := range []int{1, 3} {
		b := startBroker(t, cluster.BrokerConfig{})
		l := link(t, cluster.Config{URL: b.URL(), Memory: true})
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
		b, n := startBroker(t, cluster.BrokerConfig{}), newNotes()
		l := link(t, cluster.Config{URL: b.URL(), Memory: true, Note: n.add})
		lied := make(chan struct{})
		var once sync.Once
		serve(t, t.Context(), b.URL(), openFaulty(func(_ int, out []results.League, _ []bool) error {
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

// TestPoison has a league that no worker can play with one of its players: the run names
// both and goes on, with that player quarantined. Leagues before it are as everywhere.
func TestPoison(t *testing.T) {
	t.Parallel()
	plan, n := planOf(200), newNotes()
	var want, got []results.League
	d, err := direct(plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := experiments.Run(t.Context(), plan, d, keep(&want), experiments.Config{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true, Note: n.add})
	serve(t, t.Context(), b.URL(), openFaulty(poisonous(100, 1)))
	c, err := l.Coordinate(t.Context(), cluster.RunConfig{Plan: plan, Version: "test", Suspects: []string{"random", "markov-2", "frequency"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out, err := experiments.Run(t.Context(), plan, c, keep(&got), experiments.Config{Workers: 64})
	if err != nil || out.Leagues != 200 || out.Reproducible || !slices.Equal(out.Quarantined, []int{1}) {
		t.Fatalf("%+v, %v", out, err)
	}
	if diff := cmp.Diff(want[:100], got[:100], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("leagues before the one that ends workers (-want +got):\n%s", diff)
	}
	for i, l := range got[100:] {
		lost := 0
		for _, m := range l.Matches {
			for _, side := range []game.Side{m.A, m.B} {
				if side.Fault == game.FaultQuarantined {
					lost++
				}
			}
		}
		if want := 2 * plan.Legs; lost != want {
			t.Fatalf("league %d: %d matches are lost by quarantine, want the %d of markov-2", 100+i, lost, want)
		}
	}
	if notes := got[100].Notes; len(notes) != 1 || notes[0].Field != 1 || !strings.Contains(notes[0].Text, "put aside from league 100 on") {
		t.Errorf("notes of league 100: %+v", notes)
	}
	n.wait(t, func(text string) bool {
		return text == "league 100 ends or fails every worker that plays it with markov-2, put aside from there on"
	})
}

// keep is a sink that keeps leagues.
func keep(all *[]results.League) experiments.Sink { return (*keeper)(all) }

type keeper []results.League

func (k *keeper) Append(l *results.League) error {
	*k = append(*k, results.League{Index: l.Index, Seats: slices.Clone(l.Seats), Matches: slices.Clone(l.Matches), Notes: slices.Clone(l.Notes)})
	return nil
}

// TestPoisonOfNobody has a league that no worker can play whoever is put aside: the run
// ends with the leagues before it, and names it, the workers and the suspects.
func TestPoisonOfNobody(t *testing.T) {
	t.Parallel()
	plan := planOf(20)
	b := startBroker(t, cluster.BrokerConfig{})
	l := link(t, cluster.Config{URL: b.URL(), Memory: true})
	serve(t, t.Context(), b.URL(), openFaulty(poisonous(10)))
	out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan, Suspects: []string{"markov-2"}})
	var poison *cluster.PoisonError
	if !errors.As(err, &poison) || poison.League != 10 || len(poison.Tried) == 0 || !strings.Contains(err.Error(), "no memory left") || !strings.Contains(err.Error(), "markov-2") {
		t.Fatalf("%+v, %v", out, err)
	}
	if out.Leagues > 10 {
		t.Errorf("%d leagues are recorded, want at most 10", out.Leagues)
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
