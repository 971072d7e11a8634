package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// TestMain runs all tests at the same time: most of them wait for agents to give
// up, which needs no processor. Many agents in one process also fill the heap
// quickly with what is soon garbage, so the collector runs less often.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "32"); err != nil { // -parallel overrides it
		panic(err)
	}
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// scale is by how much the times of a test are longer than on a machine at rest.
type scale int

// of returns a time at a scale; the zero scale is 1.
func (s scale) of(d time.Duration) time.Duration { return time.Duration(max(s, 1)) * d }

// withEnoughTime examines an agent until the report is as wanted, each time with
// four times the times of the last: a verdict that needs more time than a busy
// machine gave is no verdict. It returns the last report.
func withEnoughTime(examine func(scale) (*conformance.Report, error), wanted func(*conformance.Report) bool) (r *conformance.Report, err error) {
	for _, s := range []scale{1, 4, 16} {
		if r, err = examine(s); err == nil && wanted(r) {
			break
		}
	}
	return r, err
}

// patience is how long an agent of a test may take for an answer. Only a
// mutant that is slow needs it.
const patience = 10 * time.Second

// quick is a back-off for tests.
var quick = game.Backoff{Retries: 3, First: time.Millisecond, Most: 4 * time.Millisecond}

// testAgent is our own player, served on a socket, perhaps with a fault.
type testAgent struct {
	url    string
	run    func(ctx context.Context, manager string) error
	memory *memory // of a mutant
	joined sync.WaitGroup
	ended  error
}

func factory() strategies.Factory {
	f, ok := builtin.Find("random")
	if !ok {
		panic("there is no strategy random")
	}
	return f
}

// onSockets serves a player as the program does.
func onSockets(t testing.TB, mode protocol.Mode, change func(*player.Config)) *testAgent {
	t.Helper()
	ctx := context.Background()
	srv, err := jsonrpc.Listen(ctx, "127.0.0.1:0", jsonrpc.Config{Lenient: mode == protocol.Tolerant})
	if err != nil {
		t.Fatal(err)
	}
	s := &testAgent{url: srv.URL()}
	s.run = func(ctx context.Context, manager string) error {
		p, closeClient, err := newPlayer(mode, s.url, manager, jsonrpc.OverHTTP(), change)
		if err != nil {
			return errors.Join(err, srv.Close())
		}
		return errors.Join(serving(ctx, p.Dispatcher(), srv.Serve, p.Run), closeClient())
	}
	return s
}

func newPlayer(mode protocol.Mode, url, manager string, trip jsonrpc.RoundTripper, change func(*player.Config)) (*player.Player, func() error, error) {
	client := jsonrpc.NewClient(trip, jsonrpc.ClientConfig{})
	cfg := player.Config{
		Config: agent.Config{
			Endpoint: url,
			Manager:  wire.NewPeer(manager, dialect.Contracts),
			Caller:   &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)},
			Name:     "Ada",
			Mode:     mode,
			Timeout:  2 * patience,
			Backoff:  quick,
		},
		Factory: factory(),
		Watch:   -1,
	}
	if change != nil {
		change(&cfg)
	}
	p, err := player.New(cfg)
	return p, client.Close, err
}

