// Package manager checks a manager: the suite is the players and referees of
// its league.
package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// The checks that others need.
const (
	registersEveryone = "manager.register.all"
	survivesInput     = "manager.hostile.then"
	assignsMatches    = "manager.round.given"
)

// Players is how many players register with a manager. With an odd number there
// are byes.
const (
	DefaultPlayers = 5
	MinPlayers     = 4
	MaxPlayers     = 20
)

const referees = 2

// wantedID is the id that the last player asks for: free, and with one digit in
// small leagues, because some managers know no others.
func (p *peers) wantedID() string { return fmt.Sprintf("P%02d", p.session.Players+3) }

// peers are the agents that register with the manager, and what they record.
type peers struct {
	session  *kit.Session
	agents   []*member                          // players, then referees
	leagueID string                             // as the manager calls it
	desk     *kit.Record                        // of registrations
	joining  map[protocol.Role]*agent.Registrar // how the agents of a role register
	run      string                             // makes names unique
	league   *league                            // once it was played
	play     func(T)                            // plays it
	life     context.Context                    // of the suite
	end      context.CancelFunc
	posting  sync.WaitGroup // what players send by themselves
	adopted  string         // the check by which the last player was registered, if any
	tooEarly bool           // the manager started a league without agents

	kit.Monitor // guards what follows, and who the agents are
	messages    []*message
	events      int // counts arrivals and answers of messages
	matches     []*match
	seats       map[string]*seat // by match and player
	answers     agent.AnswerDialects
	holding     int  // messages that are not answered yet
	finished    bool // nothing more will be asked
	closing     bool
}

// position returns the index of a player among those that registered.
func (p *peers) position(id string) int {
	return slices.IndexFunc(p.players(), func(a *member) bool { return a.id == id })
}

// seat is a player's part in a match that the manager's own referee conducts.
type seat struct {
	joins   int           // times that it has accepted the invitation
	called  chan struct{} // closed with the first call
	answers int           // to calls
	form    string        // in which its answers are given, as agent.AnswerDialects has it
	posted  bool          // it has sent its join as a message of its own
	counted bool          // it is known whether its choice counts
}

// member is a player or a referee of the suite.
type member struct {
	role     protocol.Role
	name     string // it signs with, until it has an id
	display  string
	endpoint *kit.Endpoint
	also     []*kit.Endpoint // where some referees call it by its id
	id       string
	token    string
	verifier credential.Verifier
	answer   *kit.Answer // to its registration
	first    *kit.Answer // to its first attempt, exactly as the protocol says for the first agent of a role
}

// called returns the id of an agent, or its name while it has none.
func (a *member) called() string {
	if a.id == "" {
		return a.name
	}
	return a.id
}

type message struct {
	*trace.Exchange
	to       *member
	id       string // of the agent, when it arrived
	token    string // likewise
	typ      protocol.Type
	fields   kit.Fields   // without its wrapping
	matches  []kit.Fields // of an announcement, or the match that is assigned
	assigned bool         // it assigns a single match
	round    int          // 0 if it names none
	n        int          // its position among those of its type and round to the agent, from 1
	refused  bool         // the agent did not accept it
	answered bool
	arrival  int // peers.events when it arrived
	reply    int // and when it was answered
}

// match is a match that the manager has assigned to a referee.
type match struct {
	id      string
	round   int
	players [2]string
	referee *member  // guarded by the peers' lock, because it may change
	by      *message // that assigned it
	result  *result  // once it was reported
}

type result struct {
	players [2]string
	sides   [2]game.Side
	number  int // drawn, unless a side is at fault
	verdict game.Verdict
}

// winner returns the id of the winner, "" without one.
func (r *result) winner() string {
	if i := slices.Index([]game.Result{r.verdict.ResultA, r.verdict.ResultB}, game.Win); i >= 0 {
		return r.players[i]
	}
	return ""
}

// league is the one league that the manager runs for the suite. The first check
// that needs it plays it from start to end; the checks then read the record.
type league struct {
	selfStarted   bool   // it began before anybody started it
	stopped       string // why it did not end, or not begin; empty if it ended
	refusedReport bool   // because a report was refused
	rounds        []*round
	probes        map[string]*probe
	missing       map[string]string // why a probe was not made
	results       []*result         // as reported
	countedTwice  string            // the probe that shows a report counted twice
	spoiled       string            // the probe that was accepted and should not have been: from then on nobody knows what the standings should be
	roundEnds     []protocol.Type   // the messages with which the manager ends rounds
	incomplete    bool              // it does not send all of them to everybody
	took          []time.Duration   // by the answers to probes
}

type round struct {
	number  int
	last    int // peers.events before its last report
	closed  int // peers.events at its end
	results int // matches reported until then
	spoiled bool
	matches []*match
	report  *probe // its last report
}

// probe is a request that was sent during the league, and its answer.
type probe struct {
	answer   *kit.Answer
	evidence []kit.Evidence
}

// crowd are the queries that arrive at the same time as two reports.
var crowd = slices.Repeat([]string{protocol.QueryStandings, protocol.QueryStatus, protocol.QuerySchedule, protocol.QueryNextMatch}, 3)

// T is the handle of a running check of a manager.
type T struct {
	*kit.T
	*peers
}

func with(t *kit.T) T { return T{t, t.Peers.(*peers)} }

func check(id string, level kit.Level, needs []string, rule, advice string, test func(t T)) kit.Check {
	return kit.Check{ID: id, Level: level, Needs: needs, Rule: rule, Advice: advice, Run: func(t *kit.T) { test(with(t)) }}
}

// leagueCheck is a check that reads the record of the league. A manager that
// does not survive bad input plays none.
func leagueCheck(name string, level kit.Level, rule, advice string, test func(t T)) kit.Check {
	return recorded(check("manager."+name, level, []string{registersEveryone}, rule, advice, test))
}

