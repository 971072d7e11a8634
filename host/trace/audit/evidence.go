package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Evidence is the content of the recorded messages of one league. It is for one
// goroutine at a time.
type Evidence struct {
	League  string // its id, empty if no message has it
	Matches []*Match
	Tables  []Table

	announced bool // a message held the schedule, or part of it
	completed bool
	champion  string
	strays    []string // descriptions of unexpected messages
	ids       map[string]string
	byID      map[string]*Match
	players   map[string]bool // in the announced schedule
}

// Match is the content of the messages about one match.
type Match struct {
	ID      string
	Round   int       // 0 if unknown
	Players [2]string // PLAYER_A and PLAYER_B, empty if unknown

	announced bool
	calls     []choiceCall
	answers   map[string]answer // by player
	timeouts  []timeoutClaim
	results   []Result
}

// choiceCall is a request for a choice.
type choiceCall struct {
	player   string
	at       time.Time
	signed   time.Time // the referee's timestamp, zero if there is none
	deadline time.Time // likewise
}

// answer is the choice of a player.
type answer struct {
	choice   protocol.Choice
	after    time.Duration // since the call that it answers
	accepted bool          // no refusal and no failure is recorded
}

// timeoutClaim is a referee's message that a player answered too late.
type timeoutClaim struct {
	player string
	at     time.Time
	signed time.Time
}

// Result is the result of a match as one message states it.
type Result struct {
	To      string // a player id, or "manager"
	Outcome dialect.Outcome
	Parity  string // number_parity, empty if the message leaves it out
	Invalid error  // why the message contradicts itself
}

// Table is the standings as one message states them.
type Table struct {
	Round int // after this round; 0 if unknown
	Final bool
	Rows  []protocol.Standing
}

func newEvidence() *Evidence {
	return &Evidence{ids: map[string]string{}, byID: map[string]*Match{}, players: map[string]bool{}}
}

// Leagues divides the exchanges of a recording by league, in order, and leaves
// out those that belong to none.
func Leagues(exchanges []*trace.Exchange) []*Evidence {
	var all []*Evidence
	current := map[string]*Evidence{}
	ids := map[string]string{} // player ids by agent
	for _, x := range exchanges {
		if x.Request == nil {
			continue
		}
		name := leagueOf(x)
		e := current[name]
		if e == nil && name == "" && len(all) > 0 {
			e = all[len(all)-1]
		}
		if e == nil || e.completed && e.begins(x) {
			e = newEvidence()
			e.League, e.ids = name, ids
			current[name] = e
			all = append(all, e)
		}
		e.add(x)
	}
	return slices.DeleteFunc(all, func(e *Evidence) bool { return len(e.Matches) == 0 && len(e.Tables) == 0 })
}

// begins reports whether a message after the end of the league belongs to the
// next league of the same name.
func (e *Evidence) begins(x *trace.Exchange) bool {
	switch x.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest:
		return true
	case protocol.TypeGameInvitation:
		m := e.byID[x.Match]
		return m != nil && len(m.results) > 0
	}
	return false
}

func leagueOf(x *trace.Exchange) string {
	if id := x.Request.Head().LeagueID; id != "" || x.Answer == nil {
		return id
	}
	return x.Answer.Head().LeagueID
}

func (e *Evidence) add(x *trace.Exchange) {
	switch m := x.Request.(type) {
	case *protocol.LeagueRegisterRequest:
		if a, ok := x.Answer.(*protocol.LeagueRegisterResponse); ok && a.PlayerID != "" && x.Direction == jsonrpc.Out {
			e.ids[x.Agent] = a.PlayerID
		}
	case *protocol.RoundAnnouncement:
		e.roundAnnouncement(m)
	case *protocol.LeagueQuery:
		e.queriedSchedule(x)
	case *protocol.GameInvitation:
		e.invitation(x, m)
	case *protocol.ChooseParityCall:
		e.choiceCall(x, m)
	case *protocol.ChooseParityResponse:
		e.postedChoice(x, m)
	case *protocol.GameError:
		e.timeout(x, m)
	case *protocol.GameOver:
		e.gameOver(x, m)
	case *protocol.MatchResultReport:
		e.resultReport(m)
	case *protocol.LeagueStandingsUpdate:
		e.table(Table{Round: m.RoundID.Number(), Rows: m.Standings})
	case *protocol.LeagueCompleted:
		if m.Champion != nil {
			e.champion = m.Champion.PlayerID
		}
		e.table(Table{Final: true, Rows: m.FinalStandings})
		e.completed = true
	}
}

// match returns the match with an id and adds it if it is new.
func (e *Evidence) match(id string, round int) *Match {
	m := e.byID[id]
	if m == nil {
		m = &Match{ID: id, answers: map[string]answer{}}
		e.byID[id] = m
		e.Matches = append(e.Matches, m)
	}
	if m.Round == 0 {
		m.Round = round
	}
	return m
}

