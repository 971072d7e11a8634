// Package league is the state of a league as it follows from its events: who is
// registered, the schedule, the results, the standings. It is pure: it does no I/O, reads
// no clock, starts no goroutine and does not know how messages travel.
//
// What a request leads to is an [Event], which a method of [State] returns, or an error
// for the sender: Admit, Start, Report, SetStatus, SetPace. Only [State.Apply] changes the
// state. So the manager writes each event to its journal before it applies it, and a
// journal that is read back (State.Replay) gives the same state.
//
// A State, its Members included, is not safe for concurrent use, and only to be read.
package league

import (
	"cmp"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Rules are what the organiser asks of registrations and reports.
type Rules struct {
	Mode protocol.Mode
	// MaxPlayers and MaxReferees bound the registrations, MaxPerAddress those of players
	// from one address unless it is 0.
	MaxPlayers, MaxReferees, MaxPerAddress int
	Legs                                   int           // how often each pair meets
	Draw                                   game.Draw     // what a referee may draw
	Pace                                   time.Duration // the pause after each round, until SetPace
}

// State is a league as its events have made it.
type State struct {
	ID       string
	Rules    Rules
	Members  map[string]*Member
	Players  []*Member // in the order of registration
	Referees []*Member

	// Since the start:
	Schedule  *game.Schedule
	Seats     []*Member
	Reports   int // results that were accepted
	Closed    int // rounds that are completed
	Concluded bool
	Draws     Draws

	Paused bool           // by the organiser: no round begins
	pace   *time.Duration // by the organiser; nil if nobody has set it

	matches []match // by index in the schedule
	left    []int   // by round, from 0: how many matches are not over
	table   *game.Table
	ranked  []Standing // what Standings returned last; nil if that is outdated
}

// Life is how far an agent's life has come, as the manager sees it.
type Life string

// The states of league.v2. An agent registers (from Init to Registered), is Active once it has
// answered or asked anything, is Suspended while it cannot be reached (it is scheduled and tried all
// the same, but no longer waited for), and is shut down when the league is over. After a restart of
// the manager it is Registered until it is heard of. A player that the organiser has taken out is
// shown as Withdrawn or Suspended.
const (
	Init       Life = "INIT"
	Registered Life = "REGISTERED"
	Active     Life = "ACTIVE"
	Suspended  Life = "SUSPENDED"
	Shutdown   Life = "SHUTDOWN"
	Withdrawn  Life = "WITHDRAWN"
)

// Member is a referee or a player, as it registered last.
type Member struct {
	Registration
	Key  credential.Verifier // its tokens are compared with it, and its match keys derived from it
	Load int                 // matches that it is to conduct and that are not over

	// The rest is for players only.
	Status     Life // Withdrawn or Suspended, by the organiser; else empty
	Readmitted bool // its next registration needs no token

	number   int // the one in its id, by which players are seated
	changes  int // how often it has got a new token
	absences int // technical losses in a row without a choice
}

// Absent reports whether a player has made no choice in its last three matches.
func (a *Member) Absent() bool { return a.absences >= 3 }

// match is what is known of a scheduled match. There may be millions.
type match struct {
	referee *Member // nil until its round comes
	at      int64   // of its report, in nanoseconds since 1970
	outcome outcome
}

// New returns a league without events.
func New(id string, r Rules) *State {
	return &State{ID: id, Rules: r, Members: make(map[string]*Member)}
}

// Pace is the pause after each round.
func (s *State) Pace() time.Duration {
	if s.pace != nil {
		return *s.pace
	}
	return s.Rules.Pace
}

// Rounds is the number of rounds; 0 before the start.
func (s *State) Rounds() int {
	if s.Schedule == nil {
		return 0
	}
	return s.Schedule.Rounds()
}

// Round is the current one: 0 before the first, the last one at the end.
func (s *State) Round() int { return min(s.Closed+1, s.Rounds()) }

// Running reports whether matches are being played.
func (s *State) Running() bool { return s.Closed < s.Rounds() }

// Over reports whether all rounds are completed.
func (s *State) Over() bool { return s.Schedule != nil && !s.Running() }

// Current returns the matches of the current round.
func (s *State) Current() []game.Match {
	if s.Schedule == nil {
		return nil
	}
	return s.Schedule.Round(s.Round())
}

// Begun reports whether the current round has referees.
func (s *State) Begun() bool {
	return slices.ContainsFunc(s.Current(), func(p game.Match) bool { return s.Referee(p) != nil })
}

// Left is how many matches of a round are not over.
func (s *State) Left(round int) int { return s.left[round-1] }

// Matches is how many matches the league has; 0 before the start.
func (s *State) Matches() int { return len(s.matches) }

// Find returns the match of an id.
func (s *State) Find(id string) (game.Match, bool) {
	if s.Schedule == nil {
		return game.Match{}, false
	}
	return s.Schedule.Find(id)
}

// Pair returns players A and B of a match.
func (s *State) Pair(p game.Match) (a, b *Member) { return s.Seats[p.A], s.Seats[p.B] }

// Plays reports whether a player is one of a match's two.
func (s *State) Plays(p game.Match, player *Member) bool {
	return s.Seats[p.A] == player || s.Seats[p.B] == player
}

// Referee returns who conducts a match; nil until its round comes.
func (s *State) Referee(p game.Match) *Member { return s.matches[p.Index].referee }

// Done reports whether a match is over.
func (s *State) Done(p game.Match) bool { return s.matches[p.Index].outcome.over() }

// Owed returns the ids of the matches of the current round that a referee has not reported.
func (s *State) Owed(referee *Member) (owed []string) {
	for _, p := range s.Current() {
		if s.Referee(p) == referee && !s.Done(p) {
			owed = append(owed, p.ID)
		}
	}
	return owed
}

// Forfeited reports whether a player of a match is out.
func (s *State) Forfeited(p game.Match) bool {
	return s.Seats[p.A].Status != "" || s.Seats[p.B].Status != ""
}

// Byes returns the ids of the players without a match in a round.
func (s *State) Byes(round int) []string {
	byes := []string{}
	if seat, ok := s.Schedule.Bye(round); ok {
		byes = append(byes, s.Seats[seat].ID)
	}
	return byes
}

// Seating returns the players in the order of their numbers, which is the order of the seats.
func (s *State) Seating() []*Member { return ByNumber(s.Players) }

// ByNumber returns agents of one role in the order of the numbers in their ids.
func ByNumber(list []*Member) []*Member {
	return slices.SortedFunc(slices.Values(list), func(a, b *Member) int { return cmp.Compare(a.number, b.number) })
}

func (s *State) list(role protocol.Role) *[]*Member {
	if role == protocol.RoleReferee {
		return &s.Referees
	}
	return &s.Players
}

// find returns the first agent of a role for which the condition holds, or nil.
func (s *State) find(role protocol.Role, condition func(*Member) bool) *Member {
	list := *s.list(role)
	if i := slices.IndexFunc(list, condition); i >= 0 {
		return list[i]
	}
	return nil
}

// free reports whether an agent of the role may have an id: it has the form P07, of two
// digits at least, and no other agent has its number.
func (s *State) free(role protocol.Role, id string) bool {
	n, ok := protocol.IDNumber(role, id)
	return ok && len(id) >= len(protocol.NumberedID(role, 0)) && s.find(role, func(a *Member) bool { return a.number == n }) == nil
}

// idFor returns the id that was asked for, if it has the form and is free, and
// else that of the lowest free number.
func (s *State) idFor(role protocol.Role, asked string) string {
	if s.free(role, asked) {
		return asked
	}
	taken := make(map[int]bool)
	for _, a := range *s.list(role) {
		taken[a.number] = true
	}
	n := 1
	for taken[n] {
		n++
	}
	return protocol.NumberedID(role, n)
}