func recorded(c kit.Check) kit.Check {
	c.Unless, c.Recorded = []string{survivesInput}, true
	return c
}

// Close implements kit.Peers.
func (p *peers) Close() error {
	p.Lock()
	p.closing = true
	p.Notify()
	p.Unlock()
	var errs []error
	p.end()
	for _, a := range p.agents {
		for _, e := range append(a.also, a.endpoint) {
			errs = append(errs, e.Close())
		}
	}
	p.posting.Wait()
	return errors.Join(errs...)
}

// Describe implements kit.Peers.
func (p *peers) Describe() (string, string) {
	return p.leagueID, p.session.Peer().Speaks().Name
}

func (p *peers) players() []*member { return p.agents[:p.session.Players] }

func (p *peers) referees() []*member { return p.agents[p.session.Players:] }

// withID returns the agent that has an id, or nil.
func (p *peers) withID(id string) *member {
	for _, a := range p.agents {
		if a.id == id && id != "" {
			return a
		}
	}
	return nil
}

// refereeOf returns the referee that a match was last assigned to.
func (p *peers) refereeOf(m *match) *member {
	p.Lock()
	defer p.Unlock()
	return m.referee
}

// shortDelay is how long a slow agent takes, which is less than any manager
// waits, and how long the suite waits for what should not come.
func (p *peers) shortDelay() time.Duration {
	return min(p.session.Timeout/20, 250*time.Millisecond)
}

// patience is how long the suite waits for what the manager must do unasked,
// after a pause that the protocol allows.
func (p *peers) patience() time.Duration { return p.session.Timeout + kit.LongestPause }

// send sends a message in the way in which the manager takes its type.
func (t T) send(m protocol.Message) *kit.Answer {
	return t.Send(kit.Request{Message: m})
}

func (t T) header(a *member, typ protocol.Type) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(a.role, a.id), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = a.token, t.leagueID
	return h
}

func (t T) registration(a *member) *protocol.LeagueRegisterRequest {
	return &protocol.LeagueRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, protocol.Sender(a.role, a.name), protocol.Timestamp(time.Now()), jsonrpc.RandomID()),
		Meta: protocol.PlayerMeta{
			DisplayName: a.display, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: a.endpoint.URL,
		},
	}
}

func (t T) refereeRegistration(a *member) *protocol.RefereeRegisterRequest {
	return &protocol.RefereeRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeRefereeRegisterRequest, protocol.Sender(a.role, a.name), protocol.Timestamp(time.Now()), jsonrpc.RandomID()),
		Meta: protocol.RefereeMeta{
			DisplayName: a.display, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: a.endpoint.URL,
			MaxConcurrentMatches: protocol.Some(2),
		},
	}
}

// newcomer is a player that has not registered.
func (t T) newcomer(name string) *member {
	return &member{
		role: protocol.RolePlayer, name: name, display: fmt.Sprintf("Conformance %s %s", name, t.run),
		endpoint: &kit.Endpoint{URL: "http://127.0.0.1:1/" + name},
	}
}

// startLeague returns START_LEAGUE with an admin token, or without one.
func (t T) startLeague(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, protocol.Sender(protocol.RoleLauncher, ""), protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = token, t.leagueID
	return &protocol.StartLeague{Header: h}
}

// accepts reports whether an answer accepts the request.
func accepts(a *kit.Answer) bool {
	return !a.Refused && a.Err == nil && a.Document != nil && a.Status < 300
}

// duplicate reports whether a refusal says that the result is known.
func duplicate(a *kit.Answer) bool {
	return a.Code == 5003 || protocol.Code(a.Message.Text("error_code")) == protocol.CodeDuplicateReport
}

// registered returns the agents that have registered.
func (p *peers) registered() []*member {
	return slices.DeleteFunc(slices.Clone(p.agents), func(a *member) bool { return a.id == "" })
}

// conducts reports whether the manager plays the matches itself: it has accepted
// no referee.
func (p *peers) conducts() bool {
	return !slices.ContainsFunc(p.referees(), func(a *member) bool { return a.id != "" })
}

// conductsMatches is why checks of reports are not made.
const conductsMatches = "the manager accepts no referee and plays the matches itself, so nothing is reported to it"

// reported skips a check of results in a league whose results the suite does not
// know.
func (t T) reported() {
	if t.conducts() {
		t.Skip(conductsMatches)
	}
}

// query returns a query of an agent; all agents register before it.
func (t T) query(a *member, query string) *protocol.LeagueQuery {
	t.registerAll()
	return &protocol.LeagueQuery{Header: t.header(a, protocol.TypeLeagueQuery), QueryType: query}
}

// ask sends a query of the first player.
func (t T) ask(query string) *kit.Answer { return t.send(t.query(t.players()[0], query)) }

// dataOf returns the data in the answer to a query.
func (t T) dataOf(a *kit.Answer) kit.Fields {
	t.Accepted(a, protocol.TypeLeagueQuery.Answer())
	data := a.Message.Object("data")
	if data == nil {
		t.Fail("data is %s, want an object", a.Message.Shown("data"))
	}
	return data
}

// pairs returns how many matches a leg has.
func (p *peers) pairs() int { return len(p.players()) * (len(p.players()) - 1) / 2 }

// endSent reports whether every agent was sent LEAGUE_COMPLETED. The lock is
// held.
func (p *peers) endSent() bool {
	return !slices.ContainsFunc(p.registered(), func(to *member) bool {
		return !slices.ContainsFunc(p.messages, func(m *message) bool { return m.to == to && m.typ == protocol.TypeLeagueCompleted })
	})
}
