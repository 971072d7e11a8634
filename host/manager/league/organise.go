package league

import (
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// MaxPace is the longest pause after each round.
const MaxPace = 24 * time.Hour

// Due reports whether a league that starts by itself with so many players is to start; 0 never is.
func (s *State) Due(players int) bool {
	return players >= game.MinPlayers && s.Schedule == nil && len(s.Players) >= players && len(s.Referees) > 0
}

// Start returns the event that starts the league, or nil if it runs. The error is a
// *protocol.Error: E007 without a referee or with fewer than two players, E031 when the
// league is over.
func (s *State) Start(now time.Time) (*Started, error) {
	unready := func(why string) (*Started, error) {
		return nil, protocol.Refuse(protocol.CodeInvalidState, protocol.TypeStartLeague, "The league cannot start: "+why+".")
	}
	switch {
	case s.Over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, protocol.TypeStartLeague, "The league is over; start another one.")
	case s.Schedule != nil:
		return nil, nil
	case len(s.Referees) == 0:
		return unready("no referee has registered yet")
	case len(s.Players) < game.MinPlayers:
		return unready(fmt.Sprintf("registered players: %d; a league takes %d", len(s.Players), game.MinPlayers))
	}
	if _, err := game.NewSchedule(len(s.Players), s.Rules.Legs); err != nil {
		return unready(err.Error())
	}
	e := &Started{Legs: s.Rules.Legs, At: now}
	for _, a := range s.Seating() {
		e.Seats = append(e.Seats, a.ID)
	}
	return e, nil
}

// SetStatus returns the event that takes a player out or readmits it, or nil if that is so
// already. The error is a *protocol.Error: E005 for an unknown player, E007 for one that
// was withdrawn, E031 for a league that is over, E030 for Suspended before the start.
func (s *State) SetStatus(player string, status Life, now time.Time) (*StatusSet, error) {
	refuse := func(code protocol.Code, detail string) *protocol.Error {
		return protocol.Refuse(code, protocol.TypeSetPlayerStatus, detail)
	}
	a := s.Members[player]
	switch {
	case a == nil || a.Role != protocol.RolePlayer:
		return nil, s.UnknownPlayer(protocol.TypeSetPlayerStatus, player)
	case s.Over():
		return nil, refuse(protocol.CodeLeagueAlreadyComplete, "The league is over; the status of its players stands.")
	case s.Schedule == nil && status == Suspended:
		return nil, refuse(protocol.CodeLeagueNotStarted, "The league has not started; a player that shall not play is withdrawn.")
	case a.Status == Withdrawn && status != Withdrawn:
		return nil, refuse(protocol.CodeInvalidState, fmt.Sprintf("%s was withdrawn, which is final.", player)).With("player_id", player)
	case a.Status == status && status != "", a.Readmitted && status == Active:
		return nil, nil
	}
	return &StatusSet{Player: player, Status: status, At: now}, nil
}

// UnknownPlayer refuses a message about a player that there is not.
func (s *State) UnknownPlayer(t protocol.Type, id string) *protocol.Error {
	all := "nobody has registered yet."
	players := s.Seating()
	switch n := len(players); n {
	case 0:
	case 1:
		all = "the only player is " + players[0].ID + "."
	default:
		all = fmt.Sprintf("there are %d players, %s to %s; GET_PLAYERS lists them.", n, players[0].ID, players[n-1].ID)
	}
	return protocol.Refuse(protocol.CodePlayerNotRegistered, t, "Unknown player; "+all).With("player_id", id)
}

// SetPace returns the event that pauses the league, lets it go on, or changes the pause
// after each round, or nil if nothing changes; nil leaves what it stands for. The error is
// a *protocol.Error: E031 when the league is over, E006 for a pause out of range.
func (s *State) SetPace(paused *bool, pace *time.Duration, now time.Time) (*PaceSet, error) {
	e := &PaceSet{Paused: s.Paused, Pace: s.pace, At: now}
	if paused != nil {
		e.Paused = *paused
	}
	if pace != nil && *pace != s.Pace() {
		e.Pace = pace
	}
	switch {
	case s.Over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, protocol.TypeSetPace, "The league is over; it has no round to wait for.")
	case pace != nil && (*pace < 0 || *pace > MaxPace):
		return nil, protocol.Refuse(protocol.CodeInvalidFieldType, protocol.TypeSetPace,
			fmt.Sprintf("The pause after each round is 0 to %d ms.", MaxPace.Milliseconds()), protocol.Violation{Path: "/pace_ms", Rule: "range"})
	case e.Paused == s.Paused && e.Pace == s.pace:
		return nil, nil
	}
	return e, nil
}

// Share is the part of a round's matches that a referee is given.
type Share struct {
	Referee *Member
	Load    int
}

// LeastLoaded gives one more match to the referee that has the least to do, measured
// by how many matches it conducts at once; of equals to the first. If somebody forfeits the
// match, a referee of this program goes first: others ask the player all the same, and wait.
func LeastLoaded(shares []Share, forfeit bool) *Member {
	best := &shares[0]
	for i := range shares {
		s := &shares[i]
		more := (s.Load+1)*max(best.Referee.Capacity, 1) < (best.Load+1)*max(s.Referee.Capacity, 1)
		if forfeit && s.Referee.Keyed != best.Referee.Keyed {
			more = s.Referee.Keyed
		}
		if more {
			best = s
		}
	}
	best.Load++
	return best.Referee
}
