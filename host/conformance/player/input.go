package player

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

func sample(t *kit.T) kit.Request {
	p := with(t)
	return kit.Request{Message: p.invitation(p.begin())}
}

func rpcChecks() []kit.Check {
	needs := []string{joinAnswered}
	return append(kit.IDChecks(kit.Player, needs, sample),
		check("player.rpc.version", kit.Should, needs, `An answer has jsonrpc "2.0" and exactly one of result and error (JSON-RPC 2.0, response object).`,
			`Add "jsonrpc": "2.0", and leave out error beside a result.`, framesAnswers),
		kit.NoIDCheck(kit.Player, needs, sample),
		check("player.rpc.notification", kit.Wild, needs, "A LEAGUE_ERROR may arrive without an id: it is accepted with HTTP 2xx and not refused (league.v2, transport).",
			"Answer a notification with HTTP 202 and an empty body, or with 200.", acceptsNotification),
	)
}

func framesAnswers(t T) {
	_, a := t.invited()
	if slices.Contains([]string{dialect.Bare.Name, "request"}, a.Wrapping) {
		t.Skip("its answers are not JSON-RPC responses")
	}
	if v := a.Document.Text("jsonrpc"); v != "2.0" {
		t.Fail("jsonrpc is %s", a.Document.Shown("jsonrpc"))
	}
	if _, both := a.Document["error"]; both {
		t.Fail("error stands beside result; many callers take that for a failure, even if it is null")
	}
}

func acceptsNotification(t T) {
	m, err := protocol.Refuse(protocol.CodeLeagueNotStarted, "", "it is about to start").Message(t.Header(protocol.TypeLeagueError, 1))
	if err != nil {
		panic(err) // all of it can be encoded
	}
	d := t.T.Session.Peer().Speaks()
	if _, err := d.Call(m); err != nil {
		t.Skip("it is sent messages in %s, in which a LEAGUE_ERROR is not a request", d.Name)
	}
	r := kit.Request{Message: m, NoID: true}
	r.WrapsInRPC(t.T)
	if a := t.Send(r); a.Refused || !a.OK() {
		t.Fail("answered by %s", a)
	}
}

// dialectChecks are about the wrappings and names of messages. A player that
// understands only its own can play under most managers.
func dialectChecks() []kit.Check {
	needs := []string{choiceAnswered}
	wrappings := append([]kit.Wrapping{{Dialect: dialect.Contracts, Rule: "A message whose fields are flat in params is answered flat in result."}}, kit.Wrappings()...)
	wrappings = append(wrappings, kit.Wrapping{Dialect: dialect.HandleMessage, Rule: "A message to handle_message, in params.message, is answered flat in result."})
	var checks []kit.Check
	for _, w := range wrappings {
		checks = append(checks, w.Check(kit.Player, needs, func(t *kit.T, d *dialect.Dialect) { with(t).playsIn(d) }))
	}
	named := func(name string, level kit.Level, rule, join, choose string) kit.Check {
		return check("player.dialect."+name, level, needs, rule, "Dispatch by message_type, wherever it is, and not by the method.",
			func(t T) {
				m := t.begin()
				kit.Request{Message: t.call(m)}.HasMethods(t.T)
				t.Accepted(t.deliver(kit.Request{Message: t.invitation(m), Method: join}), protocol.TypeGameJoinAck)
				t.chooses(t.deliver(kit.Request{Message: t.call(m), Method: choose}))
			})
	}
	return append(checks,
		named("alias", kit.Should, "The call for a choice is accepted under both its names, parity_choose and choose_parity (league.v2, dialects).", "handle_game_invitation", "choose_parity"),
		named("type", kit.Wild, kit.TypeAsMethod, string(protocol.TypeGameInvitation), string(protocol.TypeChooseParityCall)),
		named("lower", kit.Wild, "A message whose method is its message_type in lower case is accepted (observed in real leagues).", "game_invitation", "choose_parity_call"),
		named("unknown", kit.Wild, kit.UnknownMethod, "unknown", "unknown"),
	)
}

func (t T) playsIn(d *dialect.Dialect) {
	m := t.begin()
	join := t.deliver(kit.Request{Message: t.invitation(m), Dialect: d})
	if !t.AnsweredIn(join, d) {
		return
	}
	t.Accepted(join, protocol.TypeGameJoinAck)
	a := t.deliver(kit.Request{Message: t.call(m), Dialect: d})
	t.chooses(a)
	t.AnsweredIn(a, d)
}

func fieldChecks() []kit.Check {
	needs := []string{choiceAnswered}
	return []kit.Check{
		check("player.fields.unknown", kit.Must, needs, "Unknown members are ignored (league.v2, validation).",
			"Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.", func(t T) {
				m := t.begin()
				more := func(m map[string]any) {
					m["x_weather"], m["x_list"], m["x_object"] = "sunny", []any{1, nil}, map[string]any{"a": true}
				}
				t.Accepted(t.send(t.invitation(m), more), protocol.TypeGameJoinAck)
				t.chooses(t.send(t.call(m), more))
			}),
		check("player.fields.time", kit.Should, needs, "Times with fractions of a second, and with +00:00 instead of Z, are read (league.v2, header fields).",
			"Read times with a library, or do not read them at all.", readsTimes),
		check("player.fields.optional", kit.Should, needs, "A call without league_id and round_id, which the protocol does not require there, is answered (CHOOSE_PARITY_CALL).",
			"Treat both as optional; match_id alone identifies the match.", func(t T) {
				call := t.call(t.joined())
				call.LeagueID, call.RoundID = "", protocol.Round{}
				t.chooses(t.send(call))
			}),
		check("player.fields.missing", kit.Wild, needs, "A call without context, deadline, game_type, player_id and conversation_id is answered, or refused in a way that can be read (observed in real leagues).",
			"Do not let the program fail on a missing member; answer what can be answered, and everything else by a JSON-RPC error.", func(t T) {
				t.readable(t.send(t.call(t.joined()), kit.Delete("context", "deadline", "game_type", "player_id", "conversation_id")))
			}),
		check("player.fields.round", kit.Wild, needs, `A round_id that is a string, such as "ROUND_1", is accepted, or refused in a way that can be read (observed in real leagues).`,
			"Do not calculate with round_id.", func(t T) {
				m := t.begin()
				t.readable(t.send(t.invitation(m), kit.Set("round_id", fmt.Sprintf("ROUND_%d", m.round))))
			}),
	}
}

