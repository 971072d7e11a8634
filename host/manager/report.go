package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// pending is an event of a match, its result or another referee, that is on its
// way into the journal.
type pending struct{ done chan struct{} }

// report takes a result down. When it answers, the result is in the journal.
func (m *Manager) report(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	from := in.From.(caller)
	msg, err := wire.Decode[*protocol.MatchResultReport](in)
	if err != nil {
		return nil, err
	}
	var p game.Pairing
	var o outcome
	for {
		var before *pending
		if p, o, before, err = m.claim(msg, from); err != nil {
			return nil, err
		}
		if before == nil {
			break
		}
		// The same match is being reported already, or goes to another referee.
		// What this report is can be told only when that stands.
		select {
		case <-before.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	err = m.record(ctx, newReported(p.ID, from.agent.id, o, m.cfg.Now()))
	m.release(p.ID)
	if err != nil {
		return nil, err
	}
	return &protocol.MatchResultAck{
		Header: protocol.Header{
			MessageType: protocol.TypeMatchResultAck, LeagueID: m.cfg.LeagueID, MatchID: p.ID,
			RoundID: echoed(msg.RoundID, p.Round), GameType: protocol.GameEvenOdd,
		},
		Status: protocol.StatusAccepted, Recorded: protocol.Some(true),
	}, nil
}

// echoed returns a round as the peer wrote it, or its number where it did not.
func echoed(r protocol.Round, number int) protocol.Round {
	if r.Number() == number {
		return r
	}
	return protocol.RoundNumber(number)
}

// claim judges a report and reserves its match, so that two reports at the same
// time do not both count. If another one has reserved it, that is returned
// instead.
func (m *Manager) claim(msg *protocol.MatchResultReport, from caller) (game.Pairing, outcome, *pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	none := func(err error) (game.Pairing, outcome, *pending, error) { return game.Pairing{}, outcome{}, nil, err }
	if err := m.inContext(msg); err != nil {
		return none(err)
	}
	p, err := m.ownMatch(msg, from)
	if err != nil {
		return none(err)
	}
	o, err := readOutcome(msg, m.state.seats[p.A].id, m.state.seats[p.B].id, m.cfg.Draw, m.cfg.Mode == protocol.Strict)
	if err != nil {
		return none(err)
	}
	if known := &m.state.matches[p.Index]; known.outcome.over() {
		return none(duplicate(p, known, o))
	}
	if before := m.reserved[p.ID]; before != nil {
		return p, o, before, nil
	}
	m.reserve(p.ID)
	return p, o, nil, nil
}

// reserve keeps everybody else from matches while an event of theirs is on its
// way into the journal, so that events of one match stand there in the order
// in which they take effect. It is called with m.mu held.
func (m *Manager) reserve(ids ...string) {
	for _, id := range ids {
		m.reserved[id] = &pending{done: make(chan struct{})}
	}
}

// release ends the reservation of matches.
func (m *Manager) release(ids ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		close(m.reserved[id].done)
		delete(m.reserved, id)
	}
}

// inContext refuses a report for another league or of another game.
func (m *Manager) inContext(msg *protocol.MatchResultReport) error {
	wrong := func(field, want string) error {
		e := protocol.Refuse(protocol.CodeContextMismatch, msg.MessageType, fmt.Sprintf("The %s is not that of the match; it is %s.", field, want))
		e.Violations = []protocol.Violation{{Path: "/" + field, Rule: "consistent"}}
		return e
	}
	if msg.LeagueID != "" && msg.LeagueID != m.cfg.LeagueID {
		return wrong("league_id", m.cfg.LeagueID)
	}
	if msg.GameType != "" && msg.GameType != protocol.GameEvenOdd {
		return wrong("game_type", protocol.GameEvenOdd)
	}
	if m.state.schedule == nil {
		return nil
	}
	p, known := m.state.schedule.Find(msg.MatchID)
	if known && msg.RoundID.String() != "" && msg.RoundID.Number() != p.Round {
		return wrong("round_id", fmt.Sprint(p.Round))
	}
	return nil
}

// ownMatch finds the match of a report, which must be the referee's.
func (m *Manager) ownMatch(msg *protocol.MatchResultReport, from caller) (game.Pairing, error) {
	refuse := func(detail string) (game.Pairing, error) {
		return game.Pairing{}, protocol.Refuse(protocol.CodeMatchNotFound, msg.MessageType, detail).With("match_id", msg.MatchID)
	}
	if m.state.schedule == nil {
		return refuse("The league has not started, so there are no matches yet.")
	}
	p, ok := m.state.schedule.Find(msg.MatchID)
	if !ok {
		return refuse("There is no such match; GET_SCHEDULE lists the matches.")
	}
	if referee := m.state.matches[p.Index].referee; from.agent == nil || referee != from.agent {
		return refuse("The match is not, or no longer, for the sender to report.")
	}
	return p, nil
}

// duplicate refuses a report of a match that has a result, and says whether it
// repeats that result: then its sender may take it as accepted.
func duplicate(p game.Pairing, known *match, o outcome) error {
	same := known.outcome == o
	detail := "The match has a result already, and this report says the same; it was recorded."
	if !same {
		detail = "The match has another result already, which stands; find out why the reports differ."
	}
	return protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, detail).
		With("match_id", p.ID).With("round_id", p.Round).
		With("previous_report_time", protocol.Timestamp(time.Unix(0, known.at).UTC())).With("same_result", same)
}
