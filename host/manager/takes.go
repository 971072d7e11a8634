package manager

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// The functions of this file take reports that a strict manager refuses: those of
// the referee of the match about its players, whatever else they say.

// trustedReferee returns the referee of the match that a report is about, in
// tolerant mode and where the referee has not declared match keys: it may sign with
// its token in a way of its own or, until it has shown its token once, with its id
// or name and a token of its own making. It is nil for any other message.
func (m *Manager) trustedReferee(in *wire.Exchange) *member {
	if m.cfg.Mode == protocol.Strict || in.Type != protocol.TypeMatchResultReport {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.schedule == nil {
		return nil
	}
	p, known := m.state.schedule.Find(in.Header.MatchID)
	if !known || m.state.matches[p.Index].referee == nil {
		return nil
	}
	a, token := m.state.matches[p.Index].referee, in.Header.AuthToken
	c := m.contacts[a.id]
	_, signed, _ := strings.Cut(in.Header.Sender, ":")
	signed = cmp.Or(signed, in.Header.Sender)
	own := signed == a.id || signed == a.reg.Name
	switch other := m.state.agents[signed]; {
	case a.reg.Keyed || other != nil && other != a:
		return nil
	case a.verifier.Verify(token):
		c.proved = true
	case !own || c.proved || tokenOwner(token) != "":
		return nil
	}
	m.alive(c)
	return a
}

// readReport reads the outcome of a report. Where what it says beside the winner
// does not add up, a tolerant manager takes it at its word, and returns what is
// wrong as well. It is called with m.mu held.
func (m *Manager) readReport(msg *protocol.MatchResultReport, a, b string) (o outcome, wrong, err error) {
	strict := m.cfg.Mode == protocol.Strict
	if o, err = readOutcome(msg, a, b, m.cfg.Draw, strict); err == nil || strict {
		return o, nil, err
	}
	for _, less := range []*protocol.MatchResultReport{withoutNumber(msg, a, b), wordOf(msg, a, b)} {
		if again, failed := readOutcome(less, a, b, m.cfg.Draw, false); failed == nil {
			return again, err, nil
		}
	}
	return o, nil, err
}

// withoutNumber returns a report of who won by which choices: other leagues draw
// other numbers, and count other points.
func withoutNumber(msg *protocol.MatchResultReport, a, b string) *protocol.MatchResultReport {
	less := wordOf(msg, a, b)
	if d := msg.Result.Details; d != nil {
		less.Result.Details.Choices, less.Result.Details.TechnicalLossPlayerIDs = d.Choices, d.TechnicalLossPlayerIDs
	}
	return less
}

// wordOf returns a report of nothing but who won, or lost by technical loss.
func wordOf(msg *protocol.MatchResultReport, a, b string) *protocol.MatchResultReport {
	word := *msg
	details := new(protocol.ResultDetails)
	if d := msg.Result.Details; d != nil {
		details.Status = strings.ToUpper(d.Status)
	}
	winner, score := msg.Result.Winner.Value(), msg.Result.Score
	nothing := score != nil && score[a] == 0 && score[b] == 0
	switch {
	case details.Status == protocol.StatusTechnicalLoss:
	case winner != "" && !strings.EqualFold(winner, protocol.StatusDraw):
		details.Status = protocol.StatusWin
	case nothing:
		details.Status = protocol.StatusTechnicalLoss
	default:
		details.Status = protocol.StatusDraw
	}
	word.Result = protocol.MatchResult{Winner: msg.Result.Winner, Details: details}
	return &word
}

// sayDiffers reports what is wrong with a report that counts all the same, each
// once for each referee. It is called with m.mu held.
func (m *Manager) sayDiffers(referee *member, match string, flaws ...error) {
	for _, flaw := range flaws {
		e, is := errors.AsType[*protocol.Error](flaw)
		if !is {
			continue
		}
		key := fmt.Sprintf("%q", []string{string(ReportDiffers), referee.id, string(e.Code), fieldOf(e)})
		if m.refusals[key] || len(m.refusals) == maxRefusals {
			continue
		}
		m.refusals[key] = true
		what := reasonOf(e)
		m.cfg.Log.Info("a report counts although something in it is wrong", "referee", referee.id, "match", match, "reason", what)
		m.emit(Event{Kind: ReportDiffers, Agent: referee.id, Role: referee.role, Name: referee.reg.Name, Matches: []string{match}, Error: what})
	}
}

// fieldOf returns the field that a refusal is about, which distinguishes it
// from others: its sentence names the match.
func fieldOf(e *protocol.Error) string {
	if len(e.Violations) > 0 {
		return e.Violations[0].Path
	}
	field, _ := e.Context["field"].(string)
	return field
}
