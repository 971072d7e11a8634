package manager_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// patience is how long a test waits for what must happen before it fails, by the clock of a
// bubble; outside of one the tests end before.
const patience = time.Hour

// watched is a list that tests wait on.
type watched[T any] struct {
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
	deadline := time.NewTimer(patience)
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
			t.Fatalf("waited for %s; there are %d: %+v", what, len(items), items)
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
	srv, err := r.net.Listen(host, jsonrpc.Config{Lenient: true})
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

// start starts the league.
func (r *rig) start() {
	r.t.Helper()
	if err := r.m.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

// begin has n players register, runs the manager and starts the league.
func (r *rig) begin(n int) []*scripted {
	r.t.Helper()
	players := r.field(n)
	r.run()
	r.start()
	return players
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

// scripted is a player or a referee that does what a test says.
type scripted struct {
	r      *rig
	role   protocol.Role
	id     string
	name   string
	token  string
	url    string
	dialct *dialect.Dialect
	inbox  *watched[protocol.Message]

	mu    sync.Mutex
	named chan struct{}                  // closed when it knows its id
	react map[protocol.Type]wire.Handler // before the message is acknowledged
	stop  func()                         // ends its server and waits until it has ended
	calls *wire.Caller
}

// agent makes an agent that listens and has not registered.
func (r *rig) agent(role protocol.Role, name string) *scripted {
	r.t.Helper()
	s := r.silent(role, name)
	s.listen(name)
	return s
}

// silent makes an agent that does not listen.
func (r *rig) silent(role protocol.Role, name string) *scripted {
	return &scripted{
		r: r, role: role, name: name, dialct: dialect.Contracts, inbox: new(watched[protocol.Message]),
		react: make(map[protocol.Type]wire.Handler), named: make(chan struct{}), calls: r.caller(name),
	}
}

// listen serves the agent under a host name.
func (s *scripted) listen(host string) {
	s.r.t.Helper()
	endpoint := &wire.Dispatcher{
		Codec:   dialect.NewCodec(protocol.Strict),
		Sender:  func() string { return protocol.Sender(s.role, s.known()) },
		Now:     time.Now,
		Default: s.receive,
	}
	if s.dialct == dialect.Bare {
		endpoint.Codec = dialect.NewCodec(protocol.Tolerant)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.stop = func() {
		cancel()
		<-ended
	}
	s.url = s.r.serveThen(ctx, host, endpoint, func() { close(ended) })
	s.r.t.Cleanup(cancel)
}

// known is the id the agent has, or the name it gives itself.
func (s *scripted) known() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		return s.name
	}
	return s.id
}

// on says what the agent does with messages of a type. Nil brings back the acknowledgement.
func (s *scripted) on(t protocol.Type, h wire.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react[t] = h
}

func (s *scripted) receive(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := in.Decode()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	h := s.react[in.Type]
	s.mu.Unlock()
	if h != nil {
		if answer, err := h(ctx, in); answer != nil || err != nil {
			return answer, err
		}
	}
	s.inbox.add(m)
	about, _ := protocol.Describe(in.Type)
	ack := protocol.New(about.Answer).(*protocol.Ack)
	ack.Status = protocol.StatusAcknowledged
	if s.role == protocol.RolePlayer {
		ack.PlayerID = s.known()
	} else {
		ack.RefereeID = s.known()
	}
	return ack, nil
}

// header is that of a message by the agent.
func (s *scripted) header(t protocol.Type) protocol.Header {
	h := protocol.NewHeader(t, protocol.Sender(s.role, s.known()), protocol.Timestamp(time.Now()), s.name+"-"+string(t))
	if t != protocol.TypeLeagueRegisterRequest && t != protocol.TypeRefereeRegisterRequest {
		h.AuthToken, h.LeagueID = s.token, "cup"
	}
	return h
}

// call sends a message to the manager.
func (s *scripted) call(m protocol.Message) (protocol.Message, error) {
	return s.calls.Call(context.Background(), wire.NewPeer(s.r.url, s.dialct), m)
}

// application is the agent's registration.
func (s *scripted) application() protocol.Message {
	meta := protocol.PlayerMeta{DisplayName: s.name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: s.url}
	if s.role == protocol.RoleReferee {
		h := s.header(protocol.TypeRefereeRegisterRequest)
		return &protocol.RefereeRegisterRequest{Header: h, Meta: protocol.RefereeMeta{PlayerMeta: meta, MaxConcurrentMatches: protocol.Some(2)}}
	}
	return &protocol.LeagueRegisterRequest{Header: s.header(protocol.TypeLeagueRegisterRequest), Meta: meta}
}

// register registers the agent, which must succeed.
func (s *scripted) register() *scripted {
	s.r.t.Helper()
	answer, err := s.call(s.application())
	if err != nil {
		s.r.t.Fatalf("register %s: %v", s.name, err)
	}
	s.accepted(answer)
	return s
}

// accepted takes over id and token from the answer to a registration.
func (s *scripted) accepted(answer protocol.Message) {
	s.r.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		defer close(s.named)
	}
	if a, is := answer.(*protocol.RegisterResponse); is {
		s.id, s.token = a.PlayerID+a.RefereeID, a.AuthToken
	}
	if s.id == "" || s.token == "" {
		s.r.t.Fatalf("%s was not accepted: %+v", s.name, answer)
	}
}

func (r *rig) player(name string) *scripted {
	r.t.Helper()
	return r.agent(protocol.RolePlayer, name).register()
}

func (r *rig) referee(name string) *scripted {
	r.t.Helper()
	return r.agent(protocol.RoleReferee, name).register()
}

// conductor registers a referee that reports its matches as soon as they are announced.
func (r *rig) conductor(name string, v verdict) *scripted {
	r.t.Helper()
	return r.agent(protocol.RoleReferee, name).conducts(v).register()
}

// verdict is what a scripted referee reports of a match.
type verdict func(m protocol.AnnouncedMatch) protocol.MatchResult

// fair plays a match by coins that depend on its id only.
func fair(m protocol.AnnouncedMatch) protocol.MatchResult {
	var seed [32]byte
	copy(seed[:], m.MatchID)
	rng := rand.New(rand.NewChaCha8(seed))
	choice := func() game.Parity { return game.Even + game.Parity(rng.IntN(2)) }
	return result(m, choice(), choice(), 1+rng.IntN(10))
}

// result scores a match as a referee by the book does. NoParity is a player at fault.
func result(m protocol.AnnouncedMatch, a, b game.Parity, number int) protocol.MatchResult {
	side := func(p game.Parity) game.Side {
		if p == game.NoParity {
			return game.Side{Fault: game.FaultNoAnswer}
		}
		return game.Side{Choice: p}
	}
	v := game.Judge(side(a), side(b), number)
	return league.Match{
		Players: [2]string{m.PlayerAID, m.PlayerBID}, Choices: [2]game.Parity{a, b}, Number: number, Drawn: !v.Technical(),
		Results: [2]game.Result{v.ResultA, v.ResultB}, Points: [2]int{v.PointsA, v.PointsB},
	}.Result()
}

// reportOf is the report of a match.
func (s *scripted) reportOf(m protocol.AnnouncedMatch, round int, res protocol.MatchResult) *protocol.MatchResultReport {
	h := s.header(protocol.TypeMatchResultReport)
	h.RoundID, h.MatchID, h.GameType = protocol.RoundNumber(round), m.MatchID, protocol.GameEvenOdd
	return &protocol.MatchResultReport{Header: h, Result: res}
}

// conducts makes a referee report its matches as soon as they are announced.
func (s *scripted) conducts(v verdict) *scripted {
	s.on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		m, err := wire.Decode[*protocol.RoundAnnouncement](in)
		if err != nil {
			return nil, err
		}
		s.r.serving.Go(func() {
			<-s.named // the announcement may come before the answer to the registration
			for _, match := range s.own(m) {
				s.call(s.reportOf(match, m.RoundID.Number(), v(match))) // refused if it was reported before
			}
		})
		return nil, nil
	})
	return s
}

// own returns the referee's matches of an announcement.
func (s *scripted) own(m *protocol.RoundAnnouncement) []protocol.AnnouncedMatch {
	return slices.DeleteFunc(slices.Clone(m.Matches), func(e protocol.AnnouncedMatch) bool { return e.RefereeID != s.known() })
}

// got returns the messages of a type that the agent has been sent.
func got[M protocol.Message](messages []protocol.Message) []M {
	var found []M
	for _, m := range messages {
		if typed, ok := m.(M); ok {
			found = append(found, typed)
		}
	}
	return found
}

// announcements waits until an agent has been informed of rounds n times, and
// returns what it was told last.
func (s *scripted) announcements(n int) *protocol.RoundAnnouncement {
	s.r.t.Helper()
	all := s.inbox.wait(s.r.t, fmt.Sprintf("%s to hear of a round %d times", s.known(), n), func(ms []protocol.Message) bool {
		return len(got[*protocol.RoundAnnouncement](ms)) >= n
	})
	return got[*protocol.RoundAnnouncement](all)[n-1]
}

// query is a question to the manager.
func (s *scripted) query(kind string) *protocol.LeagueQuery {
	return &protocol.LeagueQuery{Header: s.header(protocol.TypeLeagueQuery), QueryType: kind}
}
