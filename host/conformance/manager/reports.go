package manager

import (
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

func acceptedReportChecks() []kit.Check {
	form := func(name string, level kit.Level, rule, advice string) kit.Check {
		return leagueCheck("report."+name, level, rule, advice, func(t T) {
			a := t.recorded("report." + name)
			d, err := dialect.Named(name)
			if err != nil {
				t.Accepted(a, "")
				return
			}
			t.AnsweredIn(a, d)
		})
	}
	wrapped := func(name, rule string) kit.Check {
		return form(name, kit.Wild, rule, kit.FindByWrapping).Needing("manager.dialect." + name)
	}
	return []kit.Check{
		leagueCheck("report.ack", kit.Must, "MATCH_RESULT_REPORT of the match's referee is answered by MATCH_RESULT_ACK (MATCH_RESULT_ACK).", "Store the result, then answer.", func(t T) {
			t.acknowledged(t.recorded("report"))
			said := t.league.probes["report.context"] // the same of its match as the next
			for n := range t.league.reported + 1 {
				name := probeName("report", n)
				if made := t.league.probes[name]; made != nil && (said == nil || !said.answer.Taken() || !duplicate(made.answer)) {
					t.acknowledged(t.recorded(name))
				}
			}
		}),
		leagueCheck("report.match", kit.Should, "MATCH_RESULT_ACK has the match and its round (MATCH_RESULT_ACK).", "Copy match_id and round_id.", func(t T) {
			a, m := t.recorded("report"), t.league.first
			t.acknowledged(a)
			t.states("the answer", a.Message, map[string]any{"match_id": m.id, "round_id": m.round})
		}),
		wrapped(dialect.Envelope.Name, "A report in league.handle, with params.envelope and params.payload, is accepted, and answered in kind (league.v2, dialects)."),
		wrapped(dialect.Tool.Name, "A report by tools/call with params.name and params.arguments is accepted, and answered as a tool result (league.v2, dialects)."),
		wrapped(dialect.ToolIO.Name, "A report by tools/call with params.tool and params.input is accepted, and answered in result.output (league.v2, dialects)."),
		wrapped(dialect.Bare.Name, "A report without JSON-RPC is accepted and answered without, or refused (league.v2, dialects)."),
		form("nostatus", kit.Should, "A report without details.status is accepted: winner and score say how the match ended (MATCH_RESULT_REPORT).", "Read winner first: an id is a win, null a tie or two technical losses."),
		leagueCheck("report.again", kit.Should, "A repeated report is acknowledged again, or refused with 5003 and previous_report_time; same_result, if present, is true (league.v2, reports).",
			"Store when and what was reported, and compare: a referee that lost the answer must learn that the report was accepted.", acceptsRepetition),
		leagueCheck("report.twice", kit.Should, "The same report twice at the same time counts once: one is acknowledged, the other too or refused with 5003.", "Judge and store a report under one lock.", countsOnce),
	}
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

func acceptsRepetition(t T) {
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
}

func countsOnce(t T) {
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
}

func refusedReportChecks() []kit.Check {
	const compare = "Compare auth_token with that of the agent in sender, and the agent with the referee that the match was assigned to."
	const recount = "Derive the winner from choices and drawn_number, and the points from that; refuse contradictions."
	bad := func(name string, level kit.Level, rule, advice string) kit.Check {
		return refusedCheck("report."+name, "report."+name, level, rule, advice)
	}
	return []kit.Check{
		bad("differs", kit.Should, "A second report of a match with another result is refused (5003, E041): the first counts.", "Look whether the match already has a result; say in same_result that they differ."),
		bad("unknown", kit.Should, "A report of an unknown match is refused (5002, E040).", "Look the match up in the schedule."),
		bad("token", kit.Should, "A report with a token that was never issued is refused (5001, E012).", compare),
		bad("tokenless", kit.Should, "A report without a token is refused (5001, E011).", compare),
		bad("player", kit.Should, "A report by a player is refused: only the match's referee reports (5002).", compare),
		bad("other", kit.Should, "A report by another referee than the match was assigned to is refused (5002).", compare),
		bad("context", kit.Wild, "A report for another league is refused (-32602, E046).", "Compare league_id with your own."),
		bad("empty", kit.Should, "A report without result is refused (-32602, E003).", "Check that it is present before you read it."),
		bad("winner", kit.Wild, "A report whose winner does not follow from its choices and its number is refused (-32602, E046).", recount),
		bad("score", kit.Wild, "A report with other points than 3 and 0, or 1 each, is refused (-32602, E046).", recount),
		bad("number", kit.Wild, "A report of a number that cannot be drawn is refused (-32602, E046).", "Check that drawn_number is in 1 to 10."),
		bad("players", kit.Should, "A report with other players than those of the match is refused (-32602, E046).", "Compare the ids in winner and score with those of the schedule."),
		refusedCheck("report.late", "over.report", kit.Should, "A report after the end of the league is refused and changes nothing.", "Look at the state first."),
		leagueCheck("report.codes", kit.Wild, "A refused report has the code of its cause: 5001 for the token, 5002 for the match, 5003 for a duplicate, -32602 for the result (league.v2, errors).",
			"Give the JSON-RPC error the number of its cause.", refusesByCode),
	}
}

func refusesByCode(t T) {
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
