package manager

import (
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

var reportTests = map[string]func(T){
	"report.ack": func(t T) {
		t.acknowledged(t.recorded("report"))
		said := t.league.probes["report.context"] // the same of its match as the next
		for n := range t.league.reported + 1 {
			name := probeName("report", n)
			if made := t.league.probes[name]; made != nil && (said == nil || !said.answer.Taken() || !duplicate(made.answer)) {
				t.acknowledged(t.recorded(name))
			}
		}
	},
	"report.match": func(t T) {
		a, m := t.recorded("report"), t.league.first
		t.acknowledged(a)
		t.states("the answer", a.Message, map[string]any{"match_id": m.id, "round_id": m.round})
	},
	"report.nostatus": func(t T) { t.Accepted(t.recorded("report.nostatus"), "") },
	"report.again": func(t T) {
		a := t.recorded("report.again")
		if !a.Refused {
			t.acknowledged(a)
			return
		}
		if !duplicate(a) {
			t.Fail("it is %s, want 5003", a)
		}
		if _, err := protocol.ParseTimestamp(a.Message.Text("previous_report_time")); err != nil {
			t.Fail("previous_report_time is %s: %v", a.Message.Shown("previous_report_time"), err)
		}
		if same := a.Message["same_result"]; same != nil && string(same) != "true" {
			t.Fail("same_result is %s, although the reports are the same", same)
		}
	},
	"report.twice": func(t T) {
		t.acknowledged(t.recorded("report.twice"))
		other := t.recorded("report.twice.other")
		if other.Err != nil {
			t.Fail("the other report was not answered: %v", other.Err)
		}
		if other.Refused && !duplicate(other) {
			t.Fail("the other report is answered by %s, want 5003", other)
		}
		if !other.Refused {
			t.acknowledged(other)
		}
		if table := t.league.countedTwice; table != "" {
			t.recorded(table)
			t.Fail("both are acknowledged, and the standings count the match twice")
		}
	},
	"report.codes": func(t T) {
		coded := 0
		for _, cause := range []struct {
			code  int
			names string
		}{
			{5001, "token tokenless"}, {5002, "unknown other"}, {5003, "differs"}, {-32602, "context empty winner score number players"},
		} {
			for _, name := range strings.Fields(cause.names) {
				made := t.played().probes["report."+name]
				if made == nil || made.answer.Code == 0 {
					continue // for another check to find
				}
				coded++
				if a := t.recorded("report." + name); a.Code != cause.code {
					t.Fail("the report of manager.report.%s is refused with %d, want %d", name, a.Code, cause.code)
				}
			}
		}
		if coded == 0 {
			t.Skip("no report was refused with a code")
		}
	},
}

// acknowledged ends the check unless an answer acknowledges a report.
func (t T) acknowledged(a *kit.Answer) {
	t.Accepted(a, "")
	switch typ := protocol.Type(a.Message.Text("message_type")); typ {
	case "", protocol.TypeMatchResultReport.Answer(), "MATCH_RESULT_REPORT_ACK":
	default:
		t.Fail("answered by a %s instead of a %s", typ, protocol.TypeMatchResultReport.Answer())
	}
}

// unknownMatch is a match that no league has.
const unknownMatch = "R99M99"

// copyOf returns the report of a match as its referee sends it, as a new message.
func (t T) copyOf(m *match) *protocol.MatchResultReport {
	r := *m.report
	r.Timestamp, r.ConversationID = protocol.Timestamp(time.Now()), jsonrpc.RandomID()
	if r.Result.Details != nil {
		details := *r.Result.Details
		r.Result.Details = &details
	}
	return &r
}

// wonBy returns a report by which one of the players has won a match.
func (t T) wonBy(m *match, side int) *protocol.MatchResultReport {
	winner, loser := m.players[side], m.players[1-side]
	r := &protocol.MatchResultReport{Header: t.header(m.referee, protocol.TypeMatchResultReport), Result: protocol.MatchResult{
		Winner: protocol.Some(winner), Score: map[string]int{winner: game.WinPoints, loser: 0},
		Details: &protocol.ResultDetails{
			Status: protocol.StatusWin, DrawnNumber: protocol.Some(8), NumberParity: protocol.Some(string(protocol.Even)),
			Choices: map[string]protocol.Choice{winner: protocol.Even, loser: protocol.Odd},
		},
	}}
	r.MatchID, r.GameType = m.id, protocol.GameEvenOdd
	if m.round > 0 {
		r.RoundID = protocol.RoundNumber(m.round)
	}
	return r
}

// another returns a report of a match with another result.
func (t T) another(m *match) *protocol.MatchResultReport {
	if m.winner() == m.players[0] {
		return t.wonBy(m, 1)
	}
	return t.wonBy(m, 0)
}
