package judge

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// League is what exchanges say of one league. It is for one goroutine at a time.
type League struct {
	ID      string // empty if no message has it
	matches []*match
	results []*result // of all of them, in order
	tables  []*table

	announced, ended []*trace.Exchange // of rounds

	name      string // under which it is announced
	run       int    // of its last exchange
	seen      int    // index of the exchange that is being read
	last      int    // index of the last result or table
	completed bool
	reported  bool // the manager received results
	people    people
	// rounds has the matches of an announced round, as its announcements list them. Several
	// lists are parts, for one receiver each.
	rounds  map[int][]string
	parts   bool    // a round has several lists
	strays  Verdict // unexpected messages; elsewhere a referee may have ids of its own, or the manager change its mind
	byID    map[string]*match
	players map[string]bool // in the announced schedule
	unread  int             // results in a form that nobody can read
}

// match is the content of the messages about one match.
type match struct {
	ID      string
	Round   int       // 0 if unknown
	Players [2]string // PLAYER_A and PLAYER_B, empty if unknown

	announced bool
	decided   bool // a result was recorded
	heard     int  // index of its last announcement
	again     bool // it was played more than once; this is one of the times
	at        int  // index of the first exchange
	exchanges []*trace.Exchange
	channels  map[string][]string // players by channel
	calls     []*choiceCall
	answers   map[string][]*answer // with a choice, by player
	results   []*result

	offered     bool              // a player asked for a verifiable draw
	restarted   bool              // a player was invited again after a commitment
	commitments map[string]string // hashes, by player
	nonces      map[string]string // by player
	draws       []VerifiableDraw
}

// table is the standings as one message states them.
type table struct {
	Round    int // after this round; 0 if unknown
	Final    bool
	Rows     []protocol.Standing
	Champion string // of a final table, its id; empty if none is named

	x  *trace.Exchange
	at int // its index

	rows, ranked []*row // all, and those with a rank in its order
	total        int    // matches of all rows
	counted      bool   // each row says how many it has
	ordered      bool   // it is known how every match in it ended, and what is ranked counts all of them
}

func (l *League) add(x *trace.Exchange) {
	var about *match
	switch m := x.Request.(type) {
	case nil:
		if isResult(x) {
			l.unread++
		}
	case *protocol.LeagueRegisterRequest:
		l.people.registered(x, m)
	case *protocol.RoundAnnouncement:
		l.roundAnnouncement(x, m)
	case *protocol.LeagueQuery:
		l.queried(x, m.QueryType)
	case *protocol.RoundCompleted:
		l.ended = append(l.ended, x)
	case *protocol.GameInvitation:
		about = l.invitation(x, m)
	case *protocol.ChooseParityCall, *protocol.ChooseParityResponse, *protocol.GameJoinAck, *protocol.GameError, *protocol.GameOver, *protocol.MatchResultReport:
		about = l.match(m.Head().MatchID, m.Head().RoundID.Number())
		if isResult(x) {
			l.last, about.decided = l.seen, true
			l.reported = l.reported || x.Type == protocol.TypeMatchResultReport && !x.Sent
		}
	case *protocol.LeagueStandingsUpdate:
		l.table(&table{Round: m.RoundID.Number(), Rows: m.Standings, x: x})
	case *protocol.LeagueCompleted:
		t := &table{Final: true, Rows: m.FinalStandings, x: x}
		if m.Champion != nil {
			t.Champion = m.Champion.PlayerID
		}
		l.table(t)
		l.completed = true
	}
	if about != nil { // its exchanges are kept until the players are known
		if len(about.exchanges) == 0 {
			about.at = l.seen
		}
		about.exchanges = append(about.exchanges, x)
	}
}

// match returns the match with an id and adds it if it is new.
func (l *League) match(id string, round int) *match {
	m := l.byID[id]
	if m == nil {
		m = l.next(id, 0)
	}
	if m.Round == 0 {
		m.Round = round
	}
	return m
}

// Decided returns the number of matches with a known result.
func (l *League) Decided() (n int) {
	for _, m := range l.matches {
		if len(m.results) > 0 {
			n++
		}
	}
	return n
}

func isResult(x *trace.Exchange) bool {
	return x.Type == protocol.TypeGameOver || x.Type == protocol.TypeMatchResultReport
}

