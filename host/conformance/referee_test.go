package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// Times of a referee under test. Players that do not answer spend a deadline, and
// checks of agents that fall silent a timeout; elsewhere both are for a machine
// that is busy.
const (
	refereeDeadline = 2 * time.Second
	refereePatience = 30 * time.Second
	refereeTimeout  = 30 * time.Second
	silenceTimeout  = 6 * time.Second
	playerSilence   = 4 * time.Second // of players, which pause for less
)

func newReferee(mode protocol.Mode, s scale, deadline time.Duration, url, manager string, trip jsonrpc.RoundTripper) (*referee.Referee, func() error, error) {
	client := jsonrpc.NewClient(trip, jsonrpc.ClientConfig{})
	r, err := referee.New(referee.Config{
		Config: agent.Config{
			Endpoint: url,
			Manager:  wire.NewPeer(manager, dialect.Contracts),
			Mode:     mode,
			Name:     "Rhadamanthys",
			Caller:   &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)},
			Timeout:  s.of(refereeTimeout),
			Backoff:  game.Backoff{Retries: 3, First: s.of(100 * time.Millisecond), Most: s.of(400 * time.Millisecond)},
		},
		JoinTimeout:   s.of(deadline),
		ChoiceTimeout: s.of(deadline),
		Verifiable:    true,
	})
	return r, client.Close, err
}

// serveReferee serves a referee as the program does.
func serveReferee(mode protocol.Mode, scale scale) (*testAgent, error) {
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", jsonrpc.Config{Lenient: mode == protocol.Tolerant})
	if err != nil {
		return nil, err
	}
	s := &testAgent{url: srv.URL()}
	s.run = func(ctx context.Context, manager string) error {
		r, closeClient, err := newReferee(mode, scale, refereeDeadline, s.url, manager, jsonrpc.OverHTTP())
		if err != nil {
			return errors.Join(err, srv.Close())
		}
		return errors.Join(serving(ctx, r.Dispatcher(), srv.Serve, r.Run), closeClient())
	}
	return s, nil
}

// serving serves an agent while it runs.
func serving(ctx context.Context, h jsonrpc.Handler, serve func(context.Context, jsonrpc.Handler) error, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var served error
	var server sync.WaitGroup
	serves, end := context.WithCancel(context.WithoutCancel(ctx))
	server.Go(func() { served = serve(serves, h) })
	err := run(ctx)
	end()
	server.Wait()
	return errors.Join(err, served)
}

// mutatedReferee serves a referee behind a proxy that has a fault.
func mutatedReferee(mu mutant) (*testAgent, func(), error) {
	m, inner, srv, err := faultyProxy("referee", mu)
	if err != nil {
		return nil, nil, err
	}
	s := &testAgent{url: srv.URL + "/mcp", memory: m}
	s.run = func(ctx context.Context, manager string) error {
		out := &lasting{outgoing{RoundTripper: jsonrpc.OverHTTP(), mu: mu, m: m}}
		r, closeClient, err := newReferee(protocol.Tolerant, mu.scale, deadlineOf(mu), s.url, manager, out)
		if err != nil {
			return err
		}
		run := func(ctx context.Context) error {
			defer srv.Close() // a referee that leaves does not answer any more
			return r.Run(ctx)
		}
		return errors.Join(serving(ctx, r.Dispatcher(), inner.Serve, run), closeClient())
	}
	return s, srv.Close, nil
}

// deadlineOf is what players of a mutant are given.
func deadlineOf(mu mutant) time.Duration {
	if slices.Contains(inSilence, mu.check) {
		return refereeDeadline
	}
	return refereePatience
}

// lasting carries what an agent says, also what a mutant has kept for later.
type lasting struct{ outgoing }

func (l *lasting) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	next := func(body []byte) (*jsonrpc.Reply, error) {
		ctx := ctx
		if ctx.Err() != nil {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer stop()
		}
		changed := *out
		changed.Body = body
		if l.mu.media != "" {
			changed.Header = http.Header{"Content-Type": {l.mu.media}}
		}
		return l.RoundTripper.RoundTrip(ctx, &changed)
	}
	if l.mu.out == nil {
		return next(out.Body)
	}
	return l.mu.out(l.m, out.Body, next)
}

// examine runs the checks of a role against a testAgent.
func (s *testAgent) examine(role conformance.Role, change func(*conformance.Config)) (*conformance.Report, error) {
	ctx, stop := context.WithCancel(context.Background())
	defer func() {
		stop()
		s.joined.Wait()
	}()
	opts := conformance.Config{
		Role: role, URL: s.url, Timeout: refereeTimeout, Wait: 20 * time.Second,
		Listening: func(manager string) { s.joined.Go(func() { s.ended = s.run(ctx, manager) }) },
	}
	if change != nil {
		change(&opts)
	}
	r, err := conformance.Run(ctx, opts)
	if err != nil {
		return nil, err
	}
	stop()
	s.joined.Wait()
	return r, s.ended
}

