package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// MaxPace is the longest pause after each round that SetPace takes.
const MaxPace = 24 * time.Hour

// paceSet says that the organiser has paused the league, lets it go on, or has changed
// the pause after each round.
type paceSet struct {
	Paused bool           `json:"paused"`
	Pace   *time.Duration `json:"pace,omitempty"` // in nanoseconds; nil while Config.Pace counts
	At     time.Time      `json:"at"`
}

func (*paceSet) kind() string { return "pace_set" }

func (e *paceSet) apply(s *state) error {
	if e.Pace != nil && (*e.Pace < 0 || *e.Pace > MaxPace) {
		return fmt.Errorf("a pause of %v after each round is not within 0s to %v", *e.Pace, MaxPace)
	}
	s.paused, s.pace = e.Paused, e.Pace
	return nil
}

// pace is the pause after each round. It is called with m.mu held.
func (m *Manager) pace() time.Duration {
	if m.state.pace != nil {
		return *m.state.pace
	}
	return m.cfg.Pace
}

// setPace answers SET_PACE. When it answers, the pace is in the journal.
func (m *Manager) setPace(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	if err := m.checkLauncher(in, "sets the pace of the league"); err != nil {
		return nil, err
	}
	msg, err := wire.Decode[*protocol.Pace](in)
	if err != nil {
		return nil, err
	}
	var change PaceChange
	if paused, given := msg.Paused.Get(); given {
		change.Paused = &paused
	}
	if ms, given := msg.PaceMS.Get(); given {
		pace := MaxPace + 1
		if int64(ms) <= MaxPace.Milliseconds() {
			pace = time.Duration(ms) * time.Millisecond
		}
		change.Pace = &pace
	}
	if change == (PaceChange{}) {
		e := protocol.Refuse(protocol.CodeMissingField, in.Type, "Say with paused whether the league is paused, or with pace_ms how long the pause after each round is.")
		e.Violations = []protocol.Violation{{Path: "/paused", Rule: "required"}}
		return nil, e
	}
	if err := m.SetPace(ctx, change); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &protocol.Pace{
		Header: protocol.Header{MessageType: in.Type.Answer(), LeagueID: m.cfg.LeagueID},
		Paused: protocol.Some(m.state.paused), PaceMS: protocol.Some(int(m.pace().Milliseconds())),
	}, nil
}

// PaceChange is what SetPace changes; nil leaves a field as it is.
type PaceChange struct {
	Paused *bool
	Pace   *time.Duration // 0 to MaxPace
}

// SetPace pauses the league, lets it go on, or changes the pause after each round, as
// SET_PACE does. A paused league plays its current round to the end and announces no
// other, so no deadline runs; one that is paused before its start begins no round.
// What was set holds after a restart. The error is a *protocol.Error: E031 when the
// league is over, E006 for a pause out of range.
func (m *Manager) SetPace(ctx context.Context, c PaceChange) error {
	m.signup.Lock()
	defer m.signup.Unlock()
	e, err := m.paceEvent(c)
	if e == nil || err != nil {
		return err
	}
	defer m.deliverEvents()
	return m.record(ctx, e)
}

// paceEvent returns the event that changes the pace, or nil if nothing changes.
func (m *Manager) paceEvent(c PaceChange) (*paceSet, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const t = protocol.TypeSetPace
	e := &paceSet{Paused: m.state.paused, Pace: m.state.pace, At: m.cfg.Now()}
	if c.Paused != nil {
		e.Paused = *c.Paused
	}
	if c.Pace != nil && *c.Pace != m.pace() {
		e.Pace = c.Pace
	}
	switch {
	case m.state.over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, t, "The league is over; it has no round to wait for.")
	case c.Pace != nil && (*c.Pace < 0 || *c.Pace > MaxPace):
		refusal := protocol.Refuse(protocol.CodeInvalidFieldType, t, fmt.Sprintf("The pause after each round is 0 to %d ms.", MaxPace.Milliseconds()))
		refusal.Violations = []protocol.Violation{{Path: "/pace_ms", Rule: "range"}}
		return nil, refusal
	case e.Paused == m.state.paused && e.Pace == m.state.pace:
		return nil, nil
	}
	return e, nil
}

// reactPace has the driver look at its pause again. It is called with m.mu held.
func (m *Manager) reactPace() {
	m.emit(Event{Kind: PaceSet, Paused: m.state.paused, PaceMS: m.pace().Milliseconds()})
	m.wakeDriver()
}

// rest waits until the next round is due: after the pace since the last one ended, the
// zero time if that is not known, and not while the league is paused. A round that has
// begun, before a restart, goes on at once.
func (m *Manager) rest(ended time.Time) error {
	var due *time.Timer
	defer func() {
		if due != nil {
			due.Stop()
		}
	}()
	return m.until(func() bool {
		left := time.Until(ended.Add(m.pace()))
		switch {
		case m.state.begun():
			return true
		case m.state.paused:
			return false
		case left <= 0:
			return true
		}
		if due != nil {
			due.Stop()
		}
		due = time.AfterFunc(left, m.wakeDriver)
		return false
	})
}
