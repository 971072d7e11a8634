package manager_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// patience is how long a test waits for what must happen before it fails.
const patience = 2 * time.Minute

// watched is a list that tests wait on.
type watched[T any] struct {
	patience time.Duration // other than patience, for tests with a clock of their own

	mu      sync.Mutex
	items   []T
	changed chan struct{}
}

func (w *watched[T]) add(item T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.items = append(w.items, item)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

func (w *watched[T]) all() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.items)
}

// wait returns the list as soon as the condition holds for it.
func (w *watched[T]) wait(t testing.TB, what string, condition func([]T) bool) []T {
	t.Helper()
	limit := cmp.Or(w.patience, patience)
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		w.mu.Lock()
		items := slices.Clone(w.items)
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		if condition(items) {
			return items
		}
		select {
		case <-changed:
		case <-deadline.C:
			t.Fatalf("waited %v for %s; there are %d: %+v", limit, what, len(items), items)
		}
	}
}

// until waits for an item for which the condition holds, and returns it.
func (w *watched[T]) until(t testing.TB, what string, condition func(T) bool) T {
	t.Helper()
	items := w.wait(t, what, func(items []T) bool { return slices.ContainsFunc(items, condition) })
	return items[slices.IndexFunc(items, condition)]
}

// rig is a manager on a network inside the process, and whoever talks to it.
type rig struct {
	t      testing.TB
	net    *jsonrpc.Loopback
	m      *manager.Manager
	cfg    manager.Config
	url    string
	events *watched[manager.Event]

	serving  sync.WaitGroup // managers, referees and players
	stop     context.CancelFunc
	unserved func()     // waits until the manager is not served any more
	result   chan error // of Run
}

// newRig makes a manager and serves it. It is not run yet.
func newRig(t testing.TB, change func(*manager.Config)) *rig {
	t.Helper()
	r := &rig{t: t, net: new(jsonrpc.Loopback)}
	t.Cleanup(r.serving.Wait) // when everybody has been stopped
	r.open(change)
	return r
}

// open makes the rig's manager and serves it.
func (r *rig) open(change func(*manager.Config)) {
	r.t.Helper()
	r.events = new(watched[manager.Event])
	r.cfg = manager.Config{
		LeagueID: "cup", Probe: manager.ProbeOff, AllowHosts: []string{"*"}, NoSync: true,
		Backoff: game.Backoff{Retries: 3, First: time.Millisecond, Most: 4 * time.Millisecond},
		Caller:  &wire.Caller{Client: jsonrpc.NewClient(r.net.From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
		Events:  r.events.add,
	}
	if change != nil {
		change(&r.cfg)
	}
	m, err := manager.New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.m, r.result = m, make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	served := make(chan struct{})
	r.url = r.serveThen(ctx, "manager", m.Dispatcher(), func() { close(served) })
	r.unserved = func() { <-served }
	r.t.Cleanup(func() {
		stop()
		m.Close()
	})
}

// serve serves a handler under a name until ctx ends, and returns its URL.
func (r *rig) serve(ctx context.Context, host string, h jsonrpc.Handler) string {
	r.t.Helper()
	return r.serveThen(ctx, host, h, func() {})
}

func (r *rig) serveThen(ctx context.Context, host string, h jsonrpc.Handler, then func()) string {
	r.t.Helper()
	srv, err := r.net.Listen(host, jsonrpc.Config{Lenient: true, MaxPerPeer: -1})
	if err != nil {
		r.t.Fatal(err)
	}
	r.serving.Go(func() {
		defer then()
		srv.Serve(ctx, h)
	})
	return srv.URL()
}

// caller is the way of somebody to the others.
func (r *rig) caller(from string) *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(r.net.From(from), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Strict)}
}

// run runs the manager until stopped.
func (r *rig) run() {
	ctx, stop := context.WithCancel(context.Background())
	m, result, before := r.m, r.result, r.stop
	r.stop = func() { stop(); before() }
	r.serving.Go(func() {
		defer stop()
		result <- m.Run(ctx)
	})
}

// start starts the league, and begin runs the manager before.
func (r *rig) start() {
	r.t.Helper()
	if err := r.m.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) begin() {
	r.t.Helper()
	r.run()
	r.start()
}

// finished waits for the end of Run, and finish for one without an error; a test with a clock
// of its own has another patience.
func (r *rig) finished(limit time.Duration) error {
	r.t.Helper()
	select {
	case err := <-r.result:
		r.result <- err
		return err
	case <-time.After(limit):
		r.t.Fatalf("the manager has not come to an end after %v", limit)
		return nil
	}
}

func (r *rig) finish(limit ...time.Duration) {
	r.t.Helper()
	if err := r.finished(append(limit, patience)[0]); err != nil {
		r.t.Fatal(err)
	}
}

// kill ends the manager's process, as far as that can be done within one.
func (r *rig) kill() {
	r.stop()
	if err := r.finished(patience); !errors.Is(err, context.Canceled) && err != nil {
		r.t.Fatal(err)
	}
	r.unserved()
}

// refused returns the refusal that a call met.
func refused(t testing.TB, answer protocol.Message, err error) *dialect.Refusal {
	t.Helper()
	var refusal *dialect.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("the message was not refused: answer %+v, error %v", answer, err)
	}
	return refusal
}

// refuses takes what a call returned, and fails unless that was a refusal with a JSON-RPC
// code and a league code.
func refuses(t testing.TB, rpc int, code protocol.Code) func(protocol.Message, error) *dialect.Refusal {
	return func(answer protocol.Message, err error) *dialect.Refusal {
		t.Helper()
		r := refused(t, answer, err)
		if r.RPC != rpc || r.Code != code {
			t.Errorf("refused with %d %s (%s), want %d %s", r.RPC, r.Code, r.Message, rpc, code)
		}
		return r
	}
}

// told are the events of a kind.
func (r *rig) told(kind manager.EventKind) []manager.Event {
	return slices.DeleteFunc(r.events.all(), func(e manager.Event) bool { return e.Kind != kind })
}