// TestOwnReferee checks that our own referee follows every rule, over real sockets.
func TestOwnReferee(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r, err := withEnoughTime(func(scale scale) (*conformance.Report, error) {
				s, err := serveReferee(mode, scale)
				if err != nil {
					return nil, err
				}
				return s.examine(conformance.Referee, func(o *conformance.Config) { o.Busy, o.Timeout = true, scale.of(refereeTimeout) })
			}, allPassed)
			if err != nil {
				t.Fatal(err)
			}
			if !allPassed(r) {
				t.Errorf("failed %q, skipped %q\n%s", idsWith(r, conformance.Failed), idsWith(r, conformance.Skipped), explain(r))
			}
			if len(r.Outcomes) != len(conformance.Checks(conformance.Referee)) || r.Agent != "Rhadamanthys" || r.Dialect != dialect.Contracts.Name {
				t.Errorf("%d outcomes; it is %q and speaks %q", len(r.Outcomes), r.Agent, r.Dialect)
			}
		})
	}
}

// mutantsAtOnce is how many mutants are tried at the same time: they wait for
// most of their time.
const mutantsAtOnce = 28

// left says which mutants are left out: with the race detector every sixth is
// enough, since what agents do at once is the same in all of them.
func left(i int) bool { return raced && i%6 != 0 }

// longestFirst returns the indices of mutants, those first for which something
// waits.
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
func examineMutants(t *testing.T, role conformance.Role, mutants func() []mutant, try func(mutant) (*conformance.Report, error)) {
	t.Helper()
	all := mutants()
	type end struct {
		report *conformance.Report
		err    error
	}
	ends := make([]end, len(all))
	var tried sync.WaitGroup
	slots := make(chan struct{}, mutantsAtOnce)
	for _, i := range longestFirst(all) {
		if left(i) {
			continue
		}
		slots <- struct{}{}
		tried.Go(func() {
			defer func() { <-slots }()
			ends[i].report, ends[i].err = withEnoughTime(func(s scale) (*conformance.Report, error) {
				mu := mutants()[i] // which may remember what it has done
				mu.scale = s
				return try(mu)
			}, func(r *conformance.Report) bool {
				return slices.Equal(idsWith(r, conformance.Failed), []string{all[i].check})
			})
		})
	}
	tried.Wait()
	covered := map[string]bool{}
	for i, mu := range all {
		if covered[mu.check] {
			t.Errorf("two mutants for %s", mu.check)
		}
		covered[mu.check] = true
		if left(i) {
			continue
		}
		t.Run(mu.check, func(t *testing.T) {
			if ends[i].err != nil {
				t.Fatal(ends[i].err)
			}
			failsAlone(t, ends[i].report, mu.check)
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
	if failed := idsWith(r, conformance.Failed); !slices.Equal(failed, []string{check}) {
		t.Errorf("failed %q, want %q\n%s", failed, check, explain(r))
	}
	for _, o := range r.Outcomes {
		if o.Status == conformance.Failed && (o.Detail == "" || o.Advice == "" || len(o.Evidence) == 0) {
			t.Errorf("%s fails without reason, advice or evidence: %+v", o.ID, o)
		}
	}
}

// tryReferee checks a referee with a fault.
func tryReferee(mu mutant) (*conformance.Report, error) {
	s, stop, err := mutatedReferee(mu)
	if err != nil {
		return nil, err
	}
	defer stop()
	return s.examine(conformance.Referee, func(o *conformance.Config) {
		o.Busy, o.Only, o.Timeout = mu.busy, checksOf(conformance.Referee, mu), mu.timeout(refereeTimeout, silenceTimeout)
		o.Began = s.memory.begin
		if mu.busy { // and does not come back, for which it is waited in vain
			o.Wait = mu.scale.of(silenceTimeout)
		}
	})
}

// TestUnregisteredReferee checks a referee that does not register: what cannot be
// tested is left out, and said so.
func TestUnregisteredReferee(t *testing.T) {
	t.Parallel()
	s, stop, err := mutatedReferee(mutant{out: func(_ *memory, body []byte, next func([]byte) (*jsonrpc.Reply, error)) (*jsonrpc.Reply, error) {
		if of(body, refereeRegistration) {
			return refereeAcceptance(body), nil
		}
		return next(body)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	r, err := s.examine(conformance.Referee, func(o *conformance.Config) { o.Wait = 6 * time.Second })
	if err != nil {
		t.Fatal(err)
	}
	if failed := idsWith(r, conformance.Failed); len(failed) > 0 {
		t.Errorf("failed %q\n%s", failed, explain(r))
	}
	for _, o := range r.Outcomes {
		if o.Status == conformance.Skipped && o.Detail == "" {
			t.Errorf("%s is skipped without a reason", o.ID)
		}
	}
	if skipped := idsWith(r, conformance.Skipped); !slices.Contains(skipped, "referee.round.plays") || slices.Contains(skipped, "referee.hostile.json") {
		t.Errorf("skipped %q", skipped)
	}
}

// TestRefereeWithLongDeadlines checks a referee that gives players longer than
// anybody wants to wait: what depends on that is not tested, and said so.
func TestRefereeWithLongDeadlines(t *testing.T) {
	t.Parallel()
	s, stop, err := mutatedReferee(mutant{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	want := []string{"referee.call.whole", "referee.fault.choice", "referee.fault.join", "referee.reply.late"}
	r, err := s.examine(conformance.Referee, func(o *conformance.Config) {
		o.Only, o.Timeout = append([]string{"referee.round.plays"}, want...), 2*time.Second
	})
	if err != nil {
		t.Fatal(err)
	}
	skipped := idsWith(r, conformance.Skipped)
	slices.Sort(skipped)
	if failed := idsWith(r, conformance.Failed); failed != nil || !slices.Equal(skipped, want) {
		t.Errorf("failed %q, skipped %q, want %q\n%s", failed, skipped, want, explain(r))
	}
}
