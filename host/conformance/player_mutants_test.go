package conformance_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

const (
	invitation = "GAME_INVITATION"
	call       = "CHOOSE_PARITY_CALL"
	over       = "GAME_OVER"
	gameError  = "GAME_ERROR"
	standings  = "LEAGUE_STANDINGS_UPDATE"
	complete   = "LEAGUE_COMPLETED"
)

func playerMutants() []mutant {
	return slices.Concat(registeringMutants("player", application, "player_meta"), matchMutants(), playerDrawMutants(), framing("player", "handle_game_invitation"), dialectMutants("player", call), shapeMutants(), authMutants(), loadMutants(), attackedMutants("player", invitation, "notify_match_result"), takesMatch("player", invitation))
}

// registeringMutants are those of the checks of a role on its registration.
func registeringMutants(role, t, metaName string) []mutant {
	registers := func(rule string, edit func(doc, message object)) mutant {
		return mutant{check: role + ".register." + rule, out: sends(t, func(_ *memory, s *sent) { edit(s.doc, s.message) })}
	}
	message := func(rule string, edit func(object)) mutant {
		return registers(rule, func(_, message object) { edit(message) })
	}
	meta := func(rule string, edit func(object)) mutant {
		return registers(rule, func(_, message object) { edit(message[metaName].(object)) })
	}
	return []mutant{
		registers("rpc", func(doc, _ object) { doc["jsonrpc"] = "1.0" }),
		message("fields", drop("conversation_id")),
		message("fields", set("timestamp", "2026-03-14T11:10:13+02:00")),
		message("fields", set("sender", "alice")),
		meta("fields", drop("display_name")),
		meta("fields", set("game_types", "even_odd")),
		meta("fields", set("game_types", []string{"chess"})),
		meta("endpoint", set("contact_endpoint", "http://127.0.0.1:1/mcp")),
		listensLate(role+".register.listens", t),
		{check: role + ".register.once", out: only(t, func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			if r, err := next(body); err != nil || r.Status != http.StatusOK {
				return r, err
			}
			return next(body)
		})},
	}
}

func matchMutants() []mutant {
	again := func(t string) func(m *memory, in *asked) bool {
		return func(m *memory, in *asked) bool { return in.of(t) && m.count(t+in.text("match_id")) > 1 }
	}
	return []mutant{
		{check: "player.register.retry", busy: true, out: instead(application, isBusy, acceptsPlayer)}, // it never looks at the status
		{check: "player.join.answer", serve: answers(invitation, drop("accept", "accepted", "status"))},
		{check: "player.answer.match", serve: answers(invitation, set("match_id", "R0M0"))},
		{check: "player.answer.match", serve: answers(invitation, set("player_id", "P99"))},
		{check: "player.join.fields", serve: answers(invitation, drop("arrival_timestamp"))},
		{check: "player.join.again", serve: refuses(again(invitation))},
		{check: "player.choice.answer", serve: answers(call, func(o object) { o["parity_choice"], o["choice"] = "both", "both" })},
		{check: "player.choice.fields", serve: answers(call, func(o object) {
			choice, _ := o["parity_choice"].(string)
			o["parity_choice"], o["choice"] = strings.ToUpper(choice), strings.ToUpper(choice)
		})},
		{check: "player.choice.fields", serve: answers(call, drop("parity_choice"))},
		{check: "player.answer.match", serve: answers(call, set("match_id", "R0M0"))},
		{check: "player.answer.match", serve: answers(call, set("player_id", "P99"))},
		{check: "player.choice.same", serve: flips(again(call))},
		{check: "player.choice.past", serve: refuses(func(_ *memory, in *asked) bool { return strings.HasPrefix(in.text("deadline"), "2020") })},
		{check: "player.choice.other", serve: believes(with(call, "player_id", "P77"), func(_ *memory, _ *asked, o object) { o["player_id"] = "P01" })},
		{check: "player.choice.secret", serve: answers(invitation, set("parity_choice", "even"))},
		{check: "player.state.others", serve: accepts(with(invitation, "opponent_id", "P98"))},
		{check: "player.state.uninvited", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			if in.of(invitation) {
				m.count(in.text("match_id"))
			}
			if in.of(call) && m.seen[in.text("match_id")] == 0 {
				return nothing()
			}
			return r
		})},
		{check: "player.state.late", serve: flips(func(m *memory, in *asked) bool {
			if in.of(over) {
				m.count(in.text("match_id"))
			}
			return in.of(call) && m.seen[in.text("match_id")] > 0
		})},
		{check: "player.choice.fields", serve: answers(call, drop("protocol"))},
		{check: "player.choice.fields", serve: answers(call, set("timestamp", "2026-03-14T11:10:13+02:00"))},
		{check: "player.answer.seconds", serve: answers(call, set("timestamp", "2026-03-14T09:10:13.5Z"))},
		{check: "player.answer.match", serve: answers(call, set("sender", "player:P99"))},
		{check: "player.answer.conversation", serve: answers(call, set("conversation_id", "another"))},
		{check: "player.answer.token", serve: answers(call, set("auth_token", "tok-P99-0123456789"))},
		{check: "player.answer.media", serve: answering(func(_ *memory, _ *asked, r *reply) *reply { return &reply{r.status, "text/html", r.body} })},
		{check: "player.round.ack", serve: refuses(isType("ROUND_ANNOUNCEMENT"))},
		{check: "player.standings.ack", serve: refuses(isType(standings))},
		{check: "player.roundend.ack", serve: refuses(isType("ROUND_COMPLETED"))},
		{check: "player.over.ack", serve: refuses(isType(over))},
		{check: "player.over.forms", serve: refuses(func(_ *memory, in *asked) bool {
			return in.of(over) && bytes.Contains(in.body, []byte(`"drawn_number":null`))
		})},
		{check: "player.over.again", serve: refuses(func(m *memory, in *asked) bool { return in.of(over) && m.count(in.text("match_id")) > 1 })},
		{check: "player.error.ack", serve: refuses(isType(gameError))},
		{check: "player.error.then", serve: refuses(func(m *memory, in *asked) bool {
			if in.of(gameError) {
				m.count(in.text("match_id"))
			}
			return in.of(call) && m.seen[in.text("match_id")] > 0
		})},
		{check: "player.ack.fields", serve: answers(standings, set("status", "OK"))},
	}
}

