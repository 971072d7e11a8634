package manager

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

var reportTests = map[string]func(T){
	"report.ack": func(t T) {
		t.recorded(probeName("report", 0))
		said := t.answers["report.context"] // the same of its match as the next
		for n := range len(t.reported) + 1 {
			name := probeName("report", n)
			if made := t.answers[name]; made != nil && (said == nil || !said.Taken() || !duplicate(made)) {
				t.acknowledged(t.recorded(name))
			}
		}
	},
	"report.match": func(t T) {
		a := t.recorded(probeName("report", 0))
		t.acknowledged(a)
		first := t.reported[0]
		t.states("the answer", a.Message, map[string]any{"match_id": first.id, "round_id": first.round})
	},
	"report.nostatus": func(t T) { t.Accepted(t.recorded("report.nostatus"), "") },
	"report.again": func(t T) {
		a := t.recorded("report.again")
		if !t.alreadyKnown(a) {
			return
		}
		if _, err := protocol.ParseTimestamp(a.Message.Text("previous_report_time")); err != nil {
			t.Fail("previous_report_time is %s: %v", a.Message.Shown("previous_report_time"), err)
		}
		if same := a.Message.Get("same_result"); same != nil && string(same) != "true" {
			t.Fail("same_result is %s, although the reports are the same", same)
		}
	},
	"report.twice": func(t T) {
		t.acknowledged(t.recorded("report.twice"))
		t.alreadyKnown(t.recorded("report.twice.other"))
		if t.spoiled == "report.twice" {
			t.recorded("table")
			t.Fail("both are acknowledged, and the standings count the match twice")
		}
	},
	"report.codes": func(t T) {
		t.played()
		coded := 0
		for _, r := range probes {
			made := t.answers[r.name]
			if r.code == 0 || r.code == answered || made == nil || made.Code == 0 {
				continue // for another check to find
			}
			coded++
			if a := t.recorded(r.name); a.Code != r.code {
				t.Fail("the report of manager.%s is refused with %d, want %d", r.name, a.Code, r.code)
			}
		}
		if coded == 0 {
			t.Skip("no report was refused with a code")
		}
	},
}

// alreadyKnown reports whether an answer says that a repeated report is known, and ends the check
// if it neither does nor acknowledges it.
func (t T) alreadyKnown(a *kit.Answer) bool {
	switch {
	case !a.Refused:
		t.acknowledged(a)
	case !duplicate(a):
		t.Fail("the repeated report is answered by %s, want 5003", a)
	}
	return a.Refused
}

// duplicate reports whether a refusal says that the result is known.
func duplicate(a *kit.Answer) bool {
	return a.Code == 5003 || protocol.Code(a.Message.Text("error_code")) == protocol.CodeDuplicateReport
}

// acknowledged ends the check unless an answer acknowledges a report.
func (t T) acknowledged(a *kit.Answer) {
	typ := protocol.TypeMatchResultReport.Answer()
	if a.Message.Text("message_type") == "MATCH_RESULT_REPORT_ACK" {
		typ = ""
	}
	t.Accepted(a, typ)
}
