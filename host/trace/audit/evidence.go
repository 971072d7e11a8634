package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Evidence is the content of the recorded messages of one league. It is for one
// goroutine at a time.
type Evidence struct {
	League  string // its id, empty if no message has it
	Matches []*Match
	Tables  []Table

	name      string // under which it is announced
	run       int    // of its last exchange
	seen      int    // index of the exchange that is being read
	completed bool
	champion  *protocol.Champion
	people    people
	rounds    map[int][]string // the matches of an announced round, as its announcements list them
	strays    []string         // descriptions of unexpected messages
	byID      map[string]*Match
	players   map[string]bool // in the announced schedule
	unread    []string        // results in a form that nobody can read
}

// Match is the content of the messages about one match.
type Match struct {
	ID      string
	Round   int       // 0 if unknown
	Players [2]string // PLAYER_A and PLAYER_B, empty if unknown

	announced bool
	again     bool // it was played more than once; this is one of the times
	exchanges []*trace.Exchange
	at        []int             // the indices of exchanges
	channels  map[string]string // players by channel
	calls     []choiceCall
	answers   []answer
	timeouts  []timeoutClaim
	results   []Result

	offered     bool // a player asked for a verifiable draw
	commitments []commitment
	nonces      map[string]string // by player
}

// Table is the standings as one message states them.
type Table struct {
	Round int // after this round; 0 if unknown
	Final bool
	Rows  []protocol.Standing

	at int // index of the message
}

func newEvidence(name string, run int) *Evidence {
	return &Evidence{
		League: name, name: name, run: run, people: newPeople(),
		rounds: map[int][]string{}, byID: map[string]*Match{}, players: map[string]bool{},
	}
}

func (e *Evidence) add(x *trace.Exchange) {
	switch m := x.Request.(type) {
	case nil:
		if x.Type == protocol.TypeGameOver || x.Type == protocol.TypeMatchResultReport {
			e.unread = append(e.unread, x.Match)
		}
	case *protocol.LeagueRegisterRequest:
		e.people.registered(x, m)
	case *protocol.RoundAnnouncement:
		e.roundAnnouncement(x, m)
	case *protocol.LeagueQuery:
		e.queriedSchedule(x)
	case *protocol.GameInvitation:
		e.invitation(x, m)
	case *protocol.ChooseParityCall, *protocol.ChooseParityResponse, *protocol.GameJoinAck, *protocol.GameError, *protocol.GameOver, *protocol.MatchResultReport:
		e.match(m.Head().MatchID, m.Head().RoundID.Number()).note(e.seen, x)
	case *protocol.LeagueStandingsUpdate:
		e.table(Table{Round: m.RoundID.Number(), Rows: m.Standings})
	case *protocol.LeagueCompleted:
		if m.Champion != nil {
			e.champion = m.Champion
		}
		e.table(Table{Final: true, Rows: m.FinalStandings})
		e.completed = true
	}
}

// match returns the match with an id and adds it if it is new.
func (e *Evidence) match(id string, round int) *Match {
	m := e.byID[id]
	if m == nil {
		m = &Match{ID: id}
		e.byID[id] = m
		e.Matches = append(e.Matches, m)
	}
	if m.Round == 0 {
		m.Round = round
	}
	return m
}

// note keeps an exchange about a match until the players are known.
func (m *Match) note(at int, x *trace.Exchange) {
	m.exchanges, m.at = append(m.exchanges, x), append(m.at, at)
}

// decided reports whether a result of the match was recorded.
func (m *Match) decided() bool {
	return slices.ContainsFunc(m.exchanges, func(x *trace.Exchange) bool {
		return x.Type == protocol.TypeGameOver || x.Type == protocol.TypeMatchResultReport
	})
}

// replayed returns a match for messages that begin it again although it has a
// result, as after the death of a referee, and m itself before it has one.
func (e *Evidence) replayed(m *Match) *Match {
	if !m.decided() {
		return m
	}
	m.again = true
	next := &Match{ID: m.ID, Round: m.Round, Players: m.Players, again: true}
	e.byID[m.ID] = next
	e.Matches = append(e.Matches, next)
	return next
}

