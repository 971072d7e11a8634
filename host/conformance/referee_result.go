package conformance

import (
	"encoding/json"
	"maps"

	"github.com/strategylab/strategylab/host/protocol"
)

// outcome is how a match ended, as the players are told it or as the manager
// is.
type outcome struct {
	status  string
	winner  string // "" without one
	number  int
	drawn   bool // there is a number
	parity  string
	choices map[string]string
	atFault []string
	score   map[string]int // in a report
}

// told reads GAME_OVER.
func (h *heard) told() outcome {
	result := object(h.message["game_result"])
	if result == nil {
		result = h.message // the flat form
	}
	o := detailed(result)
	o.winner = result.text("winner_player_id")
	return o
}

// reported reads MATCH_RESULT_REPORT.
func (h *heard) reported() outcome {
	result := object(h.message["result"])
	o := detailed(object(result["details"]))
	o.winner = result.text("winner")
	_ = json.Unmarshal(result["score"], &o.score) // what is none gives no points
	return o
}

func detailed(f fields) outcome {
	o := outcome{status: f.text("status"), parity: f.text("number_parity")}
	o.number, o.drawn = number(f["drawn_number"])
	for _, name := range []string{"choices", "player_choices"} {
		if f.has(name) {
			_ = json.Unmarshal(f[name], &o.choices)
		}
	}
	_ = json.Unmarshal(f["technical_loss_player_ids"], &o.atFault)
	return o
}

// right is the outcome that two choices and a number give by the rules.
func right(choices map[string]string, number int) (winner string, score map[string]int) {
	parity := string(protocol.Odd)
	if number%2 == 0 {
		parity = string(protocol.Even)
	}
	a, b := choices[playerIDs[sideA]] == parity, choices[playerIDs[sideB]] == parity
	switch {
	case a == b:
		return "", map[string]int{playerIDs[sideA]: 1, playerIDs[sideB]: 1}
	case a:
		return wonBy(sideA)
	}
	return wonBy(sideB)
}

func wonBy(who int) (winner string, score map[string]int) {
	return playerIDs[who], map[string]int{playerIDs[who]: 3, playerIDs[1-who]: 0}
}

// fair are the scenes that are played to a draw of a number, and what was
// chosen.
var fair = []struct {
	scene   string
	choices map[string]string
}{
	{"win", map[string]string{playerIDs[sideA]: "even", playerIDs[sideB]: "odd"}},
	{"draw", map[string]string{playerIDs[sideA]: "odd", playerIDs[sideB]: "odd"}},
}

// resultChecks are about what the players are told of a match that was played.
func resultChecks() []Check {
	return []Check{
		duelCheck("over.number", Must, "drawn_number is a number from 1 to 10, and number_parity its parity (GAME_OVER).", "Draw with randint(1, 10), and write even or odd beside it.",
			func(p refereeT) {
				for _, f := range fair {
					o := p.one(p.scene(f.scene), protocol.TypeGameOver, sideA).told()
					parity := []string{"even", "odd"}[o.number&1]
					if !o.drawn || o.number < 1 || o.number > 10 || o.parity != parity {
						p.Fail("drawn_number is %d (given: %t) and number_parity %q", o.number, o.drawn, o.parity)
					}
				}
			}),
		duelCheck("over.winner", Must, "winner_player_id is who alone chose the parity of the drawn number, with status WIN; null where both are right or both wrong, with status DRAW (league.v2, the game).",
			"Compare each choice with the parity of the number.",
			func(p refereeT) {
				for _, f := range fair {
					o := p.one(p.scene(f.scene), protocol.TypeGameOver, sideA).told()
					winner, _ := right(f.choices, o.number)
					status := protocol.StatusWin
					if winner == "" {
						status = protocol.StatusDraw
					}
					if o.winner != winner || o.status != status {
						p.Fail("the choices were %v and the number %d: winner_player_id is %q, want %q; status is %q, want %q", f.choices, o.number, o.winner, winner, o.status, status)
					}
				}
			}),
		duelCheck("over.choices", Must, "choices are what the players answered (GAME_OVER).", "Keep the choices by player_id.",
			func(p refereeT) {
				for _, f := range fair {
					if o := p.one(p.scene(f.scene), protocol.TypeGameOver, sideA).told(); !maps.Equal(o.choices, f.choices) {
						p.Fail("choices are %v, want %v", o.choices, f.choices)
					}
				}
			}),
		duelCheck("over.both", Must, "Both players are told the same result (GAME_OVER).", "Make the result once, and send it to both.",
			func(p refereeT) {
				for _, f := range fair {
					d := p.scene(f.scene)
					a, b := p.one(d, protocol.TypeGameOver, sideA).told(), p.one(d, protocol.TypeGameOver, sideB).told()
					if a.number != b.number || a.winner != b.winner || a.status != b.status || !maps.Equal(a.choices, b.choices) {
						p.Fail("player %s is told the number %d and the winner %q, player %s %d and %q", playerIDs[sideA], a.number, a.winner, playerIDs[sideB], b.number, b.winner)
					}
				}
			}),
		duelCheck("over.once", Should, "GAME_OVER that was acknowledged is not sent again.", "Stop at the first acknowledgement.",
			func(p refereeT) {
				for _, f := range fair {
					for who := range playerIDs {
						if list := p.all(p.scene(f.scene), protocol.TypeGameOver, who); len(list) > 1 {
							p.show(list[1])
							p.Fail("player %s has acknowledged GAME_OVER and was sent it %s", playerIDs[who], times(len(list)))
						}
					}
				}
			}),
	}
}

