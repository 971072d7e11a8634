package manager

import (
	"errors"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
)

// Draws counts the numbers that were drawn in the rounds that are over, by what the
// players said of them. They say it to the manager with their acknowledgement of
// ROUND_COMPLETED; a referee has no part in it.
type Draws struct {
	// Verified counts numbers that a player could verify, and none could not.
	Verified int `json:"verified"`
	// Unverified counts numbers that a player could not verify, although the referee
	// had committed to a key.
	Unverified int `json:"unverified"`
	Drawn      int `json:"drawn"`
}

// Unchecked is how many numbers no player has spoken of: the referee committed to no
// key for them, the players do not know verifiable draws, or did not answer in time.
func (d Draws) Unchecked() int { return d.Drawn - d.Verified - d.Unverified }

func (d *Draws) add(o Draws) {
	d.Drawn, d.Verified, d.Unverified = d.Drawn+o.Drawn, d.Verified+o.Verified, d.Unverified+o.Unverified
}

// Draws returns what the players said of the numbers of the rounds that are over.
func (m *Manager) Draws() Draws {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.draws
}

// noteVerdict keeps what a player says of the number of its match in the current
// round, of the version that chose in it, and of its failure, when it acknowledges the end
// of the round.
func (m *Manager) noteVerdict(c *contact, message, answer protocol.Message) {
	ack, ok := answer.(*protocol.Ack)
	if !ok || message.Head().MessageType != protocol.TypeRoundCompleted {
		return
	}
	verified, said := ack.DrawVerified.Get()
	if !said && ack.StrategyVersion == "" && ack.StrategyError == "" || !m.acknowledges(c, answer) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if message.Head().RoundID.Number() != m.state.round() || m.state.over() {
		return
	}
	if said {
		m.verdicts[c.member.id] = verified
	}
	m.noteVersion(c.member, ack.StrategyVersion)
	if round := m.state.round(); ack.StrategyError != "" && m.failures[c.member.id] != round {
		m.failures[c.member.id] = round
		m.emit(Event{
			Kind: StrategyFailed, Agent: c.member.id, Role: c.member.role, Name: c.member.reg.Name, Round: round,
			Error: agent.Brief(errors.New(ack.StrategyError)),
		})
	}
}

// noteVersion notes which version of a player's strategy chose in the current round.
// A player without edits says nothing. It is called with m.mu held.
func (m *Manager) noteVersion(player *member, version string) {
	before := m.versions[player.id]
	if version == before || !protocol.ValidID(version) {
		return
	}
	m.versions[player.id] = version
	if before != "" {
		m.emit(Event{Kind: StrategyEdited, Agent: player.id, Role: player.role, Name: player.reg.Name, Round: m.state.round(), Version: version})
	}
}

// judgedDraws counts the numbers of the current round by the verdicts of the players. It is
// called with m.mu held.
func (m *Manager) judgedDraws(round int) (d Draws) {
	for _, p := range m.state.schedule.Round(round) {
		if m.state.matches[p.Index].outcome.number == noNumber {
			continue
		}
		d.Drawn++
		a, ofA := m.verdicts[m.state.seats[p.A].id]
		b, ofB := m.verdicts[m.state.seats[p.B].id]
		switch {
		case ofA && !a, ofB && !b:
			d.Unverified++
		case ofA, ofB:
			d.Verified++
		}
	}
	return d
}