func shapeMutants() []mutant {
	lacks := func(t, name string) func(in *asked) bool {
		return func(in *asked) bool { return in.of(t) && in.message()[name] == nil }
	}
	return []mutant{
		{check: "player.rpc.version", serve: framed(func(_, answer object) { delete(answer, "jsonrpc") })},
		{check: "player.rpc.notification", serve: breaks(func(in *asked) bool { return in.of("LEAGUE_ERROR") })},
		{check: "player.dialect.contracts", out: registersInEnvelope, serve: refuses(methodIs("handle_game_invitation"))},
		{check: "player.dialect.handle-message", serve: refuses(methodIs("handle_message"))},
		{check: "player.dialect.lower", serve: refuses(methodIs("choose_parity_call"))},
		{check: "player.dialect.alias", serve: refuses(methodIs("choose_parity"))},
		{check: "player.fields.time", serve: refuses(func(_ *memory, in *asked) bool { return strings.HasSuffix(in.text("timestamp"), "+00:00") })},
		{check: "player.fields.optional", serve: refuses(func(_ *memory, in *asked) bool { return lacks(call, "league_id")(in) })},
		{check: "player.fields.missing", serve: breaks(lacks(call, "deadline"))},
		{check: "player.fields.round", serve: breaks(bodyHas(`"round_id":"ROUND_`))},
	}
}

// registersInEnvelope wraps the registration with the header apart.
func registersInEnvelope(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
	doc := parse(body)
	if m, ok := doc["params"].(object); ok && m["message_type"] == "LEAGUE_REGISTER_REQUEST" {
		payload := object{"player_meta": m["player_meta"]}
		delete(m, "player_meta")
		doc["method"], doc["params"] = "league.handle", object{"envelope": m, "payload": payload}
		body = write(doc)
	}
	return next(body)
}

const forged = "-forged"

func authMutants() []mutant {
	return []mutant{
		{check: "player.auth.token", serve: believes(func(in *asked) bool { return in.of(call) && strings.HasSuffix(in.text("auth_token"), forged) }, rightToken)},
		{check: "player.auth.missing", serve: believes(func(in *asked) bool { return in.of(call) && in.text("auth_token") == "" }, rightToken)},
		{check: "player.auth.referee", serve: believes(with(call, "sender", "referee:REF02"), func(_ *memory, _ *asked, o object) { o["sender"] = "referee:REF01" })},
		{check: "player.auth.player", serve: believes(with(call, "sender", "player:P02"), func(_ *memory, _ *asked, o object) { o["sender"] = "referee:REF01" })},
		{check: "player.auth.manager", serve: believes(func(in *asked) bool { return in.of(standings) && strings.HasSuffix(in.text("auth_token"), forged) },
			func(m *memory, _ *asked, o object) { o["auth_token"] = m.tokens["manager"] })},
		{check: "player.auth.then", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			switch match := in.text("match_id"); {
			case in.of(call) && r.refused():
				m.count(match)
			case in.of(call) && m.seen[match] > 0:
				return refusal(in, -32000)
			}
			return r
		})},
		{check: "player.auth.completed", serve: accepts(func(in *asked) bool { return in.of(complete) && strings.HasPrefix(in.text("sender"), "referee:") })},
	}
}

func loadMutants() []mutant {
	return []mutant{
		{check: "player.load.concurrent", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			// Every match is taken for the one that was joined last.
			switch match := in.text("match_id"); {
			case in.of(invitation) && !r.refused():
				m.count(match)
				m.last = match
			case in.of(call) && !r.refused() && m.seen[match] > 0:
				return r.edit(set("match_id", m.last))
			}
			return r
		})},
		{check: "player.load.speed", halts: true, serve: func(m *memory, in *asked, next func(*asked) *reply) *reply {
			// It takes longer with every match.
			if in.of(over) {
				m.Lock()
				played := m.count(over)
				m.Unlock()
				if played > 6 {
					time.Sleep(m.scale.of(playerSilence/4 + 100*time.Millisecond)) // the fault
				}
			}
			return next(in)
		}},
		{check: "player.hostile.then", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			// What was nested too deep has left something behind.
			if bodyHas("[[[[[[[[[[")(in) {
				m.count("deep")
			}
			if in.of(invitation) && !r.refused() && m.seen["deep"] > 0 {
				return refusal(in, -32000)
			}
			return r
		})},
		{check: "player.end.ack", serve: refuses(isType(complete))},
		{check: "player.end.again", serve: refuses(func(m *memory, in *asked) bool { return in.of(complete) && m.count(complete) > 1 })},
	}
}
