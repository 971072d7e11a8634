package manager

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// state is a league as its events have made it. It is pure: it holds nothing
// that a replay of the events would not bring back, reads no clock and does no
// I/O. What is not an event (which agent answers, what is on its way) is kept by
// the Manager. It is not safe for concurrent use.
type state struct {
	league   string
	agents   map[string]*member
	players  []*member // in the order of registration
	referees []*member

	// Since the start:
	schedule  *game.Schedule
	seats     []*member
	seatOf    map[string]int
	matches   []match // by index in the schedule
	left      []int   // by round, from 0: how many matches are not over
	table     *game.Table
	reports   int
	closed    int // rounds that are completed
	concluded bool
	draws     Draws

	paused bool           // by the organiser: no round begins
	pace   *time.Duration // after each round, by the organiser; nil if nobody has set it

	ranked []Standing // what standings returned last; nil if that is outdated
}

// member is a referee or a player as it registered.
type member struct {
	role     protocol.Role
	id       string
	number   int // the one in its id, by which players are seated
	verifier credential.Verifier
	reg      registered
	changes  int // how often it has got a new token
	load     int // matches that it is to conduct and that are not over

	// The rest is for players only.
	status     AgentLife // LifeWithdrawn or LifeSuspended, by the organiser; else empty
	readmitted bool      // its next registration needs no token
	absences   int       // technical losses in a row without a choice
}

// match is what is known of a scheduled match. There may be millions.
type match struct {
	referee *member // nil until its round comes
	at      int64   // of its report, in nanoseconds since 1970
	outcome outcome
}

func newState(league string) *state {
	return &state{league: league, agents: make(map[string]*member)}
}

// running reports whether matches are being played.
func (s *state) running() bool { return s.schedule != nil && s.closed < s.schedule.Rounds() }

// over reports whether all rounds are completed.
func (s *state) over() bool { return s.schedule != nil && s.closed == s.schedule.Rounds() }

// round is the current one: 0 before the first, the last one at the end.
func (s *state) round() int {
	if s.schedule == nil {
		return 0
	}
	return min(s.closed+1, s.schedule.Rounds())
}

func (s *state) rounds() int {
	if s.schedule == nil {
		return 0
	}
	return s.schedule.Rounds()
}

// begun reports whether the current round has referees.
func (s *state) begun() bool {
	return s.schedule != nil && slices.ContainsFunc(s.schedule.Round(s.round()), func(p game.Match) bool { return s.matches[p.Index].referee != nil })
}

// list returns where agents of a role are listed.
func (s *state) list(role protocol.Role) *[]*member {
	if role == protocol.RoleReferee {
		return &s.referees
	}
	return &s.players
}

// prefix is how the ids of a role begin.
func prefix(role protocol.Role) string {
	if role == protocol.RoleReferee {
		return "REF"
	}
	return "P"
}

// idNumber returns the number in an id of the form P07 or REF07, or false if
// it has another form.
func idNumber(role protocol.Role, id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, prefix(role))
	if !ok || len(digits) < 2 || len(digits) > 9 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil
}

// free reports whether no agent of the role has the number.
func (s *state) free(role protocol.Role, number int) bool {
	return !slices.ContainsFunc(*s.list(role), func(a *member) bool { return a.number == number })
}

// nextID returns the lowest id that no agent of the role has.
func (s *state) nextID(role protocol.Role) string {
	taken := make(map[int]bool)
	for _, a := range *s.list(role) {
		taken[a.number] = true
	}
	n := 1
	for taken[n] {
		n++
	}
	return fmt.Sprintf("%s%02d", prefix(role), n)
}

func (e *registered) apply(s *state) error {
	verifier, err := credential.ParseVerifier(e.Verifier)
	if err != nil {
		return err
	}
	number, ok := idNumber(e.Role, e.ID)
	if !ok {
		return fmt.Errorf("%q is no id of a %s", e.ID, e.Role)
	}
	a, old := s.agents[e.ID], s.agents[e.Replaces]
	switch {
	case a != nil && e.Replaces != "", e.Replaces != "" && (old == nil || old.role != e.Role || s.schedule != nil):
		return fmt.Errorf("%s cannot take the place of %q", e.ID, e.Replaces)
	case a == nil && e.Role == protocol.RolePlayer && s.schedule != nil:
		return fmt.Errorf("%s comes after the start", e.ID)
	case a == nil && !s.free(e.Role, number):
		return fmt.Errorf("the number of %s is taken", e.ID)
	case a == nil:
		list, changes := s.list(e.Role), 0
		if old != nil {
			changes = old.changes + 1
			delete(s.agents, old.id)
			*list = slices.DeleteFunc(*list, func(a *member) bool { return a == old })
		}
		a = &member{role: e.Role, id: e.ID, number: number, changes: changes}
		s.agents[e.ID] = a
		*list = append(*list, a)
	case a.verifier != verifier:
		a.changes++
	}
	a.verifier, a.reg, a.readmitted, a.absences = verifier, *e, false, 0
	s.ranked = nil
	return nil
}

