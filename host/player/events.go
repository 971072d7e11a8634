package player

import (
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	Waiting    EventKind = "waiting" // for the manager, which cannot be reached; told once
	Registered EventKind = "registered"
	Announced  EventKind = "announced" // a match of the agent's; without one it pauses in the round
	Invited    EventKind = "invited"
	Chose      EventKind = "chose"
	Answered   EventKind = "answered" // a call for a choice, be it a repeated one
	Failed     EventKind = "failed"   // the strategy did
	Ended      EventKind = "ended"    // a match did
	Completed  EventKind = "completed"
	Deserted   EventKind = "deserted" // nothing has been heard for so long that the league must be over
	Left       EventKind = "left"     // the agent has left a league in which it has played and that is not over
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
	Number   int                 `json:"drawn_number,omitempty"`    // 0 where none was drawn, or told
	Other    string              `json:"opponent_choice,omitempty"` // empty where it is not told
	Points   int                 `json:"points,omitempty"`
	Place    int                 `json:"place,omitempty"` // in the final table
	League   string              `json:"league,omitempty"`
	Dialect  string              `json:"dialect,omitempty"` // that the manager, or the referee, speaks
	Referee  string              `json:"referee,omitempty"`
	Role     string              `json:"role,omitempty"`
	Table    []protocol.Standing `json:"table,omitempty"`   // the last that was told
	Took     time.Duration       `json:"took_ns,omitempty"` // from the call for a choice to the answer
	Standing strategies.Standing `json:"standing,omitzero"`
}

func (p *Player) tell(e Event) {
	e.Player = p.ID()
	p.cfg.Events(e)
}

// Faults returns the matches of the league under way in which the strategy made
// no choice, by match id, with what it brought to each.
func (p *Player) Faults() map[string]seat.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := make(map[string]seat.Answer)
	for id, m := range p.season.matches {
		if m.answer.Fault != game.NoFault {
			faults[id] = m.answer
		}
	}
	return faults
}

// Failures returns what the strategy did wrong in the league under way, in
// order. It is for when the league is over: a seat that does not exist yet is
// made no more.
func (p *Player) Failures() []Failure {
	s := p.current()
	s.open.Do(func() {})
	if s.seat == nil {
		return nil
	}
	return s.seat.listFailures()
}