func readsTimes(t T) {
	for _, stamp := range []string{"2026-03-14T09:10:13.250Z", "2026-03-14T09:10:13.250001+00:00", "2026-03-14T09:10:13+00:00"} {
		m := t.begin()
		invitation := t.invitation(m)
		invitation.Timestamp = stamp
		t.Accepted(t.send(invitation), protocol.TypeGameJoinAck)
		call := t.call(m)
		call.Timestamp = stamp
		t.chooses(t.send(call))
	}
}

func loadChecks() []kit.Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []kit.Check{
		check("player.load.concurrent", kit.Must, needs, "A player may be in several matches at once, and keeps them apart: each answer belongs to its own match (observed in real leagues).",
			"Store what belongs to a match by match_id, and nothing of it in variables that all matches share.", playsManyAtOnce),
		kit.StalledCheck(kit.Player, needs, func(t *kit.T) func() *kit.Answer {
			p := with(t)
			m, invited := p.begin(), false
			return func() *kit.Answer {
				if !invited {
					invited = true
					return p.send(p.invitation(m))
				}
				a := p.send(p.call(m))
				p.chooses(a)
				return a
			}
		}),
		check("player.load.speed", kit.Should, needs, "Answers take at most a quarter of their deadline, so that a busy machine loses no match.",
			"Decide faster, or in advance; do slow work after you have sent the answer.", answersFast),
	}
}

func playsManyAtOnce(t T) {
	const atOnce = 8
	var matches []match
	for range atOnce {
		matches = append(matches, t.begin())
	}
	t.all(matches, func(t T, m match) {
		join := t.send(t.invitation(m))
		t.Accepted(join, protocol.TypeGameJoinAck)
		t.notOther(join, m, matches)
	})
	t.all(matches, func(t T, m match) {
		a := t.send(t.call(m))
		t.chooses(a)
		t.notOther(a, m, matches)
	})
}

// notOther ends the check if an answer is about another of the matches. A wrong id
// that is of none of them is for other checks to find.
func (t T) notOther(a *kit.Answer, m match, all []match) {
	id := a.Message.Text("match_id")
	if id != m.id && slices.ContainsFunc(all, func(other match) bool { return other.id == id }) {
		t.Fail("asked about match %s, it answers for %s", m.id, id)
	}
}

// all does something for every match at once, and ends the check like the first
// that failed.
func (t T) all(matches []match, do func(t T, m match)) {
	var waits []func()
	for _, m := range matches {
		waits = append(waits, t.Go(func(own *kit.T) { do(with(own), m) }))
	}
	var failed any
	for _, wait := range waits {
		func() {
			defer func() {
				if ended := recover(); failed == nil {
					failed = ended
				}
			}()
			wait()
		}()
		if failed != nil {
			t.T = t.Aside() // the evidence of the failure stays the last
		}
	}
	if failed != nil {
		panic(failed)
	}
}

func answersFast(t T) {
	const matches = 5
	limit := t.T.Session.Timeout / 4
	var took []time.Duration
	timed := func(a *kit.Answer) *kit.Answer {
		t.Accepted(a, "")
		if a.Took > limit {
			t.Fail("%s took %.0f ms of the %.0f ms until its deadline", a, kit.Milliseconds(a.Took), kit.Milliseconds(t.T.Session.Timeout))
		}
		took = append(took, a.Took)
		return a
	}
	for range matches {
		m := t.begin()
		timed(t.send(t.invitation(m)))
		a := timed(t.send(t.call(m)))
		timed(t.send(t.over(m, choiceIn(a))))
	}
	slices.Sort(took)
	t.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), kit.Milliseconds(took[len(took)/2]), kit.Milliseconds(took[len(took)-1]))
}

func hostileChecks() []kit.Check {
	bad := func(name, what, advice string, edit kit.Edit) kit.Attack {
		return kit.Attack{Name: name, Level: kit.Should, What: what, Advice: advice, Edit: edit}
	}
	all := append(kit.Attacks("notify_match_result"),
		bad("match", "An invitation without match_id", "Check that match_id is present, and answer -32602 (E003).", kit.Delete("match_id")),
		bad("wrongtype", "An invitation whose match_id is a number", "Check that match_id is a string, and answer -32602 (E006).", kit.Set("match_id", 7)),
		bad("path", "An invitation whose match_id is a path",
			"Check ids against ^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$ before you use them, above all in file names; answer -32602 (E006).", kit.Set("match_id", "../../R1M1")),
		bad("game", "An invitation to another game than even_odd", "Compare game_type with even_odd, and refuse others (2004, E045).", kit.Set("game_type", "chess")),
	)
	return kit.AttackChecks(kit.Player, nil, all, sample, kit.Check{
		Needs: []string{joinAnswered, choiceAnswered},
		Rule:  "After all that, the player plays on.",
		Run:   run(func(t T) { t.called() }),
	})
}
