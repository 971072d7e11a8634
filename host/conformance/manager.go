package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// managerSide is what a manager meets: the agents that register with it.
type managerSide struct {
	c          *counterpart
	members    []*member // players, then referees
	league     string    // that the manager named
	run        string    // makes names that nobody has
	season     *season   // once it was played
	begunEarly bool      // the manager began with nobody in the league

	board           // guards what follows, and who the members are
	heard   []*told // everything that the manager sent, in order
	order   int     // how much has been heard and answered
	given   []*fixture
	holding int  // messages that are not answered
	parting bool // everything was asked
	closing bool
}

// member is an agent of the counterpart.
type member struct {
	role     protocol.Role
	name     string // it signs with, until it has an id
	display  string
	station  *station
	id       string
	token    string
	verifier protocol.Verifier
	answer   *Answer // to its registration
}

// ownReferees is how many referees register.
const ownReferees = 2

// How many players register with a manager. With an odd number there are byes.
const (
	DefaultPlayers = 5
	MinPlayers     = 4
	MaxPlayers     = 20
)

// openManagerSide listens for what the manager sends to its agents.
func openManagerSide(ctx context.Context, c *counterpart) (side, error) {
	if err := c.awaitAgent(ctx); err != nil {
		return nil, err
	}
	s := &managerSide{c: c, run: jsonrpc.RandomID()[:8], board: newBoard()}
	for i := range c.opts.Players + ownReferees {
		m := &member{role: protocol.RolePlayer, name: fmt.Sprintf("player-%d", i+1)}
		if i >= c.opts.Players {
			m.role, m.name = protocol.RoleReferee, fmt.Sprintf("referee-%d", i-c.opts.Players+1)
		}
		m.display = fmt.Sprintf("Conformance %s %s", m.name, s.run)
		var err error
		if m.station, err = open(ctx, m.name, onAnyPort(c.opts.Listen)); err != nil {
			return nil, errors.Join(fmt.Errorf("listen as an agent of the league: %w", err), s.close())
		}
		m.station.onMessage(func(in *trace.Exchange) Said { return s.hear(m, in) })
		s.members = append(s.members, m)
	}
	s.players()[c.opts.Players-1].name = askedID
	return s, nil
}

// close implements side.
func (s *managerSide) close() error {
	s.mu.Lock()
	s.closing = true
	s.notify()
	s.mu.Unlock()
	var errs []error
	for _, m := range s.members {
		errs = append(errs, m.station.close())
	}
	return errors.Join(errs...)
}

// describe implements side.
func (s *managerSide) describe(r *Report) {
	r.Agent, r.Dialect = s.league, protocol.DialectContracts
}

// managerT is what a check of a manager works with.
type managerT struct {
	*T
	*managerSide
}

func forManager(run func(p managerT)) func(*T) {
	return func(t *T) { run(managerT{t, t.side.(*managerSide)}) }
}

func (s *managerSide) players() []*member { return s.members[:s.c.opts.Players] }

func (s *managerSide) referees() []*member { return s.members[s.c.opts.Players:] }

// send sends a message by the book.
func (p managerT) send(m protocol.Message) *Answer { return p.Send(letter{message: m}) }

// header is that of a message of an agent that has registered.
func (p managerT) header(m *member, t protocol.Type) protocol.Header {
	h := protocol.NewHeader(t, protocol.Sender(m.role, m.id), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = m.token, p.league
	return h
}

// application is the registration of a player.
func (p managerT) application(m *member) *protocol.LeagueRegisterRequest {
	return &protocol.LeagueRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, protocol.Sender(m.role, m.name), protocol.Timestamp(time.Now()), jsonrpc.RandomID()),
		Meta: protocol.PlayerMeta{
			DisplayName: m.display, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: m.station.url,
		},
	}
}

func (p managerT) refereeApplication(m *member) *protocol.RefereeRegisterRequest {
	return &protocol.RefereeRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeRefereeRegisterRequest, protocol.Sender(m.role, m.name), protocol.Timestamp(time.Now()), jsonrpc.RandomID()),
		Meta: protocol.RefereeMeta{
			DisplayName: m.display, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: m.station.url,
			MaxConcurrentMatches: protocol.Some(2),
		},
	}
}

// join registers an agent, and ends the check if it is turned away.
func (p managerT) join(m *member) {
	if m.id != "" {
		return
	}
	var idName string
	if m.role == protocol.RolePlayer {
		m.answer, idName = p.send(p.application(m)), "player_id"
		p.notBegun(m.answer)
		p.accepted(m.answer, protocol.TypeLeagueRegisterResponse)
	} else {
		m.answer, idName = p.send(p.refereeApplication(m)), "referee_id"
		p.notBegun(m.answer)
		p.accepted(m.answer, protocol.TypeRefereeRegisterResponse)
	}
	a := m.answer.Message
	if !protocol.Accepted(a.text("status")) {
		p.Fail("status is %s, want ACCEPTED", orMissing(a["status"]))
	}
	for _, name := range []string{idName, "auth_token", "league_id"} {
		if a.text(name) == "" {
			p.Fail("%s is %s, want a string", name, orMissing(a[name]))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.id, m.token = a.text(idName), a.text("auth_token")
	m.verifier = protocol.NewVerifier(m.token)
	p.league = a.text("league_id")
}

// notBegun skips a check that fails only because the manager began too early.
func (p managerT) notBegun(a *Answer) {
	if p.begunEarly && a.Refused {
		p.Skip("the league has begun already; see manager.start.early")
	}
}

// stranger is somebody who has not registered, with the endpoint of another.
func (p managerT) stranger(name string) *member {
	return &member{role: protocol.RolePlayer, name: name, display: fmt.Sprintf("Conformance %s %s", name, p.run), station: &station{url: "http://127.0.0.1:1/" + name}}
}

// asking is a query of a player, who registers before if it has not.
func (p managerT) asking(m *member, query string) *protocol.LeagueQuery {
	p.enrol()
	return &protocol.LeagueQuery{Header: p.header(m, protocol.TypeLeagueQuery), QueryType: query}
}

// data asks a query and returns what it yields.
func (p managerT) data(query string) fields {
	a := p.send(p.asking(p.players()[0], query))
	p.accepted(a, protocol.TypeLeagueQueryResponse)
	if got := a.Message.text("query_type"); got != query {
		p.Fail("query_type is %s, want %q", orMissing(a.Message["query_type"]), query)
	}
	data := object(a.Message["data"])
	if data == nil {
		p.Fail("data is %s, want an object", orMissing(a.Message["data"]))
	}
	return data
}
