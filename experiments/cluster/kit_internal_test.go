package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// workers stands for a broker and one worker: a chunk that is given is answered at once.
type workers struct {
	c       *Coordinator
	key     *identity
	player  experiments.Worker
	encoder *chunk.Encoder
	fatal   func(league int, quarantined []bool) bool // whether a league ends workers

	mu     sync.Mutex
	played []string // chunks with the players put aside: "0+64 mine"
}

// records returns the message with which a worker sends leagues.
func (w *workers) records(t testing.TB, key *identity, r report, data []byte) *nats.Msg {
	t.Helper()
	m, err := key.seal("test.records."+w.c.job.Run, r, data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer plays a chunk.
func (w *workers) answer(t testing.TB, a assignment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := a.Request
	text := fmt.Sprintf("%d+%d", r.First, r.Count)
	for field, aside := range r.Quarantined {
		if aside {
			text += " " + w.c.job.Plan.Field[field].Name
		}
	}
	if !a.Again {
		w.played = append(w.played, text)
	}
	for league := r.First; league < r.First+r.Count; league++ {
		if w.fatal(league, r.Quarantined) {
			w.c.arrive(w.records(t, w.key, report{Part: a.Part, First: r.First, Count: r.Count, Error: "killed"}, nil))
			return
		}
	}
	out := make([]results.League, r.Count)
	if err := w.player.Play(context.Background(), r.First, out, r.Quarantined); err != nil {
		t.Error(err)
		return
	}
	data, err := w.encoder.Encode(out)
	if err != nil {
		t.Error(err)
		return
	}
	w.c.arrive(w.records(t, w.key, report{Part: a.Part, First: r.First, Count: r.Count, Took: 1}, data))
}

// join has the coordinator know a worker that is always there.
func (w *workers) join(id, name string) *member {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	m := w.c.join(id)
	m.Presence = Presence{ID: id, Name: name, Cores: 1, Plays: []string{w.c.job.Run}, Heard: time.Now().Add(1000 * time.Hour)}
	return m
}

// looking has the coordinator look for what is late until the test ends.
func (w *workers) looking(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for pause(ctx, w.c.link.config.AckWait/8) {
			w.c.look(time.Now())
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// coordinator returns one of a plan with workers, and what it tells people.
func coordinator(t *testing.T, plan results.Plan, suspects []string, fatal func(int, []bool) bool) (*workers, *[]string) {
	t.Helper()
	var field []strategies.Factory
	for _, e := range plan.Field {
		f, ok := builtin.Find(e.Ref)
		if !ok {
			t.Fatalf("no strategy %q", e.Ref)
		}
		field = append(field, f)
	}
	a, err := arena.New(plan, field, arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &workers{fatal: fatal}
	if w.player, err = a.NewWorker(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.player.Close() })
	if w.encoder, err = chunk.NewEncoder(plan); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	notes := new([]string)
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		*notes = append(*notes, fmt.Sprintf(format, args...))
	}
	w.key = newIdentity()
	w.c = newCoordinator(&Link{config: Config{Prefix: "test", AckWait: time.Minute, Note: note}}, RunConfig{Plan: plan, Suspects: suspects})
	w.c.most, w.c.send = 64, func(worker string, a assignment) {
		if worker == w.key.id && a.Aside == "" {
			go w.answer(t, a)
		}
	}
	w.join(w.key.id, "w1")
	w.c.members[w.key.id].delivered = 1
	return w, notes
}

// internalPlan is a plan of small leagues of players by name.
func internalPlan(runs int, names ...string) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: 1, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	for _, name := range names {
		p.Field = append(p.Field, results.Entrant{Name: name, Kind: "builtin", Ref: "random"})
	}
	return p
}
