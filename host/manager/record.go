package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

// An event is one entry of the journal: the only way in which a league's state
// changes.
type event interface {
	kind() string
	apply(s *state) error
}

// registered says that an agent has registered, or, for an id that is known,
// what has become of it: a new token, a new endpoint.
type registered struct {
	Role     protocol.Role `json:"role"`
	ID       string        `json:"id"`
	Replaces string        `json:"replaces,omitempty"` // an id that is given up for it
	// Verifier is key-equivalent; the journal is readable to its owner only.
	Verifier    string    `json:"verifier"`
	Dialect     string    `json:"dialect"`
	Name        string    `json:"display_name"`
	Version     string    `json:"version,omitempty"`
	Games       []string  `json:"game_types,omitempty"`
	Endpoint    string    `json:"contact_endpoint"`
	Capacity    int       `json:"max_concurrent_matches,omitempty"`
	Keyed       bool      `json:"match_keys,omitempty"` // it signs with them
	Fingerprint string    `json:"mark,omitempty"`       // of the request, to know it again
	From        string    `json:"from,omitempty"`       // the address of a player, if there is a bound for each
	At          time.Time `json:"at"`
}

// same reports whether two registrations say the same of the same agent.
func (e *registered) same(o *registered) bool {
	return e.Role == o.Role && e.ID == o.ID && e.Verifier == o.Verifier && e.Dialect == o.Dialect && e.Name == o.Name &&
		e.Version == o.Version && slices.Equal(e.Games, o.Games) && e.Endpoint == o.Endpoint && e.Capacity == o.Capacity && e.Keyed == o.Keyed
}

// started fixes the seats of the players, and with that the schedule.
type started struct {
	Legs  int       `json:"legs"`
	Seats []string  `json:"seats"`
	At    time.Time `json:"at"`
}

// assigned says which referees conduct which matches of a round.
type assigned struct {
	Round    int      `json:"round"`
	Referees []string `json:"referees"` // by match of the round; "" leaves it as it is
}

// reported is a result that was accepted.
type reported struct {
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

// roundCompleted says that a round was played and everybody was notified.
type roundCompleted struct {
	Round int       `json:"round"`
	Draws Draws     `json:"draws,omitzero"`
	At    time.Time `json:"at"`
}

// completed says that everybody was notified of the league's end, or given up on.
type completed struct {
	Champion string    `json:"champion"`
	At       time.Time `json:"at"`
}

func (*registered) kind() string     { return "registered" }
func (*started) kind() string        { return "started" }
func (*assigned) kind() string       { return "assigned" }
func (*reported) kind() string       { return "reported" }
func (*roundCompleted) kind() string { return "round_completed" }
func (*completed) kind() string      { return "completed" }

var newEvents = map[string]func() event{
	"registered":      func() event { return new(registered) },
	"started":         func() event { return new(started) },
	"assigned":        func() event { return new(assigned) },
	"reported":        func() event { return new(reported) },
	"round_completed": func() event { return new(roundCompleted) },
	"completed":       func() event { return new(completed) },
	"status_set":      func() event { return new(statusSet) },
	"pace_set":        func() event { return new(paceSet) },
}

// replay applies one event of a journal.
func (s *state) replay(j journal.Event) error {
	newEvent := newEvents[j.Type]
	if newEvent == nil {
		return fmt.Errorf("there is no event %q; a newer version may have written it", j.Type)
	}
	e := newEvent()
	if err := json.Unmarshal(j.Data, e); err != nil {
		return err
	}
	return e.apply(s)
}

// replay makes a state of the events of a journal.
func replay(league string, events []journal.Event) (*state, error) {
	s := newState(league)
	for _, j := range events {
		if err := s.replay(j); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", j.Seq, j.Type, err)
		}
	}
	return s, nil
}

// Replay recomputes a league's table from the events of its manager's journal,
// by nothing but the rules: for audits, and for a second look at a table.
func Replay(league string, events []journal.Event) ([]Standing, error) {
	s, err := replay(league, events)
	if err != nil {
		return nil, fmt.Errorf("replay league %s: %w", league, err)
	}
	return s.standings(), nil
}

func parseResult(s string) (game.Result, error) {
	for _, r := range []game.Result{game.Win, game.Tie, game.Loss, game.TechnicalLoss} {
		if r.String() == s {
			return r, nil
		}
	}
	return game.NoResult, fmt.Errorf("there is no result %q", s)
}
