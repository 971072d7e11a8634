package league

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

// An Event is one entry of the journal: the only way in which a league's state changes.
type Event interface {
	Kind() string
	apply(s *State) error
}

// Registration is what an agent has said of itself, and what it got.
type Registration struct {
	Role protocol.Role `json:"role"`
	ID   string        `json:"id"`
	// Verifier is key-equivalent; the journal is readable to its owner only.
	Verifier    string    `json:"verifier"`
	Dialect     string    `json:"dialect"`
	Name        string    `json:"display_name"`
	Version     string    `json:"version,omitempty"`
	Games       []string  `json:"game_types,omitempty"`
	Endpoint    string    `json:"contact_endpoint"`
	Capacity    int       `json:"max_concurrent_matches,omitempty"`
	Keyed       bool      `json:"match_keys,omitempty"` // a referee signs with them
	Fingerprint string    `json:"mark,omitempty"`       // of the request, to know it again
	From        string    `json:"from,omitempty"`       // the address of a player, if there is a bound for each
	At          time.Time `json:"at"`
}

// Joined says that an agent has registered, or, for an id that is known,
// what has become of it: a new token, a new endpoint.
type Joined struct {
	Registration
	Replaces string `json:"replaces,omitempty"` // an id that is given up for it
}

// Started fixes the seats of the players, and with that the schedule.
type Started struct {
	Legs  int       `json:"legs"`
	Seats []string  `json:"seats"`
	At    time.Time `json:"at"`
}

// Assigned says which referees conduct which matches of a round.
type Assigned struct {
	Round    int      `json:"round"`
	Referees []string `json:"referees"` // by match of the round; "" leaves it as it is
}

// Reported is a result that was accepted.
type Reported struct {
	Match   string    `json:"match"`
	Referee string    `json:"referee"`
	A       side      `json:"a"`
	B       side      `json:"b"`
	Number  *int      `json:"number,omitempty"`
	At      time.Time `json:"at"`
}

// side is one player's part of a result.
type side struct {
	Result string `json:"result"` // game.Result
	Choice string `json:"choice,omitempty"`
}

// RoundCompleted says that a round was played and everybody was notified.
type RoundCompleted struct {
	Round int       `json:"round"`
	Draws Draws     `json:"draws,omitzero"`
	At    time.Time `json:"at"`
}

// Completed says that everybody was notified of the league's end, or given up on.
type Completed struct {
	Champion string    `json:"champion"`
	At       time.Time `json:"at"`
}

// StatusSet says that the organiser has taken a player out or let it back in.
type StatusSet struct {
	Player string `json:"player"`
	// Status is Withdrawn or Suspended, or Active for a player that is readmitted.
	// Before the start Withdrawn removes the registration.
	Status Life      `json:"status"`
	At     time.Time `json:"at"`
}

// PaceSet says that the organiser has paused the league, lets it go on, or has changed
// the pause after each round.
type PaceSet struct {
	Paused bool           `json:"paused"`
	Pace   *time.Duration `json:"pace,omitempty"` // in nanoseconds; nil while that of the Rules counts
	At     time.Time      `json:"at"`
}

func (*Joined) Kind() string         { return "registered" }
func (*Started) Kind() string        { return "started" }
func (*Assigned) Kind() string       { return "assigned" }
func (*Reported) Kind() string       { return "reported" }
func (*RoundCompleted) Kind() string { return "round_completed" }
func (*Completed) Kind() string      { return "completed" }
func (*StatusSet) Kind() string      { return "status_set" }
func (*PaceSet) Kind() string        { return "pace_set" }

// Apply changes the state by an event; one that does not fit changes nothing.
func (s *State) Apply(e Event) error {
	if err := e.apply(s); err != nil {
		return fmt.Errorf("%s event: %w", e.Kind(), err)
	}
	s.ranked = nil
	return nil
}

// readEvent reads an event of a journal.
func readEvent(j journal.Event) (Event, error) {
	for _, e := range []Event{
		new(Joined), new(Started), new(Assigned), new(Reported), new(RoundCompleted), new(Completed), new(StatusSet), new(PaceSet),
	} {
		if e.Kind() == j.Type {
			return e, json.Unmarshal(j.Data, e)
		}
	}
	return nil, fmt.Errorf("there is no event %q; a newer version may have written it", j.Type)
}

// Replay applies one event of a journal.
func (s *State) Replay(j journal.Event) error {
	e, err := readEvent(j)
	if err != nil {
		return err
	}
	return s.Apply(e)
}

func (e *Joined) apply(s *State) error {
	verifier, err := credential.ParseVerifier(e.Verifier)
	if err != nil {
		return err
	}
	number, ok := protocol.IDNumber(e.Role, e.ID)
	if !ok {
		return fmt.Errorf("%q is no id of a %s", e.ID, e.Role)
	}
	a, old := s.Members[e.ID], s.Members[e.Replaces]
	switch {
	case a != nil && e.Replaces != "", e.Replaces != "" && (old == nil || old.Role != e.Role || s.Schedule != nil):
		return fmt.Errorf("%s cannot take the place of %q", e.ID, e.Replaces)
	case a == nil && e.Role == protocol.RolePlayer && s.Schedule != nil:
		return fmt.Errorf("%s comes after the start", e.ID)
	case a == nil && !s.free(e.Role, e.ID):
		return fmt.Errorf("the number of %s is taken", e.ID)
	case a == nil:
		a = &Member{number: number}
		if old != nil {
			a.changes = old.changes + 1
			s.remove(old)
		}
		s.Members[e.ID] = a
		list := s.list(e.Role)
		*list = append(*list, a)
	case a.Key != verifier:
		a.changes++
	}
	a.Key, a.Registration, a.Readmitted, a.absences = verifier, e.Registration, false, 0
	return nil
}