// seating returns the players in the order of their numbers, which is the
// order of the seats.
func (s *state) seating() []*member {
	return slices.SortedFunc(slices.Values(s.players), func(a, b *member) int { return cmp.Compare(a.number, b.number) })
}

func (e *started) apply(s *state) error {
	if s.schedule != nil {
		return errors.New("the league has started already")
	}
	if len(e.Seats) != len(s.players) {
		return fmt.Errorf("%d seats for %d players", len(e.Seats), len(s.players))
	}
	seats, seatOf := make([]*member, len(e.Seats)), make(map[string]int, len(e.Seats))
	for i, id := range e.Seats {
		seats[i] = s.agents[id]
		seatOf[id] = i
		if seats[i] == nil || seats[i].role != protocol.RolePlayer {
			return fmt.Errorf("seat %d is for %q, which is not a player", i, id)
		}
	}
	if len(seatOf) != len(seats) {
		return errors.New("a player has two seats")
	}
	schedule, err := game.NewSchedule(len(seats), e.Legs)
	if err != nil {
		return err
	}
	s.schedule, s.seats, s.seatOf = schedule, seats, seatOf
	s.matches = make([]match, len(schedule.Matches()))
	s.table = game.NewTable(len(seats))
	s.left = make([]int, schedule.Rounds())
	for i := range s.left {
		s.left[i] = len(schedule.Round(i + 1))
	}
	s.ranked = nil
	return nil
}

func (e *assigned) apply(s *state) error {
	if s.schedule == nil || e.Round < 1 || e.Round > s.rounds() {
		return fmt.Errorf("there is no round %d", e.Round)
	}
	round := s.schedule.Round(e.Round)
	if len(e.Referees) != len(round) {
		return fmt.Errorf("round %d has %d matches, not %d", e.Round, len(round), len(e.Referees))
	}
	for i, id := range e.Referees {
		if id == "" {
			continue
		}
		referee, m := s.agents[id], &s.matches[round[i].Index]
		switch {
		case referee == nil || referee.role != protocol.RoleReferee:
			return fmt.Errorf("%s is no referee", id)
		case m.outcome.over():
			return fmt.Errorf("%s is over", round[i].ID)
		}
		if m.referee != nil {
			m.referee.load--
		}
		m.referee = referee
		referee.load++
	}
	return nil
}

func (e *reported) apply(s *state) error {
	if s.schedule == nil {
		return errors.New("a result before the start")
	}
	p, ok := s.schedule.Find(e.Match)
	if !ok {
		return fmt.Errorf("there is no match %s", e.Match)
	}
	m := &s.matches[p.Index]
	switch {
	case m.outcome.over():
		return fmt.Errorf("%s has a result already", e.Match)
	case m.referee == nil || m.referee.id != e.Referee:
		return fmt.Errorf("%s is not for %s to report", e.Match, e.Referee)
	}
	o, err := e.outcome()
	if err != nil {
		return fmt.Errorf("%s: %w", e.Match, err)
	}
	m.outcome, m.at = o, e.At.UnixNano()
	m.referee.load--
	s.left[p.Round-1]--
	s.table.Add(p.A, p.B, o.verdict())
	for i, seat := range []int{p.A, p.B} {
		if a := s.seats[seat]; o.results[i] == game.TechnicalLoss && o.choices[i] == game.NoParity {
			a.absences++
		} else {
			a.absences = 0
		}
	}
	s.reports++
	s.ranked = nil
	return nil
}

func (e *roundCompleted) apply(s *state) error {
	if !s.running() || e.Round != s.closed+1 || s.left[e.Round-1] != 0 {
		return fmt.Errorf("round %d is not played, or not the current one", e.Round)
	}
	s.closed++
	s.draws.add(e.Draws)
	return nil
}

func (e *completed) apply(s *state) error {
	if !s.over() {
		return errors.New("the league is not over")
	}
	s.concluded = true
	return nil
}