// reportChecks are about what the manager is told.
func reportChecks() []Check {
	report := func(p refereeT, scene string) *heard {
		return p.one(p.scene(scene), protocol.TypeMatchResultReport, atManager)
	}
	return []Check{
		duelCheck("report.header", Must, `MATCH_RESULT_REPORT bears protocol, message_type, timestamp, conversation_id, and the sender referee:<referee_id> (league.v2, header fields).`,
			"Put all header fields into every request.",
			func(p refereeT) {
				h := report(p, "win")
				p.header(h.message, h.Type)
				p.bears(h, "sender", protocol.Sender(protocol.RoleReferee, p.id))
			}),
		duelCheck("report.token", Must, "MATCH_RESULT_REPORT bears the token that the manager gave the referee at its registration (league.v2, authentication).",
			"Keep auth_token from the answer to the registration.",
			func(p refereeT) { p.bears(report(p, "win"), "auth_token", p.token) }),
		duelCheck("report.match", Must, "MATCH_RESULT_REPORT bears match_id, league_id, round_id and game_type of the announcement (MATCH_RESULT_REPORT).", "Copy them from the announcement.",
			func(p refereeT) {
				h := report(p, "win")
				for _, name := range []string{"league_id", "round_id", "game_type"} {
					if !h.message.has(name) {
						p.Fail("%s is %s", name, orMissing(h.message[name]))
					}
				}
				p.context(p.scene("win"), h)
			}),
		duelCheck("report.score", Must, "winner and score follow from the choices and the number: 3 and 0 points, winner the player's id; or 1 and 1, winner null (league.v2, the game).", "Give 3, 1 and 0 points; both players stand in score.",
			func(p refereeT) {
				for _, f := range fair {
					h := report(p, f.scene)
					o, over := h.reported(), p.one(p.scene(f.scene), protocol.TypeGameOver, sideA).told()
					p.show(h)
					winner, score := right(f.choices, over.number)
					if o.winner != winner || !maps.Equal(o.score, score) {
						p.Fail("the choices were %v and the number %d: winner is %q, want %q; score is %v, want %v", f.choices, over.number, o.winner, winner, o.score, score)
					}
				}
			}),
		duelCheck("report.details", Should, "details bear drawn_number, number_parity and choices, as GAME_OVER told them (MATCH_RESULT_REPORT).", "Put the same into both.",
			func(p refereeT) {
				for _, f := range fair {
					h := report(p, f.scene)
					o, over := h.reported(), p.one(p.scene(f.scene), protocol.TypeGameOver, sideA).told()
					p.show(h)
					if o.number != over.number || o.parity != over.parity || !maps.Equal(o.choices, over.choices) {
						p.Fail("the number is %d, %s, with the choices %v; GAME_OVER said %d, %s, %v", o.number, o.parity, o.choices, over.number, over.parity, over.choices)
					}
				}
			}),
		duelCheck("report.order", Should, "The manager is told after GAME_OVER has been sent to both players (league.v2, flow).", "Send GAME_OVER first.",
			func(p refereeT) {
				h := report(p, "win")
				for who := range playerIDs {
					if over := p.one(p.scene("win"), protocol.TypeGameOver, who); over.At.After(h.At) {
						p.Fail("the report came before player %s was sent GAME_OVER", playerIDs[who])
					}
				}
			}),
		duelCheck("report.once", Should, "A report that was acknowledged is not sent again.", "Stop at the first MATCH_RESULT_ACK.",
			func(p refereeT) {
				p.played(plan{}) // there was time for another
				for _, f := range fair {
					if list := p.all(p.scene(f.scene), protocol.TypeMatchResultReport); len(list) > 1 {
						p.show(list[1])
						p.Fail("a report was sent %s", times(len(list)))
					}
				}
			}),
		duelCheck("report.retry", Must, "A report that the manager does not take (HTTP 503) is sent again, with the same result, until it is acknowledged (league.v2, retries).", "Repeat the report with growing pauses; keep the result.",
			reportsAgain),
		duelCheck("report.duplicate", Should, "A report that is refused as a duplicate with same_result true (5003, E041) counts as acknowledged: it is not sent again, and the next match is played (league.v2, flow).",
			"Read 5003 as success where same_result is true.",
			func(p refereeT) {
				d := p.played(plan{report: func(_ *duel, h *heard) Said {
					return inKind(h.Raw, protocol.Refuse(protocol.CodeDuplicateReport, h.Type, "this match has been reported").With("same_result", true))
				}})
				p.played(plan{})
				p.until(p.aMoment(), func() bool { return d.count(protocol.TypeMatchResultReport, atManager) > 1 })
				if list := p.all(d, protocol.TypeMatchResultReport); len(list) > 1 {
					p.show(list[1])
					p.Fail("a report that was refused as a duplicate was sent %s", times(len(list)))
				}
			}),
		duelCheck("report.renew", Should, "A referee whose token is not known any more (E012) registers anew, and reports then (league.v2, authentication).", "On E012 register again, and repeat the report with the token that the answer bears.",
			registersAnew),
		duelCheck("report.deaf", Must, "A player that does not acknowledge GAME_OVER holds up neither the report nor the next match (league.v2, flow).", "Report once GAME_OVER has been sent, whatever came back.",
			func(p refereeT) {
				d := p.stage("deaf")
				if !p.until(p.patience(), func() bool { return d.count(protocol.TypeMatchResultReport, atManager) > 0 }) {
					p.showAll(d)
					p.Fail("player %s answered GAME_OVER with HTTP 503, and no report came within %v", playerIDs[sideA], p.patience())
				}
			}),
		duelCheck("over.retry", Should, "GAME_OVER that was not acknowledged (HTTP 503) is sent again, at most 3 times (league.v2, retries).", "Repeat it in the background.",
			func(p refereeT) {
				d := p.stage("deaf")
				if !p.until(p.patience(), func() bool { return d.count(protocol.TypeGameOver, sideA) > 1 }) {
					p.showAll(d)
					p.Fail("player %s answered GAME_OVER with HTTP 503 and was not sent it again within %v", playerIDs[sideA], p.patience())
				}
			}),
	}
}