// remove forgets an agent.
func (s *State) remove(a *Member) {
	delete(s.Members, a.ID)
	list := s.list(a.Role)
	*list = slices.DeleteFunc(*list, func(other *Member) bool { return other == a })
}

func (e *Started) apply(s *State) error {
	if s.Schedule != nil {
		return errors.New("the league has started already")
	}
	if len(e.Seats) != len(s.Players) {
		return fmt.Errorf("%d seats for %d players", len(e.Seats), len(s.Players))
	}
	seats := make([]*Member, 0, len(e.Seats))
	for i, id := range e.Seats {
		a := s.Members[id]
		if a == nil || a.Role != protocol.RolePlayer || slices.Contains(e.Seats[:i], id) {
			return fmt.Errorf("seat %d is for %q, which is not a player or has another seat", i, id)
		}
		seats = append(seats, a)
	}
	schedule, err := game.NewSchedule(len(seats), e.Legs)
	if err != nil {
		return err
	}
	s.Schedule, s.Seats = schedule, seats
	s.matches = make([]match, len(schedule.Matches()))
	s.table = game.NewTable(len(seats))
	s.left = make([]int, schedule.Rounds())
	for i := range s.left {
		s.left[i] = len(schedule.Round(i + 1))
	}
	return nil
}

func (e *Assigned) apply(s *State) error {
	if e.Round < 1 || e.Round > s.Rounds() {
		return fmt.Errorf("there is no round %d", e.Round)
	}
	round := s.Schedule.Round(e.Round)
	if len(e.Referees) != len(round) {
		return fmt.Errorf("round %d has %d matches, not %d", e.Round, len(round), len(e.Referees))
	}
	for i, id := range e.Referees {
		referee := s.Members[id]
		switch {
		case id == "":
		case referee == nil || referee.Role != protocol.RoleReferee:
			return fmt.Errorf("%s is no referee", id)
		case s.Done(round[i]):
			return fmt.Errorf("%s is over", round[i].ID)
		}
	}
	for i, id := range e.Referees {
		if id == "" {
			continue
		}
		m := &s.matches[round[i].Index]
		if m.referee != nil {
			m.referee.Load--
		}
		m.referee = s.Members[id]
		m.referee.Load++
	}
	return nil
}

func (e *Reported) apply(s *State) error {
	p, ok := s.Find(e.Match)
	if !ok {
		return fmt.Errorf("there is no match %s", e.Match)
	}
	m := &s.matches[p.Index]
	switch {
	case m.outcome.over():
		return fmt.Errorf("%s has a result already", e.Match)
	case m.referee == nil || m.referee.ID != e.Referee:
		return fmt.Errorf("%s is not for %s to report", e.Match, e.Referee)
	}
	o, err := e.outcome()
	if err != nil {
		return fmt.Errorf("%s: %w", e.Match, err)
	}
	m.outcome, m.at = o, e.At.UnixNano()
	m.referee.Load--
	s.left[p.Round-1]--
	s.table.Add(p.A, p.B, o.verdict())
	for i, seat := range []int{p.A, p.B} {
		if a := s.Seats[seat]; o.results[i] == game.TechnicalLoss && o.choices[i] == game.NoParity {
			a.absences++
		} else {
			a.absences = 0
		}
	}
	s.Reports++
	return nil
}

func (e *RoundCompleted) apply(s *State) error {
	if !s.Running() || e.Round != s.Closed+1 || s.Left(e.Round) != 0 {
		return fmt.Errorf("round %d is not played, or not the current one", e.Round)
	}
	s.Closed++
	d := s.Draws
	s.Draws = Draws{d.Verified + e.Draws.Verified, d.Unverified + e.Draws.Unverified, d.Drawn + e.Draws.Drawn}
	return nil
}

func (e *Completed) apply(s *State) error {
	if !s.Over() {
		return errors.New("the league is not over")
	}
	s.Concluded = true
	return nil
}

func (e *StatusSet) apply(s *State) error {
	a := s.Members[e.Player]
	switch {
	case a == nil || a.Role != protocol.RolePlayer:
		return fmt.Errorf("%q is not a player", e.Player)
	case e.Status == Withdrawn && s.Schedule == nil:
		s.remove(a)
	case e.Status == Withdrawn, e.Status == Suspended:
		a.Status, a.Readmitted = e.Status, false
	case e.Status == Active:
		a.Status, a.Readmitted = "", true
	default:
		return fmt.Errorf("%s cannot be set to %q", e.Player, e.Status)
	}
	return nil
}

func (e *PaceSet) apply(s *State) error {
	if e.Pace != nil && (*e.Pace < 0 || *e.Pace > MaxPace) {
		return fmt.Errorf("a pause of %v after each round is not within 0s to %v", *e.Pace, MaxPace)
	}
	s.Paused, s.pace = e.Paused, e.Pace
	return nil
}
