package manager_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

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
	if s.role == protocol.RoleReferee {
		return &protocol.RefereeRegisterRequest{Header: s.header(protocol.TypeRefereeRegisterRequest), Meta: protocol.RefereeMeta{
			DisplayName: s.name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: s.url, MaxConcurrentMatches: protocol.Some(2),
		}}
	}
	return &protocol.LeagueRegisterRequest{Header: s.header(protocol.TypeLeagueRegisterRequest), Meta: protocol.PlayerMeta{
		DisplayName: s.name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: s.url,
	}}
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
	switch a := answer.(type) {
	case *protocol.RefereeRegisterResponse:
		s.id, s.token = a.RefereeID, a.AuthToken
	case *protocol.LeagueRegisterResponse:
		s.id, s.token = a.PlayerID, a.AuthToken
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