// checkPlayer runs the checks against players that serve returns, until the report
// is as wanted.
func checkPlayer(t *testing.T, serve func() *testAgent, wanted func(*conformance.Report) bool, change func(*conformance.Config)) *conformance.Report {
	t.Helper()
	r, err := withEnoughTime(func(s scale) (*conformance.Report, error) {
		return serve().check(t, func(o *conformance.Config) {
			o.Timeout = s.of(patience)
			if change != nil {
				change(o)
			}
		}), nil
	}, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check runs the checks against a testAgent.
func (s *testAgent) check(t testing.TB, change func(*conformance.Config)) *conformance.Report {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		s.joined.Wait()
	})
	opts := conformance.Config{
		Role: conformance.Player, URL: s.url, Timeout: patience, Wait: 20 * time.Second,
		Listening: func(manager string) {
			s.joined.Go(func() { s.ended = s.run(ctx, manager) })
		},
	}
	if change != nil {
		change(&opts)
	}
	r, err := conformance.Run(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	s.joined.Wait()
	if s.ended != nil {
		t.Errorf("the player ended: %v", s.ended)
	}
	return r
}

// idsWith returns the ids of the checks with a status.
func idsWith(r *conformance.Report, s conformance.Status) []string {
	var ids []string
	for _, o := range r.Outcomes {
		if o.Status == s {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// failing returns a function that reports whether certain checks have failed, and
// no others.
func failing(ids ...string) func(*conformance.Report) bool {
	return func(r *conformance.Report) bool { return slices.Equal(idsWith(r, conformance.Failed), ids) }
}

// allPassed reports whether no check has failed or was skipped, and our agents have played.
func allPassed(r *conformance.Report) bool {
	return r.Played == conformance.Play{Tried: true} && idsWith(r, conformance.Failed) == nil && idsWith(r, conformance.Skipped) == nil
}

// explain renders a report.
func explain(r *conformance.Report) string {
	var b strings.Builder
	if err := r.WriteText(&b, false, conformance.Wild); err != nil {
		return err.Error()
	}
	return b.String()
}

// A mutant is our own player behind a proxy that has one fault.
type mutant struct {
	check string // that it fails, and no other
	busy  bool   // the manager turns the first registration away
	halts bool   // the checks wait for something in vain
	mute  bool   // the checks wait in vain for one answer after the other
	slow  bool   // it waits for agents for longer than it may
	scale scale  // of its times
	media string // the Content-Type of what it sends, if that is not JSON's
	// serve changes how a request is answered; next is the player's own answer.
	serve func(m *memory, in *asked, next func(*asked) *reply) *reply
	// out changes what the player sends to its manager.
	out func(m *memory, body []byte, next func([]byte) (*jsonrpc.Reply, error)) (*jsonrpc.Reply, error)
	// wrap changes how HTTP is served, before a body is read.
	wrap func(m *memory, h http.Handler) http.Handler
}

// timeout is the timeout of the checks of a mutant: usual, or silence if they wait for
// it to pass, or a third of that if they wait for it several times.
func (mu mutant) timeout(usual, silence time.Duration) time.Duration {
	switch {
	case mu.mute:
		return mu.scale.of(silence / 3)
	case mu.halts:
		return mu.scale.of(silence)
	}
	return mu.scale.of(usual)
}

// asked is a request to a mutant.
type asked struct {
	body   []byte
	header http.Header
	read   object // the message, once it was asked for
}

// reply is its answer.
type reply struct {
	status int
	media  string
	body   []byte
}

// memory is what a mutant remembers. A mutant holds its lock.
type memory struct {
	sync.Mutex
	seen   map[string]int
	tokens map[string]string
	scale  scale
	check  string // that is running, if the test reports it
	last   string
	done   chan struct{}
}

func newMemory(mu mutant) *memory {
	return &memory{seen: map[string]int{}, tokens: map[string]string{}, done: make(chan struct{}), scale: mu.scale}
}

func (m *memory) begin(check string) {
	m.Lock()
	defer m.Unlock()
	m.check = check
}

func (m *memory) count(what string) int {
	m.seen[what]++
	return m.seen[what]
}

// mutated serves a mutant until the end of a test.
func mutated(t testing.TB, mu mutant) *testAgent {
	t.Helper()
	s, stop, err := mutatedPlayer(mu)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return s
}

// mutatedPlayer serves a mutant.
func mutatedPlayer(mu mutant) (*testAgent, func(), error) {
	m, inner, srv, err := faultyProxy("player", mu)
	if err != nil {
		return nil, nil, err
	}
	s := &testAgent{url: srv.URL + "/mcp"}
	s.run = func(ctx context.Context, manager string) error {
		out := &outgoing{RoundTripper: jsonrpc.OverHTTP(), mu: mu, m: m}
		p, closeClient, err := newPlayer(protocol.Tolerant, s.url, manager, out, nil)
		if err != nil {
			return err
		}
		return errors.Join(serving(ctx, p.Dispatcher(), inner.Serve, p.Run), closeClient())
	}
	return s, srv.Close, nil
}

// faultyProxy serves a mutant's fault before an agent, which is to be served at
// the endpoint that it returns.
func faultyProxy(name string, mu mutant) (*memory, *jsonrpc.LoopbackServer, *httptest.Server, error) {
	m := newMemory(mu)
	net := new(jsonrpc.Loopback)
	inner, err := net.Listen(name, jsonrpc.Config{Lenient: true})
	if err != nil {
		return nil, nil, nil, err
	}
	trip := net.From("proxy")
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forward(w, r, mu, m, trip, inner.URL()) })
	if mu.wrap != nil {
		h = mu.wrap(m, h)
	}
	return m, inner, httptest.NewServer(h), nil
}

// forward passes a request on to the agent, by way of the mutant's fault.
func forward(w http.ResponseWriter, r *http.Request, mu mutant, m *memory, trip jsonrpc.RoundTripper, url string) {
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	in := &asked{body: body, header: r.Header}
	next := func(in *asked) *reply {
		if in.header.Get("Content-Type") == "text/plain" { // which a loopback does not look at
			return &reply{status: http.StatusUnsupportedMediaType, media: "application/json", body: refusal(in, -32600).body}
		}
		answer, err := trip.RoundTrip(r.Context(), &jsonrpc.Outgoing{URL: url, Header: in.header, Body: in.body, MaxAnswer: 16 << 20})
		if err != nil {
			return &reply{status: http.StatusBadGateway, body: fmt.Appendf(nil, "%v", err)}
		}
		return &reply{status: answer.Status, media: "application/json", body: answer.Body}
	}
	var out *reply
	if mu.serve != nil {
		out = mu.serve(m, in, next)
	} else {
		out = next(in)
	}
	w.Header().Set("Content-Type", out.media)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body)
}

// outgoing carries what the player says to its manager.
type outgoing struct {
	jsonrpc.RoundTripper
	mu mutant
	m  *memory
}

func (o *outgoing) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	next := func(body []byte) (*jsonrpc.Reply, error) {
		changed := *out
		changed.Body = body
		return o.RoundTripper.RoundTrip(ctx, &changed)
	}
	if o.mu.out == nil {
		return next(out.Body)
	}
	return o.mu.out(o.m, out.Body, next)
}
