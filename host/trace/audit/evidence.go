package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Evidence is what messages say of one league. It is for one goroutine at a
// time.
type Evidence struct {
	League  string // its id, as far as it was told
	Matches []*Match
	Tables  []Table

	announced bool // there was a schedule or an announcement
	completed bool
	champion  string
	strays    []string // messages that were not to be expected
	ids       map[string]string
	byID      map[string]*Match
	players   map[string]bool // who stands in the schedule, as far as it was announced
}

// Match is what messages say of one match.
type Match struct {
	ID      string
	Round   int       // 0 if unknown
	Players [2]string // PLAYER_A and PLAYER_B, empty if unknown

	announced bool
	asked     []asking
	answers   map[string]answer // by player
	errors    []claim
	told      []Telling
}

// asking is a call for a choice, as it arrived or was sent.
type asking struct {
	player   string
	at       time.Time
	signed   time.Time // the referee's timestamp, zero if there is none
	deadline time.Time // likewise
}

// answer is a choice that was given.
type answer struct {
	choice protocol.Choice
	after  time.Duration // since the call that it answers
	taken  bool          // nothing says that it did not arrive
}

// claim is a referee's word that a player is late.
type claim struct {
	player string
	at     time.Time
	signed time.Time
}

// Telling is a result as somebody was told it.
type Telling struct {
	To      string // a player id, or "manager"
	Outcome protocol.Outcome
	Parity  string // number_parity, empty if it was not told
	Wrong   error  // what contradicts itself in it
}

// Table is the standings as they were told.
type Table struct {
	Round int // after which; 0 if unknown
	Final bool
	Rows  []protocol.Standing
}

func newEvidence() *Evidence {
	return &Evidence{ids: map[string]string{}, byID: map[string]*Match{}, players: map[string]bool{}}
}

// Leagues divides the exchanges of a recording by league, in order. What says
// nothing of a league is left out.
func Leagues(exchanges []*trace.Exchange) []*Evidence {
	var all []*Evidence
	current := map[string]*Evidence{}
	ids := map[string]string{} // the id that each agent was given
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

// begins reports whether a message that came after the league was complete
// belongs to the next one of the same name.
func (e *Evidence) begins(x *trace.Exchange) bool {
	switch x.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest:
		return true
	case protocol.TypeGameInvitation:
		m := e.byID[x.Match]
		return m != nil && len(m.told) > 0
	}
	return false
}

func leagueOf(x *trace.Exchange) string {
	if id := x.Request.Head().LeagueID; id != "" || x.Answer == nil {
		return id
	}
	return x.Answer.Head().LeagueID
}

// add takes in one exchange.
func (e *Evidence) add(x *trace.Exchange) {
	switch m := x.Request.(type) {
	case *protocol.LeagueRegisterRequest:
		if a, ok := x.Answer.(*protocol.LeagueRegisterResponse); ok && a.PlayerID != "" && x.Direction == jsonrpc.Out {
			e.ids[x.Agent] = a.PlayerID
		}
	case *protocol.RoundAnnouncement:
		e.announcement(m)
	case *protocol.LeagueQuery:
		e.schedule(x)
	case *protocol.GameInvitation:
		e.invitation(x, m)
	case *protocol.ChooseParityCall:
		e.call(x, m)
	case *protocol.ChooseParityResponse:
		e.late(x, m)
	case *protocol.GameError:
		e.fault(x, m)
	case *protocol.GameOver:
		e.over(x, m)
	case *protocol.MatchResultReport:
		e.report(m)
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

// match returns the record of a match, made anew where there is none.
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

// table keeps a table once, however many players it was sent to.
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

// playerOf returns which player an exchange with a referee is about: who is
// named, who answered, or who recorded.
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

// stamp reads a timestamp of the wire; what is none is zero.
func stamp(s string) time.Time {
	t, err := protocol.ParseTimestamp(s)
	if err != nil {
		return time.Time{}
	}
	return t
}
