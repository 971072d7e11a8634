package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
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
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// TestMain runs all tests at the same time: most of them wait for agents to give
// up, which needs no processor. Many agents in one process also fill the heap
// quickly with what is soon garbage, so the collector runs less often.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "48"); err != nil { // -parallel overrides it
		panic(err)
	}
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// scale is by how much the times of a test are longer than on a machine at rest.
type scale int

// of returns a time at a scale; the zero scale is 1.
func (s scale) of(d time.Duration) time.Duration { return time.Duration(max(s, 1)) * d }

// Times of agents under test. Checks that wait in vain for an agent to answer spend a silence, and
// players that do not answer a deadline; elsewhere both are for a machine that is busy.
const (
	patience        = 10 * time.Second
	silenceTimeout  = 6 * time.Second
	refereeDeadline = 2 * time.Second
	refereePatience = 30 * time.Second
	refereeSilence  = 4 * time.Second
	playerSilence   = 3 * time.Second
	longestPause    = time.Second // longer than those of our agents
)

var quick = game.Backoff{Retries: 3, First: time.Millisecond, Most: 4 * time.Millisecond}

type ours interface {
	Dispatcher() *wire.Dispatcher
	Run(context.Context) error
}

// maker makes an agent of ours that is served somewhere, for a manager.
type maker func(agent.Config) (ours, error)

func aPlayer(change func(*player.Config)) maker {
	return func(common agent.Config) (ours, error) {
		random, _ := builtin.Find("random")
		cfg := player.Config{Config: common, Factory: random, Watch: -1}
		cfg.Name, cfg.Timeout, cfg.Backoff = "Ada", 2*patience, quick
		if change != nil {
			change(&cfg)
		}
		return player.New(cfg)
	}
}

func aReferee(s scale, deadline time.Duration) maker {
	return func(common agent.Config) (ours, error) {
		common.Name, common.Timeout = "Rhadamanthys", s.of(refereePatience)
		common.Backoff = game.Backoff{Retries: 3, First: s.of(100 * time.Millisecond), Most: s.of(400 * time.Millisecond)}
		return referee.New(referee.Config{Config: common, JoinTimeout: s.of(deadline), ChoiceTimeout: s.of(deadline), Verifiable: true})
	}
}

// testAgent is one of our agents, perhaps with a fault.
type testAgent struct {
	url    string
	mode   protocol.Mode
	make   maker
	serve  func(context.Context, jsonrpc.Handler) error
	trip   jsonrpc.RoundTripper // by which it sends
	stop   func()
	memory *memory
	joined sync.WaitGroup
	ended  error
}

// onSocket serves an agent as the program does.
func onSocket(mode protocol.Mode, make maker) (*testAgent, error) {
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", jsonrpc.Config{Lenient: mode == protocol.Tolerant})
	if err != nil {
		return nil, err
	}
	return &testAgent{url: srv.URL(), mode: mode, make: make, serve: srv.Serve, trip: jsonrpc.OverHTTP(), stop: func() {}, memory: new(memory)}, nil
}

// mutated serves an agent behind a proxy that has a fault.
func mutated(mu mutant, create maker) (*testAgent, error) {
	m := &memory{seen: map[string]int{}, tokens: map[string]string{}, done: make(chan struct{}), scale: mu.scale}
	net := new(jsonrpc.Loopback)
	inner, err := net.Listen("agent", jsonrpc.Config{Lenient: true})
	if err != nil {
		return nil, err
	}
	trip := net.From("proxy")
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forward(w, r, mu, m, trip, inner.URL()) })
	if mu.wrap != nil {
		h = mu.wrap(m, h)
	}
	srv := httptest.NewServer(h)
	return &testAgent{
		url: srv.URL + "/mcp", mode: protocol.Tolerant, make: create, serve: inner.Serve, stop: srv.Close, memory: m,
		trip: &outgoing{RoundTripper: jsonrpc.OverHTTP(), mu: mu, m: m},
	}, nil
}

func (s *testAgent) run(ctx context.Context, manager string) error {
	client := jsonrpc.NewClient(s.trip, jsonrpc.ClientConfig{})
	a, err := s.make(agent.Config{
		Endpoint: s.url, Manager: wire.NewPeer(manager, dialect.Contracts), Mode: s.mode,
		Caller: &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)},
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var served error
	var server sync.WaitGroup
	serves, end := context.WithCancel(context.WithoutCancel(ctx))
	server.Go(func() { served = s.serve(serves, a.Dispatcher()) })
	err = a.Run(ctx)
	s.stop() // an agent that leaves does not answer any more
	end()
	server.Wait()
	return errors.Join(err, served, client.Close())
}

