package conformance

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// reportTakenChecks are about reports that are to be taken.
func reportTakenChecks() []Check {
	form := func(name string, level Level, rule, advice string) Check {
		return seasonCheck("report."+name, level, rule, advice, func(p managerT) {
			a := p.recall("report." + name)
			if name == protocol.DialectBare && a.Refused {
				p.Note("refused, as in strict mode: %s", a)
				return
			}
			p.accepted(a, "")
			if name != "nostatus" && a.Wrapping != name {
				p.Fail("reported in %s, it is answered in %s", name, a.Wrapping)
			}
		})
	}
	wrapped := func(name, rule string) Check {
		const anywhere = "Look for the message where its wrapping puts it, dispatch by message_type, and answer in the wrapping that was used."
		return form(name, Wild, rule, anywhere).needing("manager.dialect." + name)
	}
	return []Check{
		seasonCheck("report.ack", Must, "MATCH_RESULT_REPORT of the match's referee is answered by MATCH_RESULT_ACK (MATCH_RESULT_ACK).", "Take the result down, and answer when it is.", func(p managerT) {
			p.acknowledged(p.recall("report"))
			for n := range len(p.season.ends) + 1 {
				if name := fmt.Sprintf("report.%d", n); p.season.probes[name] != nil {
					p.acknowledged(p.recall(name))
				}
			}
		}),
		seasonCheck("report.match", Should, "MATCH_RESULT_ACK names the match and its round (MATCH_RESULT_ACK).", "Copy match_id and round_id.", func(p managerT) {
			a, f := p.recall("report"), p.season.turns[0].fixtures[0]
			p.acknowledged(a)
			if got := a.Message.text("match_id"); got != f.id {
				p.Fail("match_id is %s, want %q", orMissing(a.Message["match_id"]), f.id)
			}
			if got := roundOf(a.Message["round_id"]); got != f.round {
				p.Fail("round_id is %s, want %d", orMissing(a.Message["round_id"]), f.round)
			}
		}),
		wrapped(protocol.DialectEnvelope, "A report in league.handle, with params.envelope and params.payload, is taken, and answered in kind (league.v2, dialects)."),
		wrapped(protocol.DialectTool, "A report by tools/call with params.name and params.arguments is taken, and answered as a tool result (league.v2, dialects)."),
		wrapped(protocol.DialectToolIO, "A report by tools/call with params.tool and params.input is taken, and answered in result.output (league.v2, dialects)."),
		wrapped(protocol.DialectBare, "A report without JSON-RPC is taken and answered without, or refused (league.v2, dialects)."),
		form("nostatus", Should, "A report without details.status is taken: how the match ended follows from winner and score (MATCH_RESULT_REPORT).", "Read winner first: an id is a win, null a draw or two technical losses."),
		seasonCheck("report.again", Should, "A report that comes again is acknowledged again, or refused with 5003 and previous_report_time; same_result, where it stands, is true (league.v2, reports).",
			"Keep when and what was reported, and compare: a referee that lost the answer has to be told that all is well.", toleratesAgain),
		seasonCheck("report.twice", Must, "The same report twice at the same time counts once: one is acknowledged, the other too or refused with 5003.", "Judge and store a report under one lock.", countsOnce),
	}
}

// acknowledged ends the check unless an answer says that a result was taken.
func (p managerT) acknowledged(a *Answer) {
	p.accepted(a, "")
	switch t := protocol.Type(a.Message.text("message_type")); t {
	case "", protocol.TypeMatchResultAck, "MATCH_RESULT_REPORT_ACK":
	default:
		p.Fail("answered by a %s instead of a %s", t, protocol.TypeMatchResultAck)
	}
}

// known reports whether a refusal says that the result is known.
func (p managerT) known(a *Answer) bool {
	return a.Code == 5003 || protocol.Code(a.Message.text("error_code")) == protocol.CodeDuplicateReport
}

