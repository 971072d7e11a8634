package referee

import (
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
)

// fair are the scenarios in which a number is drawn.
var fair = []string{"win", "tie"}

// judged tests that a rule of the league holds in some scenarios, see [T.judge].
func judged(rule string, all bool, scenarios []string, types ...protocol.Type) func(t T) {
	return func(t T) {
		var matches []*match
		for _, name := range scenarios {
			matches = append(matches, t.scenario(name))
		}
		t.judge(rule, all, matches, types...)
	}
}

// judge asks a rule of the league about matches, as their players and the manager saw
// them. Of the messages that tell of results, only some types are among the exchanges.
// What cannot be judged is a fault if all is needed.
func (t T) judge(rule string, all bool, matches []*match, results ...protocol.Type) {
	var exchanges []*judge.Exchange
	source := map[*judge.Exchange]*sent{}
	for _, m := range matches {
		exchanges = append(exchanges, &judge.Exchange{Agent: "manager", Sent: true, Peer: t.T.Session.URL, Type: protocol.TypeRoundAnnouncement, Sender: kit.ManagerName, Request: t.announcement(m), Status: http.StatusOK})
		for _, s := range t.messages(m, "") {
			if !slices.Contains(results, s.Type) && (s.Type == protocol.TypeGameOver || s.Type == protocol.TypeMatchResultReport) {
				continue
			}
			x := s.WithAnswer(max(s.response.Status, http.StatusOK), s.response.Body)
			if x.Agent = "manager"; s.who != toManager {
				x.Agent = playerIDs[s.who]
			}
			exchanges, source[&x.Exchange] = append(exchanges, &x.Exchange), s
		}
	}
	show := func(x *judge.Exchange) {
		if s := source[x]; s != nil {
			t.show(s)
		}
	}
	switch examined, missing := t.Judge(exchanges, show, rule); {
	case len(missing) > 0 && all:
		for _, x := range exchanges {
			show(x)
		}
		t.Fail("%s cannot be found in %s", missing[0], results[0])
	case examined == 0:
		t.Skip("it cannot be judged: %s", strings.Join(missing, "; "))
	}
}

var resultTests = map[string]func(T){
	"over.number":  judged("numbers", true, fair, protocol.TypeGameOver),
	"over.winner":  judged("scoring", false, fair, protocol.TypeGameOver),
	"over.choices": judged("choices", true, fair, protocol.TypeGameOver),
	"over.both":    judged("same-result", false, fair, protocol.TypeGameOver),
	"over.once": func(t T) {
		for _, name := range fair {
			for who := range playerIDs {
				if list := t.messages(t.scenario(name), protocol.TypeGameOver, who); len(list) > 1 {
					t.failOn(list[1], "%s has acknowledged GAME_OVER and was sent it %s", nameOf(who), kit.Times(len(list)))
				}
			}
		}
	},
	"over.retry": func(t T) {
		t.sends(t.start("end refused"), protocol.TypeGameOver, playerA, 2, "player P01 answered GAME_OVER with HTTP 503 and was not sent it again")
	},
	"report.score": judged("scoring", false, fair, protocol.TypeMatchResultReport),
	"report.tie": func(t T) {
		if result := t.report("tie").fields.Object("result"); result.Has("winner") {
			t.Fail("winner is %s", result.Shown("winner"))
		}
	},
	"report.details": func(t T) {
		judged("choices", true, fair, protocol.TypeMatchResultReport)(t)
		judged("numbers", true, fair, protocol.TypeMatchResultReport)(t)
		judged("same-result", false, fair, protocol.TypeGameOver, protocol.TypeMatchResultReport)(t)
	},
	"report.order": func(t T) {
		s := t.report("win")
		for who := range playerIDs {
			if over := t.message(t.scenario("win"), protocol.TypeGameOver, who); over.At.After(s.At) {
				t.Fail("the report came before %s was sent GAME_OVER", nameOf(who))
			}
		}
	},
	"report.once": func(t T) {
		t.play(plan{}) // in the meantime, it could have been
		for _, name := range fair {
			t.reportedOnce(t.scenario(name), "an acknowledged report")
		}
	},
	"report.retry": func(t T) {
		m := t.play(plan{report: atFirst(busy, acknowledges)})
		t.sends(m, protocol.TypeMatchResultReport, toManager, 2, "the manager answered a report with HTTP 503, and it was not sent again")
		t.judge("same-result", false, []*match{m}, protocol.TypeMatchResultReport)
	},
	"report.duplicate": func(t T) {
		m := t.play(plan{report: func(_ *match, s *sent) kit.Response {
			return kit.Respond(s.Raw, protocol.Refuse(protocol.CodeDuplicateReport, s.Type, "this match has been reported").With("same_result", true))
		}})
		t.play(plan{})
		t.Until(t.shortDelay(), func() bool { return m.count(protocol.TypeMatchResultReport, toManager) > 1 })
		t.reportedOnce(m, "a report that was refused as a duplicate")
	},
	"report.renew": func(t T) {
		before := len(t.Attempts())
		t.Do(func() { t.Renewals++ })
		m := t.announce(plan{report: atFirst(func(_ *match, s *sent) kit.Response {
			return kit.Respond(s.Raw, protocol.Refuse(protocol.CodeTokenInvalid, s.Type, "the token is not known"))
		}, acknowledges)})
		t.sends(m, protocol.TypeMatchResultReport, toManager, 2, "the manager refused a report with E012, and no other report came")
		if len(t.Attempts()) == before {
			t.showAll(m)
			t.Fail("the report was repeated without another registration")
		}
	},
	"report.deaf": func(t T) {
		t.sends(t.start("end refused"), protocol.TypeMatchResultReport, toManager, 1, "player P01 answered GAME_OVER with HTTP 503, and no report came")
	},
}

func (t T) report(scenario string) *sent {
	return t.message(t.scenario(scenario), protocol.TypeMatchResultReport, toManager)
}

func (t T) reportedOnce(m *match, what string) {
	if list := t.messages(m, protocol.TypeMatchResultReport); len(list) > 1 {
		t.failOn(list[1], "%s was sent %s", what, kit.Times(len(list)))
	}
}

// sends ends the check unless an agent is sent n messages of a type.
func (t T) sends(m *match, typ protocol.Type, who, n int, otherwise string) {
	if !t.Until(t.patience()-t.quiet(m), func() bool { return m.count(typ, who) >= n }) {
		t.showAll(m)
		t.Fail("%s within %v", otherwise, t.patience())
	}
}