// next returns a new match of an id, for the messages from now on.
func (l *League) next(id string, round int) *match {
	next := &match{ID: id, Round: round, commitments: map[string]string{}, nonces: map[string]string{}, answers: map[string][]*answer{}}
	l.byID[id] = next
	l.matches = append(l.matches, next)
	return next
}

// table adds a table, once for all players it was sent to.
func (l *League) table(t *table) {
	l.last, t.at = l.seen, l.seen
	for _, row := range t.Rows {
		l.people.know(row.PlayerID)
	}
	if n := len(l.tables); n > 0 {
		was := l.tables[n-1]
		if was.Round == t.Round && was.Final == t.Final && was.Champion == t.Champion && slices.Equal(was.Rows, t.Rows) {
			return
		}
	}
	l.tables = append(l.tables, t)
}

func (l *League) roundAnnouncement(x *trace.Exchange, m *protocol.RoundAnnouncement) {
	round := m.RoundID.Number()
	var ids []string
	for _, a := range m.Matches {
		l.pair(x, a.MatchID, round, a.PlayerAID, a.PlayerBID)
		l.people.know(a.PlayerAID, places(a.PlayerAEndpoint)...)
		l.people.know(a.PlayerBID, places(a.PlayerBEndpoint)...)
		ids = append(ids, a.MatchID)
	}
	if !x.Assignment {
		l.announced = append(l.announced, x)
		slices.Sort(ids)
		l.rounds[round] = with(l.rounds[round], strings.Join(ids, " "))
		l.parts = l.parts || len(l.rounds[round]) > 1
	}
}

// queried reads the schedule or the standings from the answer to a query. What cannot be
// read is not there.
func (l *League) queried(x *trace.Exchange, query string) {
	a, ok := x.Answer.(*protocol.LeagueQueryResponse)
	switch {
	case !ok:
	case query == protocol.QuerySchedule:
		data, err := protocol.ReadData[protocol.ScheduleData](a)
		if err != nil {
			return
		}
		for _, r := range data.Rounds {
			for _, m := range r.Matches {
				l.pair(x, m.MatchID, r.RoundID.Number(), m.PlayerAID, m.PlayerBID)
			}
		}
	case query == protocol.QueryStandings && len(l.matches) > 0:
		if data, err := protocol.ReadData[protocol.StandingsData](a); err == nil {
			l.table(&table{Rows: data.Standings, x: x})
		}
	}
}

// pair notes an announced match. A name that is missing stays unknown.
func (l *League) pair(x *trace.Exchange, id string, round int, a, b string) {
	m := l.match(id, round)
	if a == "" || b == "" {
		m.announced = true
		return
	}
	switch {
	case !m.known() || m.has(a) && m.has(b):
	case m.decided, m.announced && (round != m.Round || l.last > m.heard): // ids are those of an earlier round
		m = l.next(id, round)
	case m.announced:
		l.strays.another(x, "match %s was announced between %s and %s, then between %s and %s", id, m.Players[0], m.Players[1], a, b)
	}
	m.announced, m.heard, m.Players = true, l.seen, [2]string{a, b}
	l.players[a], l.players[b] = true, true
}

func (l *League) invitation(x *trace.Exchange, m *protocol.GameInvitation) *match {
	match := l.match(m.MatchID, m.RoundID.Number())
	if match.decided { // it begins again, as after the death of a referee
		next := l.next(match.ID, match.Round)
		next.Players, next.again, match.again = match.Players, true, true
		match = next
	}
	if l.completed {
		l.strays.another(x, "the invitation to match %s was sent after the end of the league", m.MatchID)
	}
	return match
}

// settle interprets the exchanges of all matches, now that the recording has
// shown everything about who is who.
func (l *League) settle() {
	for _, m := range l.matches {
		l.identify(m)
		for _, x := range m.exchanges {
			l.interpret(m, x)
			if x.Type == protocol.TypeGameInvitation && l.unlisted(m) {
				l.strays.another(x, "match %s was played in round %d but not announced: the announcement lists %s", m.ID, m.Round, l.rounds[m.Round][0])
			}
		}
	}
	l.verifyDraws()
	for _, t := range l.tables {
		l.tally(t)
	}
}

// unlisted reports whether a match belongs to a round whose announcement does not list it. An
// announcement of a part of a round tells nothing.
func (l *League) unlisted(m *match) bool {
	return !l.parts && !m.announced && !m.again && m.Round != 0 && len(l.rounds[m.Round]) == 1 && (len(l.rounds) > 1 || len(l.matches) == 1)
}