func toleratesAgain(p managerT) {
	a := p.recall("report.again")
	if !a.Refused {
		p.acknowledged(a)
		return
	}
	if !p.known(a) {
		p.Fail("it is %s, want 5003", a)
	}
	if _, err := protocol.ParseTimestamp(a.Message.text("previous_report_time")); err != nil {
		p.Fail("previous_report_time is %s: %v", orMissing(a.Message["previous_report_time"]), err)
	}
	if same := a.Message["same_result"]; same != nil && string(same) != "true" {
		p.Fail("same_result is %s, though the reports are the same", same)
	}
}

func countsOnce(p managerT) {
	one := p.recall("report.twice")
	p.acknowledged(one)
	other := p.recall("report.twice.other")
	if other.Err != nil {
		p.Fail("the other report was not answered: %v", other.Err)
	}
	if other.Refused && !p.known(other) {
		p.Fail("the other report is answered by %s, want 5003", other)
	}
	if !other.Refused {
		p.acknowledged(other)
	}
	if table := p.season.doubled; table != "" {
		p.recall(table)
		p.Fail("both are acknowledged, and the table counts the match twice")
	}
}

// reportRefusedChecks are about reports that are not to be taken.
func reportRefusedChecks() []Check {
	const compare = "Compare auth_token with that of the agent in sender, and the agent with the referee that the match was given to."
	const recount = "Calculate who wins from choices and drawn_number, and the points from that; refuse what differs."
	bad := func(name string, level Level, rule, advice string) Check {
		return refusedCheck("report."+name, "report."+name, level, rule, advice)
	}
	return []Check{
		bad("differs", Must, "A second report of a match with another result is refused (5003, E041): the first stands.", "Look whether the match has a result already; say in same_result that they differ."),
		bad("unknown", Should, "A report of a match that there is not is refused (5002, E040).", "Look the match up in the schedule."),
		bad("token", Must, "A report with a token that nobody was given is refused (5001, E012).", compare),
		bad("tokenless", Must, "A report without a token is refused (5001, E011).", compare),
		bad("player", Must, "A report by a player is refused: only the match's referee reports (5002).", compare),
		bad("other", Must, "A report by another referee than the match was given to is refused (5002).", compare),
		bad("context", Should, "A report for another league is refused (-32602, E046).", "Compare league_id with your own."),
		bad("empty", Must, "A report without result is refused (-32602, E003).", "Check that it is there before it is read."),
		bad("winner", Should, "A report whose winner is not the one of its choices and its number is refused (-32602, E046).", recount),
		bad("score", Should, "A report that gives other points than 3 and 0, or 1 each, is refused (-32602, E046).", recount),
		bad("number", Should, "A report of a number that cannot be drawn is refused (-32602, E046).", "Check that drawn_number is in 1 to 10."),
		bad("strangers", Should, "A report of a result among others than the match's players is refused (-32602, E046).", "Compare the ids in winner and score with those of the schedule."),
		refusedCheck("report.late", "over.report", Should, "A report that comes when the league is complete changes nothing: it is refused.", "Look at the state first."),
		seasonCheck("report.codes", Wild, "A refused report bears the code of its cause: 5001 for the token, 5002 for the match, 5003 for a duplicate, -32602 for the result (league.v2, errors).",
			"Give the JSON-RPC error the number of its cause.", refusesReportsByCode),
	}
}

func refusesReportsByCode(p managerT) {
	coded := 0
	for _, cause := range []struct {
		code  int
		names string
	}{
		{5001, "token tokenless"}, {5002, "unknown other"}, {5003, "differs"}, {-32602, "context empty winner score number strangers"},
	} {
		for _, name := range strings.Fields(cause.names) {
			made := p.played().probes["report."+name]
			if made == nil || made.answer.Code == 0 {
				continue // another check's matter
			}
			coded++
			if a := p.recall("report." + name); a.Code != cause.code {
				p.Fail("the report of manager.report.%s is refused with %d, want %d", name, a.Code, cause.code)
			}
		}
	}
	if coded == 0 {
		p.Skip("no report was refused with a code")
	}
}
