package player

import (
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	Registered EventKind = "registered"
	Invited    EventKind = "invited"
	Chose      EventKind = "chose"
	Failed     EventKind = "failed" // the strategy did
	Ended      EventKind = "ended"  // a match did
	Completed  EventKind = "completed"
)

// Event is something that happened to the agent, for people who watch. Fields
// that an event has nothing to say of are empty.
type Event struct {
	Kind     EventKind           `json:"event"`
	Player   string              `json:"player"`
	Match    string              `json:"match,omitempty"`
	Round    int                 `json:"round,omitempty"`
	Opponent string              `json:"opponent,omitempty"`
	Choice   string              `json:"choice,omitempty"`
	Fault    string              `json:"fault,omitempty"`
	Error    string              `json:"error,omitempty"`
	Result   string              `json:"result,omitempty"`
	Points   int                 `json:"points,omitempty"`
	Place    int                 `json:"place,omitempty"` // in the final table
	Standing strategies.Standing `json:"standing,omitzero"`
}

func (p *Player) tell(e Event) {
	e.Player = p.ID()
	p.cfg.Events(e)
}

// Faults returns the matches in which the strategy failed, by match id, with
// what it brought to each. An assembler of experiments records them.
func (p *Player) Faults() map[string]Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := make(map[string]Answer)
	for id, m := range p.matches {
		if m.answer.Fault != game.NoFault {
			faults[id] = m.answer
		}
	}
	return faults
}
