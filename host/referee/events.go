package referee

import (
	"github.com/strategylab/strategylab/host/game"
)

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	Waiting    EventKind = "waiting" // for the manager, which cannot be reached; told once
	Registered EventKind = "registered"
	Retried    EventKind = "retried"   // a player has to be asked again
	Forfeited  EventKind = "forfeited" // a player has lost a match on technical grounds: Fault, and Error if there is more to say
	Finished   EventKind = "finished"  // a match is
	Alarm      EventKind = "alarm"     // a match cannot be played or reported, or the manager holds another result of it
	Completed  EventKind = "completed" // the league is; Matches were conducted
	Deserted   EventKind = "deserted"  // nothing has been heard for so long that the league must be over; Matches were conducted
)

// Event is something that happened, for people who watch. Fields that an event
// has nothing to say of are empty.
type Event struct {
	Kind    EventKind `json:"event"`
	Referee string    `json:"referee"`
	Match   string    `json:"match,omitempty"`
	Round   int       `json:"round,omitempty"`
	Player  string    `json:"player,omitempty"`
	Retry   int       `json:"retry,omitempty"`
	Error   string    `json:"error,omitempty"`

	Players [2]string    `json:"players,omitzero"` // A, B
	Sides   [2]game.Side `json:"-"`
	Number  int          `json:"drawn_number,omitempty"`
	Points  [2]int       `json:"points,omitzero"`
	Matches int          `json:"matches,omitempty"`

	Dialect string `json:"dialect,omitempty"` // in which the manager is spoken to
	Fault   string `json:"fault,omitempty"`   // as game.Fault has it
	// Tolerant says of an answer that was not taken that a tolerant referee
	// would have taken it.
	Tolerant bool `json:"tolerant_would_accept,omitempty"`
}

func (r *Referee) tell(e Event) {
	e.Referee = r.member.Me.ID()
	r.cfg.Events(e)
}

func resultEvent(b *match, p *game.Play) Event {
	v := p.Verdict()
	e := Event{Kind: Finished, Match: b.Match, Round: b.Round, Players: b.Players, Points: [2]int{v.PointsA, v.PointsB}}
	e.Sides[0], e.Sides[1] = p.Sides()
	e.Number, _ = p.Number()
	return e
}