func reportsAgain(p refereeT) {
	d := p.played(plan{report: firstly(1, turnsAway, records)})
	if !p.until(p.patience(), func() bool { return d.count(protocol.TypeMatchResultReport, atManager) > 1 }) {
		p.showAll(d)
		p.Fail("the manager answered a report with HTTP 503, and it was not sent again within %v", p.patience())
	}
	list := p.all(d, protocol.TypeMatchResultReport)
	a, b := list[0].reported(), list[1].reported()
	p.show(list[1])
	if a.winner != b.winner || a.number != b.number || !maps.Equal(a.score, b.score) {
		p.Fail("the report was sent again with another result")
	}
}

func registersAnew(p refereeT) {
	p.mu.Lock()
	before := len(p.asked)
	p.renewals++
	p.mu.Unlock()
	d := p.begin(plan{report: firstly(1, func(_ *duel, h *heard) Said {
		return inKind(h.Raw, protocol.Refuse(protocol.CodeTokenInvalid, h.Type, "the token is not known"))
	}, records)})
	if !p.until(p.patience(), func() bool { return d.count(protocol.TypeMatchResultReport, atManager) > 1 }) {
		p.showAll(d)
		p.Fail("the manager refused a report with E012, and no other report came within %v", p.patience())
	}
	p.mu.Lock()
	after := len(p.asked)
	p.mu.Unlock()
	if after == before {
		p.showAll(d)
		p.Fail("the report was repeated without another registration")
	}
}
