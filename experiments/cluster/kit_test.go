package cluster_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/experiments/cluster/broker"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// planOf is a plan of three built-in strategies.
func planOf(runs int) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: 4, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	for _, name := range []string{"random", "markov-2", "frequency"} {
		p.Field = append(p.Field, results.Entrant{Name: name, Kind: "builtin", Ref: name})
	}
	return p
}

// direct returns the arena of a plan of built-in strategies.
func direct(plan results.Plan) (*arena.Arena, error) {
	var field []strategies.Factory
	for _, e := range plan.Field {
		f, ok := builtin.Find(e.Ref)
		if !ok {
			return nil, fmt.Errorf("no strategy %q", e.Ref)
		}
		field = append(field, f)
	}
	return arena.New(plan, field, arena.Config{})
}

// here plays a plan in this process.
func here(t *testing.T, plan results.Plan) experiments.Outcome {
	t.Helper()
	d, err := direct(plan)
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), plan, d, experiments.Tee(), experiments.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// startBroker starts a broker in this process that ends with the test.
func startBroker(t testing.TB, c cluster.BrokerConfig) *broker.Broker {
	t.Helper()
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	b, err := broker.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// notes collects what people are told.
type notes struct {
	mu   sync.Mutex
	all  []string
	more chan struct{} // closed and replaced at each note
}

func newNotes() *notes { return &notes{more: make(chan struct{})} }

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, fmt.Sprintf(format, args...))
	close(n.more)
	n.more = make(chan struct{})
}

// wait returns the first note that fits.
func (n *notes) wait(t *testing.T, fits func(string) bool) string {
	t.Helper()
	for {
		n.mu.Lock()
		more := n.more
		for _, text := range n.all {
			if fits(text) {
				n.mu.Unlock()
				return text
			}
		}
		n.mu.Unlock()
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("the note has not come: %q", n.all)
		}
	}
}

// link connects to a broker until the end of the test.
func link(t testing.TB, c cluster.Config) *cluster.Link {
	t.Helper()
	if c.AckWait == 0 {
		c.AckWait = 250 * time.Millisecond
	}
	l, err := cluster.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// serve runs a worker until its context or the test ends. change may alter it.
func serve(t testing.TB, ctx context.Context, url string, change func(*cluster.ServeConfig)) {
	t.Helper()
	l := link(t, cluster.Config{URL: url})
	c := cluster.ServeConfig{Cores: 1, Name: "test", Version: "test", Open: open}
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("worker: %v", err)
		}
	})
}

func open(_ context.Context, job cluster.Job, _ func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
	d, err := direct(job.Plan)
	return d, func() error { return nil }, err
}

// coordinate plays a plan on a cluster.
func coordinate(t *testing.T, l *cluster.Link, config cluster.RunConfig) (experiments.Outcome, []cluster.Share, error) {
	t.Helper()
	config.Version = "test"
	c, err := l.Coordinate(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), config.Plan, c, experiments.Tee(), experiments.Config{Workers: 64})
	if cerr := c.Close(); cerr != nil {
		t.Errorf("close the run: %v", cerr)
	}
	return out, c.Shares(), err
}
