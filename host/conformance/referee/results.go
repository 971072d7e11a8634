package referee

import (
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/game"
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
	rules := slices.DeleteFunc(judge.Rules(judge.Options{Draw: game.FairDraw()}), func(r judge.Rule) bool { return r.ID != rule })
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
	for _, outcomes := range judge.Run(exchanges, rules) {
		o := outcomes[0]
		shown := exchanges
		if len(o.Findings) > 0 && len(o.Findings[0].Exchanges) > 0 {
			shown = o.Findings[0].Exchanges
		}
		for _, x := range shown {
			if s := source[x]; s != nil {
				t.show(s)
			}
		}
		switch {
		case len(o.Findings) > 0:
			t.Fail("%s", o.Findings[0].Text)
		case len(o.Missing) > 0 && all:
			t.Fail("%s cannot be found in %s", o.Missing[0], results[0])
		case o.Examined == 0:
			t.Skip("it cannot be judged: %s", strings.Join(o.Missing, "; "))
		}
	}
}

func resultChecks() []kit.Check {
	return []kit.Check{
		matchCheck("over.number", kit.Should, "drawn_number is a number from 1 to 10, and number_parity its parity (GAME_OVER).", "Draw with randint(1, 10), and write even or odd beside it.",
			judged("numbers", true, fair, protocol.TypeGameOver)),
		matchCheck("over.winner", kit.Should, "winner_player_id is the only player who chose the parity of the drawn number, with status WIN; null if both or neither did, with status DRAW (league.v2, the game).",
			"Compare each choice with the parity of the number.", judged("scoring", false, fair, protocol.TypeGameOver)),
		matchCheck("over.choices", kit.Should, "choices are the answers of the players (GAME_OVER).", "Store the choices by player_id.", judged("choices", true, fair, protocol.TypeGameOver)),
		matchCheck("over.both", kit.Should, "Both players are sent the same result (GAME_OVER).", "Make the result once, and send it to both.", judged("same-result", false, fair, protocol.TypeGameOver)),
		matchCheck("over.once", kit.Should, "GAME_OVER is not sent again once it is acknowledged.", "Stop at the first acknowledgement.",
			func(t T) {
				for _, name := range fair {
					for who := range playerIDs {
						if list := t.messages(t.scenario(name), protocol.TypeGameOver, who); len(list) > 1 {
							t.failOn(list[1], "%s has acknowledged GAME_OVER and was sent it %s", nameOf(who), kit.Times(len(list)))
						}
					}
				}
			}),
	}
}

func reportChecks() []kit.Check {
	report := func(t T) *sent { return t.message(t.scenario("win"), protocol.TypeMatchResultReport, toManager) }
	return append(commonChecks("report", protocol.TypeMatchResultReport, nil, func(t T) []*sent { return []*sent{report(t)} }),
		matchCheck("report.score", kit.Must, "winner and score follow from the choices and the number: 3 and 0 points, winner the player's id; or 1 and 1, winner null (league.v2, the game).", "Give 3, 1 and 0 points; put both players into score.",
			judged("scoring", false, fair, protocol.TypeMatchResultReport)),
		matchCheck("report.tie", kit.Should, "winner is null after a tie, and nothing else (MATCH_RESULT_REPORT).", `Write null, and not "DRAW".`,
			func(t T) {
				if result := t.message(t.scenario("tie"), protocol.TypeMatchResultReport, toManager).fields.Object("result"); result.Has("winner") {
					t.Fail("winner is %s", result.Shown("winner"))
				}
			}),
		matchCheck("report.details", kit.Should, "details has drawn_number, number_parity and choices, the same as GAME_OVER (MATCH_RESULT_REPORT).", "Put the same into both.",
			func(t T) {
				judged("choices", true, fair, protocol.TypeMatchResultReport)(t)
				judged("numbers", true, fair, protocol.TypeMatchResultReport)(t)
				judged("same-result", false, fair, protocol.TypeGameOver, protocol.TypeMatchResultReport)(t)
			}).Needing("referee.over.number", "referee.over.winner", "referee.over.choices", "referee.over.both", "referee.report.fields"),
		matchCheck("report.order", kit.Should, "The report is sent after GAME_OVER has been sent to both players (league.v2, flow).", "Send GAME_OVER first.",
			func(t T) {
				s := report(t)
				for who := range playerIDs {
					if over := t.message(t.scenario("win"), protocol.TypeGameOver, who); over.At.After(s.At) {
						t.Fail("the report came before %s was sent GAME_OVER", nameOf(who))
					}
				}
			}),
	)
}