// table adds a table, once for all players it was sent to.
func (e *Evidence) table(t Table) {
	for _, row := range t.Rows {
		e.people.know(row.PlayerID, "")
	}
	t.at = e.seen
	if n := len(e.Tables); n > 0 && e.Tables[n-1].Round == t.Round && e.Tables[n-1].Final == t.Final && sameRows(e.Tables[n-1].Rows, t.Rows) {
		return
	}
	e.Tables = append(e.Tables, t)
}

func sameRows(a, b []protocol.Standing) bool {
	return slices.EqualFunc(a, b, func(x, y protocol.Standing) bool {
		return x.PlayerID == y.PlayerID && x.Rank == y.Rank && x.Points == y.Points
	})
}

func (e *Evidence) roundAnnouncement(x *trace.Exchange, m *protocol.RoundAnnouncement) {
	var ids []string
	for _, a := range m.Matches {
		e.pair(a.MatchID, m.RoundID.Number(), a.PlayerAID, a.PlayerBID)
		e.people.know(a.PlayerAID, a.PlayerAEndpoint)
		e.people.know(a.PlayerBID, a.PlayerBEndpoint)
		ids = append(ids, a.MatchID)
	}
	if !x.Assignment {
		e.round(m.RoundID.Number(), ids)
	}
}

// round notes the matches of a round. Announcements with different matches are
// each a part of a round, for one receiver.
func (e *Evidence) round(number int, ids []string) {
	slices.Sort(ids)
	list := strings.Join(ids, " ")
	if list != "" && !slices.Contains(e.rounds[number], list) {
		e.rounds[number] = append(e.rounds[number], list)
	}
}

// queriedSchedule reads the schedule from the answer to a query.
func (e *Evidence) queriedSchedule(x *trace.Exchange) {
	a, ok := x.Answer.(*protocol.LeagueQueryResponse)
	if !ok || a.QueryType != protocol.QuerySchedule {
		return
	}
	data, err := protocol.ReadData[protocol.ScheduleData](a)
	if err != nil {
		return
	}
	for _, r := range data.Rounds {
		for _, m := range r.Matches {
			e.pair(m.MatchID, r.RoundID.Number(), m.PlayerAID, m.PlayerBID)
		}
	}
}

// pair notes an announced match. A name that is missing stays unknown.
func (e *Evidence) pair(id string, round int, a, b string) {
	m := e.match(id, round)
	was, is := m.Players, [2]string{a, b}
	if a == "" || b == "" {
		m.announced = true
		return
	}
	if m.known() && (!m.has(a) || !m.has(b)) {
		if m.decided() {
			m = e.replayed(m)
		} else if m.announced {
			e.stray("match %s was announced between %s and %s, then between %s and %s", id, was[0], was[1], a, b)
		}
	}
	m.announced, m.Players = true, is
	e.players[a], e.players[b] = true, true
}

func (e *Evidence) invitation(x *trace.Exchange, m *protocol.GameInvitation) {
	match := e.replayed(e.match(m.MatchID, m.RoundID.Number()))
	if e.completed {
		e.stray("the invitation to match %s was sent after the end of the league", m.MatchID)
	}
	match.note(e.seen, x)
}

// settle interprets the exchanges of all matches, now that the recording has
// shown everything about who is who.
func (e *Evidence) settle() {
	for _, m := range e.Matches {
		e.identify(m)
		for i, x := range m.exchanges {
			e.interpret(m, m.at[i], x)
		}
		if e.unlisted(m) {
			e.stray("match %s was played in round %d but not announced: the announcement lists %s", m.ID, m.Round, e.rounds[m.Round][0])
		}
	}
}

// unlisted reports whether a match was played in a round whose announcement does
// not list it. An announcement of a part of a round tells nothing.
func (e *Evidence) unlisted(m *Match) bool {
	for _, lists := range e.rounds {
		if len(lists) > 1 {
			return false
		}
	}
	return !m.announced && !m.again && m.Round > 0 && len(e.rounds[m.Round]) == 1 &&
		slices.ContainsFunc(m.exchanges, func(x *trace.Exchange) bool { return x.Type == protocol.TypeGameInvitation })
}

// maxStrays is the largest number of unexpected messages that are described.
const maxStrays = 100

func (e *Evidence) stray(format string, args ...any) {
	if len(e.strays) < maxStrays {
		e.strays = append(e.strays, fmt.Sprintf(format, args...))
	}
}
