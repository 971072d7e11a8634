package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// message is one from the broker.
type message struct {
	jetstream.Msg
	header nats.Header
	data   []byte
}

func (m *message) Headers() nats.Header { return m.header }
func (m *message) Data() []byte         { return m.data }
func (m *message) Ack() error           { return nil }

// records returns the message with which a worker sends leagues.
func records(worker, part string, first, count int, data []byte) *message {
	return &message{data: data, header: nats.Header{
		headerWorker: {worker}, headerChunk: {part}, headerFirst: {strconv.Itoa(first)}, headerCount: {strconv.Itoa(count)},
	}}
}

// workers stands for a broker and its workers: publishing a chunk answers it at once. It
// implements what a coordinator without other events uses.
type workers struct {
	jetstream.JetStream
	c       *Coordinator
	player  experiments.Worker
	encoder *chunk.Encoder
	fatal   func(league int, quarantined []bool) bool // whether a league ends workers
	lost    int                                       // chunks that are delivered too often, though no worker has failed

	played []string // chunks with the players put aside: "0+64 mine"
}

func (w *workers) PublishMsg(ctx context.Context, m *nats.Msg, _ ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	var r chunk.Request
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%d+%d", r.First, r.Count)
	for field, aside := range r.Quarantined {
		if aside {
			text += " " + w.c.job.Plan.Field[field].Name
		}
	}
	if except := m.Header.Get(headerNot); except != "" {
		text += " not " + except
	}
	w.played = append(w.played, text)
	part := m.Header.Get(headerChunk)
	if w.lost > 0 {
		w.lost--
		w.c.notify(part, arrival{poisoned: true})
		return nil, nil
	}
	for league := r.First; league < r.First+r.Count; league++ {
		if w.fatal(league, r.Quarantined) {
			w.c.failed(failure{Worker: "w1", Chunk: part, Error: "killed"})
			w.c.notify(part, arrival{poisoned: true})
			return nil, nil
		}
	}
	out := make([]results.League, r.Count)
	if err := w.player.Play(ctx, r.First, out, r.Quarantined); err != nil {
		return nil, err
	}
	data, err := w.encoder.Encode(out)
	if err != nil {
		return nil, err
	}
	w.c.notify(part, arrival{message: records("w1", part, r.First, r.Count, slices.Clone(data))})
	return nil, nil
}

// drained is a stream without chunks.
type drained struct{ jetstream.Stream }

func (drained) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return nil, jetstream.ErrMsgNotFound
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
	w.c = &Coordinator{
		link: &Link{config: Config{Prefix: "test", AckWait: time.Minute, Note: note}, js: w}, job: Job{Run: "run", Plan: plan},
		config: RunConfig{Plan: plan, Suspects: suspects}, most: 64, chunks: drained{}, rescue: make(chan struct{}, 1),
		pending: map[string]*pending{}, poison: map[int]int{}, aside: map[string]bool{}, workers: map[string]Presence{}, told: map[string]bool{},
	}
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