// examine runs the checks of a role against the agent.
func (s *testAgent) examine(role kit.Role, change func(*kit.Config)) (*conformance.Report, error) {
	defer s.stop()
	ctx, stop := context.WithCancel(context.Background())
	defer func() {
		stop()
		s.joined.Wait()
	}()
	begin := func(manager string) { s.joined.Go(func() { s.ended = s.run(ctx, manager) }) }
	opts := kit.Config{
		Role: role, URL: s.url, Timeout: patience, Wait: 20 * time.Second, Pause: longestPause, AdminToken: adminToken, Listening: begin,
	}
	change(&opts)
	if role == kit.Manager {
		begin("") // it has none
	}
	r, err := conformance.Run(ctx, opts)
	if err != nil {
		return nil, err
	}
	stop()
	s.joined.Wait()
	return r, s.ended
}

// examined runs the checks of a role against agents that serve returns until the report is as
// wanted, each time with four times the times of the last: a verdict that needs more time than a
// busy machine gave is no verdict. It returns the last report.
func examined(t *testing.T, role kit.Role, serve func(scale) (*testAgent, error), wanted func(*conformance.Report) bool, change func(scale, *kit.Config)) (r *conformance.Report) {
	t.Helper()
	var err error
	for _, s := range []scale{1, 4, 16} {
		a, bad := serve(s)
		if bad != nil {
			t.Fatal(bad)
		}
		r, err = a.examine(role, func(o *kit.Config) {
			o.Timeout, o.Pause, o.Began = s.of(patience), s.of(longestPause), a.memory.begin
			change(s, o)
		})
		if err == nil && wanted(r) {
			return r
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func idsWith(r *conformance.Report, s kit.Status) []string {
	var ids []string
	for _, o := range r.Outcomes {
		if o.Status == s {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// are fails unless checks have a status.
func are(t *testing.T, r *conformance.Report, want kit.Status, ids ...string) {
	t.Helper()
	with := idsWith(r, want)
	for _, id := range ids {
		if !slices.Contains(with, id) {
			t.Errorf("%s is not %s", id, want)
		}
	}
}

// failing returns a function that reports whether certain checks have failed, and no others.
func failing(ids ...string) func(*conformance.Report) bool {
	return func(r *conformance.Report) bool { return slices.Equal(idsWith(r, kit.Failed), ids) }
}

// allPassed reports whether no check has failed or was skipped, and our agents have played.
func allPassed(r *conformance.Report) bool {
	return r.Played == kit.Play{Tried: true} && idsWith(r, kit.Failed) == nil && idsWith(r, kit.Skipped) == nil
}

func explain(r *conformance.Report) string {
	var b strings.Builder
	if err := r.WriteText(&b, false, kit.Wild); err != nil {
		return err.Error()
	}
	return b.String()
}

// A mutant is our own agent behind a proxy that has one fault.
type mutant struct {
	check string // that it fails, and no other
	busy  bool   // the manager turns the first registration away
	halts bool   // the checks wait for something in vain
	mute  bool   // the checks wait in vain for one answer after the other
	slow  bool   // it waits for agents for longer than it may
	scale scale  // of its times
	media string // the Content-Type of what it sends, if that is not JSON's
	serve fault  // changes what it is sent, and how that is answered
	out   fault  // changes what it sends, and how that is answered
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

func forward(w http.ResponseWriter, r *http.Request, mu mutant, m *memory, trip jsonrpc.RoundTripper, url string) {
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	next := func(in *request) *reply {
		if in.header.Get("Content-Type") == "text/plain" { // which a loopback does not look at
			out := refusal(in, -32600)
			out.status = http.StatusUnsupportedMediaType
			return out
		}
		answer, err := trip.RoundTrip(r.Context(), &jsonrpc.Outgoing{URL: url, Header: in.header, Body: in.body, MaxAnswer: 16 << 20})
		if err != nil {
			return &reply{status: http.StatusBadGateway, body: fmt.Appendf(nil, "%v", err)}
		}
		return &reply{status: answer.Status, media: "application/json", body: answer.Body}
	}
	out := mu.serve.pass(m, &request{body: body, header: r.Header}, next)
	w.Header().Set("Content-Type", out.media)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body)
}

// outgoing carries what an agent sends, also what a mutant has kept for later.
type outgoing struct {
	jsonrpc.RoundTripper
	mu mutant
	m  *memory
}

func (o *outgoing) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	r := o.mu.out.pass(o.m, &request{body: out.Body}, func(in *request) *reply {
		ctx := ctx
		if ctx.Err() != nil {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer stop()
		}
		changed := *out
		changed.Body = in.body
		if o.mu.media != "" {
			changed.Header = http.Header{"Content-Type": {o.mu.media}}
		}
		answer, err := o.RoundTripper.RoundTrip(ctx, &changed)
		if err != nil {
			return &reply{err: err}
		}
		return &reply{status: answer.Status, header: answer.Header, body: answer.Body}
	})
	if r.err != nil {
		return nil, r.err
	}
	return &jsonrpc.Reply{Status: r.status, Header: r.header, Body: r.body}, nil
}

// left says whether a mutant is left out: a plain run tries every ninth of those that do not
// wait for long, and with the race detector every sixth is enough, since what agents do at
// once is the same in all of them.
func left(i int, mu mutant) bool {
	return raced && i%6 != 0 || !wholeSuites && (!raced && i%9 != 0 || mu.slow)
}

// longestFirst returns the indices of mutants, those first for which something waits.
func longestFirst(all []mutant) []int {
	var first, rest []int
	for i, mu := range all {
		if mu.halts || mu.slow || mu.busy || slices.Contains(inSilence, mu.check) {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// examineMutants has, for every check of a role, an agent that fails it and no
// other. Each is tried while others wait.
func examineMutants(t *testing.T, role kit.Role, mutants func() []mutant, silence time.Duration, create func(mutant) maker) {
	t.Helper()
	all := mutants()
	covered := map[string]bool{}
	for _, i := range longestFirst(all) {
		check := all[i].check
		covered[check] = true
		if left(i, all[i]) {
			continue
		}
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			failsAlone(t, examined(t, role, func(s scale) (*testAgent, error) {
				mu := mutants()[i] // which may remember what it has done
				mu.scale = s
				return mutated(mu, create(mu))
			}, failing(check), func(s scale, o *kit.Config) {
				mu := all[i]
				mu.scale = s
				o.Busy, o.Only, o.Timeout = mu.busy, checksOf(role, mu), mu.timeout(refereePatience, silence)
				if mu.busy { // and does not come back, for which it is waited in vain
					o.Wait = s.of(silence)
				}
			}), check)
		})
	}
	for _, c := range conformance.Checks(role) {
		if !covered[c.ID] {
			t.Errorf("there is no mutant that fails %s", c.ID)
		}
		delete(covered, c.ID)
	}
	for id := range covered {
		t.Errorf("there is a mutant for %s, which is no check", id)
	}
}

// failsAlone fails unless one check has failed and no other, and says enough.
func failsAlone(t *testing.T, r *conformance.Report, check string) {
	t.Helper()
	if failed := idsWith(r, kit.Failed); !slices.Equal(failed, []string{check}) {
		t.Errorf("failed %q, want %q\n%s", failed, check, explain(r))
	}
	for _, o := range r.Outcomes {
		if o.Status == kit.Failed && (o.Detail == "" || o.Advice == "" || len(o.Evidence) == 0) {
			t.Errorf("%s fails without reason, advice or evidence: %+v", o.ID, o)
		}
	}
}

// inSilence are the checks that wait for deadlines to pass. They are made of the
// mutants that are to fail them, and of those without a fault; the others have
// deadlines that a busy machine does not miss.
var inSilence = []string{"referee.fault.join", "referee.fault.choice", "referee.call.whole", "referee.reply.late", "manager.notify.silent"}

// inTime are the checks that measure how long answers take. They are made only of
// the mutants that are to fail them: with so many at once, all are slow.
var inTime = []string{"player.load.speed", "referee.load.speed", "manager.load.speed"}

// others is of how many checks one is made of a mutant that is to pass it, apart from
// those of the subject of its fault and what they need. Which ones differs from mutant
// to mutant. Checks that measure are made after all others.
const others = 24

// wholeSuites says that all are made of each.
var wholeSuites = os.Getenv("WHOLE_TESTS") != ""

// checksOf are those that are made of a mutant: all of them if those that were drawn
// have not shown its fault.
func checksOf(role kit.Role, mu mutant) []string {
	all := conformance.Checks(role)
	first := slices.IndexFunc(all, func(c kit.Check) bool { return c.ID == mu.check })
	subject := mu.check[:strings.LastIndex(mu.check, ".")+1]
	whole := wholeSuites || mu.scale > 1 || slices.Contains(inTime, mu.check)
	chosen := make(map[string]bool)
	for i, c := range slices.Backward(all) { // what a check needs is before it
		apart := slices.Contains(inTime, c.ID) || slices.Contains(inSilence, c.ID) && !slices.Contains(inSilence, mu.check)
		drawn := whole || strings.HasPrefix(c.ID, subject) || i%others == first%others
		if c.ID != mu.check && (apart || !drawn && !chosen[c.ID]) {
			delete(chosen, c.ID)
			continue
		}
		chosen[c.ID] = true
		for _, id := range c.Needs {
			chosen[id] = true
		}
		if c.Recorded {
			chosen[string(role)+".hostile.then"] = true
		}
	}
	return slices.Collect(maps.Keys(chosen))
}