func deliveryChecks() []kit.Check {
	return []kit.Check{
		matchCheck("report.once", kit.Should, "A report is not sent again once it is acknowledged.", "Stop at the first MATCH_RESULT_ACK.",
			func(t T) {
				t.play(plan{}) // in the meantime, it could have been
				for _, name := range fair {
					t.reportedOnce(t.scenario(name), "an acknowledged report")
				}
			}),
		matchCheck("report.retry", kit.Should, "A report that the manager does not accept (HTTP 503) is sent again, with the same result, until it is acknowledged (league.v2, retries).", "Repeat the report with growing pauses; keep the result.",
			reportsAgain),
		matchCheck("report.duplicate", kit.Should, "A report that is refused as a duplicate with same_result true (5003, E041) counts as acknowledged: it is not sent again, and the next match is played (league.v2, flow).",
			"Treat 5003 as success if same_result is true.",
			func(t T) {
				m := t.play(plan{report: func(_ *match, s *sent) kit.Response {
					return kit.Respond(s.Raw, protocol.Refuse(protocol.CodeDuplicateReport, s.Type, "this match has been reported").With("same_result", true))
				}})
				t.play(plan{})
				t.Until(t.shortDelay(), func() bool { return m.count(protocol.TypeMatchResultReport, toManager) > 1 })
				t.reportedOnce(m, "a report that was refused as a duplicate")
			}),
		matchCheck("report.renew", kit.Should, "A referee whose token is no longer valid (E012) registers again, and then reports (league.v2, authentication).", "On E012 register again, and repeat the report with the token from the answer.",
			registersAgain),
		matchCheck("report.deaf", kit.Should, "A player that does not acknowledge GAME_OVER delays neither the report nor the next match (league.v2, flow).", "Report once GAME_OVER has been sent, whatever the answer.",
			func(t T) {
				t.sends(t.start("end refused"), protocol.TypeMatchResultReport, toManager, 1, "player P01 answered GAME_OVER with HTTP 503, and no report came")
			}),
		matchCheck("over.retry", kit.Should, "GAME_OVER that was not acknowledged (HTTP 503) is sent again, at most 3 times (league.v2, retries).", "Repeat it in the background.",
			func(t T) {
				t.sends(t.start("end refused"), protocol.TypeGameOver, playerA, 2, "player P01 answered GAME_OVER with HTTP 503 and was not sent it again")
			}),
	}
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

func reportsAgain(t T) {
	m := t.play(plan{report: atFirst(busy, acknowledges)})
	t.sends(m, protocol.TypeMatchResultReport, toManager, 2, "the manager answered a report with HTTP 503, and it was not sent again")
	t.judge("same-result", false, []*match{m}, protocol.TypeMatchResultReport)
}

func registersAgain(t T) {
	before := len(t.Attempts())
	t.Lock()
	t.Renewals++
	t.Unlock()
	m := t.announce(plan{report: atFirst(func(_ *match, s *sent) kit.Response {
		return kit.Respond(s.Raw, protocol.Refuse(protocol.CodeTokenInvalid, s.Type, "the token is not known"))
	}, acknowledges)})
	t.sends(m, protocol.TypeMatchResultReport, toManager, 2, "the manager refused a report with E012, and no other report came")
	if len(t.Attempts()) == before {
		t.showAll(m)
		t.Fail("the report was repeated without another registration")
	}
}
