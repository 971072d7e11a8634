// Package manager checks a manager: our own players and referees play its league,
// behind taps that record, misbehave, and send more than they do.
package manager

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

//go:embed checks.json
var checks []byte

// Suite returns the checks of a manager, in the order in which they run: those before the start of
// the league come first, then those that read the record of the league.
func Suite() kit.Suite {
	return kit.Suite{Open: open, Checks: kit.Checks(kit.Manager, checks,
		kit.SampleTests(sample), kit.DialectTests(sample), kit.AttackTests(kit.Attacks("report_match_result"), sample),
		kit.For(with, registrationTests, startTests, queryTests, authTests, sentTests, tableTests, reportTests, refusalTests()),
		map[string]func(*kit.T){
			"fields.unknown": func(t *kit.T) {
				r := sample(t)
				r.Edit = kit.Set("x_weather", "sunny")
				t.NeedsAccepted()
				t.Accepted(t.Send(r), "")
			},
			"hostile.then": func(t *kit.T) {
				if a := t.Send(sample(t)); a.Err != nil || !t.Control(a) {
					t.Accepted(a, "")
				}
			},
		})}
}

// Players is how many players register with a manager. With an odd number there are byes.
const (
	DefaultPlayers = 5
	MinPlayers     = 4
	MaxPlayers     = 20
)

const referees = 2

// wantedID is the id that the last player asks for: free, and with one digit in
// small leagues, because some managers know no others.
func (p *peers) wantedID() string { return fmt.Sprintf("P%02d", p.Session.Players+3) }

// peers are our agents, which register with the manager. It runs one league for the suite. The
// first check that needs it plays it from start to end; the checks then read the record.
type peers struct {
	*kit.Company
	agents   []*member // players, then referees
	run      string    // makes names unique
	playing  *kit.T    // plays the league; nil before
	tooEarly bool      // the manager started a league without agents

	turn          sync.Mutex // held by who sends reports and probes in the league; guards what follows
	selfStarted   bool       // it began before anybody started it
	closed        bool       // nothing is added any more
	stopped       string     // why it did not end, or not begin; empty if it ended
	refusedReport bool       // because a report was refused
	rounds        []*round
	answers       map[string]*kit.Answer // to requests that were sent during the league, by name; empty of those that were not sent
	missing       map[string]string      // why not
	reported      []*match               // in order
	known         int                    // until where in the log it is known what standings should be
	spoiled       string                 // the probe that was accepted and should not have been: from then on nobody knows
	incomplete    bool                   // it does not send everybody what ends a round
	oneByOne      bool                   // it does not assign the matches of a round together

	kit.Monitor            // guards what follows, and who the agents are
	leagueID    string     // as the manager calls it
	log         []*message // what was sent, in order
	matches     []*match
	announced   map[int]int // how many matches of a round players were told of
	busy        int         // messages of agents, and to them, that are not answered yet on purpose
	finished    bool        // nothing more will be asked
}

// message is one that an agent was sent or, in its place in the log, a report or an answer.
type message struct {
	kit.Message
	to      *member                   // nil for a report, or an answer
	matches []protocol.AnnouncedMatch // of an announcement, or the match that is assigned
	round   int                       // 0 if it names none
	n       int                       // its position among those of its type and round to the agent, from 1
	refused bool                      // it was not accepted
	arrival int                       // its position in the log, from 1
	reply   int                       // that of the last message before its answer; 0 without one
}

// match is a match that the manager has assigned to a referee.
type match struct {
	id      string
	round   int
	players [2]string
	by      *message // that assigned it
	referee *member  // that was assigned it or, later, that has reported it; nil for one of the manager

	// What follows is guarded by the peers' lock.
	sent     *message // the report
	reported bool     // and accepted
}

// report returns the report of a match.
func (m *match) report() *report { return m.sent.Request.(*report) }

// winner returns the id of the winner of a match that was reported, "" without one.
func (m *match) winner() string { return m.report().Result.Winner.Value() }

type round struct {
	number  int
	last    int  // the length of the log before its last report
	closed  int  // and at its end
	final   bool // it is the last
	matches []*match
	report  *kit.Answer // to its last report
}

// spoil says by which check nobody knows any more what the standings should be.
func (p *peers) spoil(check string) { p.spoiled = cmp.Or(p.spoiled, check) }

// T is the handle of a running check of a manager.
type T struct {
	*kit.T
	*peers
}

func with(t *kit.T) T { return T{t, t.Peers.(*peers)} }

// Name implements kit.Peers.
func (p *peers) Name() string { return p.leagueID }

func (p *peers) players() []*member { return p.agents[:p.Session.Players] }

// lastPlayer is the player that registers when the league is played.
func (p *peers) lastPlayer() *member { return p.agents[p.Session.Players-1] }

func (p *peers) referees() []*member { return p.agents[p.Session.Players:] }

// withID returns the agent that has an id, or nil.
func (p *peers) withID(id string) *member {
	return find(p.agents, func(a *member) bool { return a.ID == id && id != "" })
}

// match returns the match with an id, or nil. The lock is held.
func (p *peers) match(id string) *match {
	return find(p.matches, func(m *match) bool { return m.id == id })
}

// find returns the first that is as wanted, or nil.
func find[E any](all []*E, is func(*E) bool) *E {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

func count[E any](all []E, is func(E) bool) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(x E) bool { return !is(x) }))
}

// shortDelay is how long a slow agent takes, which is less than any manager
// waits, and how long the suite waits for what should not come.
func (p *peers) shortDelay() time.Duration {
	return min(p.Session.Timeout/20, 250*time.Millisecond)
}

// header returns that of a message from an agent, or another sender with a token.
func (t T) header(typ protocol.Type, sender, token string) protocol.Header {
	h := protocol.NewHeader(typ, sender, protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = token, t.leagueID
	return h
}

// registration returns that of a player by a name, at an endpoint.
func (t T) registration(name, display, endpoint string) *application {
	h := t.header(protocol.TypeLeagueRegisterRequest, protocol.Sender(protocol.RolePlayer, name), "")
	h.LeagueID = ""
	return &application{Header: h, Meta: protocol.PlayerMeta{
		DisplayName: display, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: endpoint,
	}}
}

// startLeague returns START_LEAGUE with an admin token, or without one.
func (t T) startLeague(token string) *protocol.StartLeague {
	return &protocol.StartLeague{Header: t.header(protocol.TypeStartLeague, string(protocol.RoleLauncher), token)}
}

// registered returns the agents that have registered.
func (p *peers) registered() []*member {
	return slices.DeleteFunc(slices.Clone(p.agents), func(a *member) bool { return a.ID == "" })
}

// conducts reports whether the manager plays the matches itself: it has accepted no referee.
func (p *peers) conducts() bool {
	return !slices.ContainsFunc(p.referees(), func(a *member) bool { return a.ID != "" })
}

// mixed reports whether other referees conduct matches, too.
func (p *peers) mixed() bool {
	return slices.ContainsFunc(p.matches, func(m *match) bool { return m.referee == nil })
}

// conductsMatches is why checks of reports are not made.
const conductsMatches = "the manager accepts no referee and plays the matches itself, so nothing is reported to it"

// pairs returns how many matches a leg has.
func (p *peers) pairs() int { return len(p.players()) * (len(p.players()) - 1) / 2 }