// table adds a table, once for all players it was sent to.
func (e *Evidence) table(t Table) {
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

// playerOf returns the player of an exchange with a referee: the named one, the
// one that answered, or the one that recorded.
func (e *Evidence) playerOf(x *trace.Exchange, named string) string {
	if named != "" {
		return named
	}
	if x.Answer != nil {
		if _, id, ok := strings.Cut(x.Answer.Head().Sender, "player:"); ok {
			return id
		}
	}
	if _, id, ok := strings.Cut(x.Sender, "player:"); ok {
		return id
	}
	return e.ids[x.Agent]
}

// stamp parses a timestamp; it returns the zero time if s is not one.
func stamp(s string) time.Time {
	t, _ := protocol.ParseTimestamp(s)
	return t
}

func (e *Evidence) roundAnnouncement(m *protocol.RoundAnnouncement) {
	e.announced = true
	for _, a := range m.Matches {
		e.pair(a.MatchID, m.RoundID.Number(), a.PlayerAID, a.PlayerBID)
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
	e.announced = true
	for _, r := range data.Rounds {
		for _, m := range r.Matches {
			e.pair(m.MatchID, r.RoundID.Number(), m.PlayerAID, m.PlayerBID)
		}
	}
}

func (e *Evidence) pair(id string, round int, a, b string) {
	m := e.match(id, round)
	was := m.Players
	if m.announced && (was[0] != a || was[1] != b) {
		e.stray("match %s was announced between %s and %s, then between %s and %s", id, was[0], was[1], a, b)
	}
	m.announced, m.Players = true, [2]string{a, b}
	e.players[a], e.players[b] = true, true
}

func (e *Evidence) invitation(x *trace.Exchange, m *protocol.GameInvitation) {
	known := e.byID[m.MatchID] != nil
	match := e.match(m.MatchID, m.RoundID.Number())
	if !known && e.announced {
		e.stray("match %s was played but not announced", m.MatchID)
	}
	if e.completed {
		e.stray("the invitation to match %s was sent after the end of the league", m.MatchID)
	}
	named := ""
	if a, ok := x.Answer.(*protocol.GameJoinAck); ok {
		named = a.PlayerID
	}
	self := e.playerOf(x, named)
	if match.announced || self == "" || m.OpponentID == "" {
		return
	}
	match.Players = [2]string{self, m.OpponentID}
	if m.RoleInMatch == protocol.PlayerB {
		match.Players = [2]string{m.OpponentID, self}
	}
}

func (e *Evidence) choiceCall(x *trace.Exchange, m *protocol.ChooseParityCall) {
	match := e.match(m.MatchID, m.RoundID.Number())
	player := e.playerOf(x, m.PlayerID)
	match.calls = append(match.calls, choiceCall{player, x.At, stamp(m.Timestamp), stamp(m.Deadline)})
	if a, ok := x.Answer.(*protocol.ChooseParityResponse); ok {
		match.answer(player, answer{dialect.Chosen(a), x.Latency, x.Status < 300})
	}
}

// postedChoice reads the choice of a player that sends it as a request.
func (e *Evidence) postedChoice(x *trace.Exchange, m *protocol.ChooseParityResponse) {
	match := e.match(m.MatchID, m.RoundID.Number())
	player := e.playerOf(x, m.PlayerID)
	a := answer{choice: dialect.Chosen(m), accepted: x.Refused == nil && x.Failure == ""}
	for _, call := range match.calls {
		if call.player == player {
			a.after = x.At.Add(x.Latency).Sub(call.at)
		}
	}
	match.answer(player, a)
}

// answer keeps the first choice of a player: only that counts.
func (m *Match) answer(player string, a answer) {
	if before, ok := m.answers[player]; ok && before.accepted || a.choice == "" {
		return
	}
	m.answers[player] = a
}

func (e *Evidence) timeout(x *trace.Exchange, m *protocol.GameError) {
	if protocol.Code(m.ErrorCode) != protocol.CodeTimeout {
		return
	}
	player := e.playerOf(x, cmp.Or(m.AffectedPlayer, m.PlayerID))
	match := e.match(m.MatchID, m.RoundID.Number())
	match.timeouts = append(match.timeouts, timeoutClaim{player, x.At, stamp(m.Timestamp)})
}

func (e *Evidence) gameOver(x *trace.Exchange, m *protocol.GameOver) {
	known := e.byID[m.MatchID] != nil
	match := e.match(m.MatchID, m.RoundID.Number())
	self := e.playerOf(x, m.PlayerID)
	if !known {
		e.stray("the result of match %s was sent before any other message about it", m.MatchID)
	}
	o, err := dialect.ToldOutcome(m, self, match.opponentOf(self))
	result := Result{To: self, Outcome: o, Invalid: err}
	if r := m.GameResult; r != nil {
		result.Parity = r.NumberParity.Value()
	}
	if x.Direction == jsonrpc.Out && x.Answer == nil && x.Failure != "" {
		return // the player did not receive it
	}
	match.results = append(match.results, result)
}

func (e *Evidence) resultReport(m *protocol.MatchResultReport) {
	match := e.match(m.MatchID, m.RoundID.Number())
	o, err := dialect.ReportedOutcome(m, match.Players[0], match.Players[1])
	result := Result{To: "manager", Outcome: o, Invalid: err}
	if d := m.Result.Details; d != nil {
		result.Parity = d.NumberParity.Value()
	}
	match.results = append(match.results, result)
}

func (m *Match) opponentOf(player string) string {
	switch player {
	case m.Players[0]:
		return m.Players[1]
	case m.Players[1]:
		return m.Players[0]
	}
	return ""
}

// maxStrays is the largest number of unexpected messages that are described.
const maxStrays = 100

func (e *Evidence) stray(format string, args ...any) {
	if len(e.strays) < maxStrays {
		e.strays = append(e.strays, fmt.Sprintf(format, args...))
	}
}
