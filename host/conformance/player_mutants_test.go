package conformance_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/draws"
)

func playerMutants() []mutant {
	return slices.Concat(registeringMutants("player", application, "player_meta", acceptsPlayer), sharedMutants("player", "handle_game_invitation", call),
		matchMutants(), noticeMutants(), playerDrawMutants(), shapeMutants(), authMutants(), loadMutants(),
		attackedMutants("player", invitation, "notify_match_result"), takesMatch("player", invitation))
}

func matchMutants() []mutant {
	invited := func(rule string, edit func(object)) mutant {
		return mutant{check: "player." + rule, serve: answers(invitation, edit)}
	}
	called := func(rule string, edit func(object)) mutant {
		return mutant{check: "player." + rule, serve: answers(call, edit)}
	}
	return []mutant{
		invited("join.answer", drop("accept", "accepted", "status")),
		invited("answer.match", set("match_id", "R0M0")),
		invited("answer.match", set("player_id", "P99")),
		invited("join.fields", drop("arrival_timestamp")),
		{check: "player.join.again", serve: refuses(again(invitation))},
		called("choice.answer", func(o object) { o["parity_choice"], o["choice"] = "both", "both" }),
		called("choice.fields", func(o object) {
			choice, _ := o["parity_choice"].(string)
			o["parity_choice"], o["choice"] = strings.ToUpper(choice), strings.ToUpper(choice)
		}),
		called("choice.fields", drop("parity_choice")),
		called("answer.match", set("match_id", "R0M0")),
		called("answer.match", set("player_id", "P99")),
		{check: "player.choice.same", serve: flips(again(call))},
		{check: "player.choice.past", serve: refuses(bodyHas(`"deadline":"2020`))},
		{check: "player.choice.other", serve: as(call, "player_id", "P77", "P01")},
		invited("choice.secret", set("parity_choice", "even")),
		{check: "player.state.others", serve: accepts(isType(invitation), says("opponent_id", "P98"))},
		{check: "player.state.uninvited", serve: answering(func(m *memory, in *request, r *reply) *reply {
			if in.of(invitation) {
				m.count(in.match())
			}
			if in.of(call) && m.seen[in.match()] == 0 {
				return nothing(in)
			}
			return r
		})},
		{check: "player.state.late", serve: flips(after(over, call))},
		called("choice.fields", drop("protocol")),
		called("choice.fields", set("timestamp", "2026-03-14T11:10:13+02:00")),
		called("answer.seconds", set("timestamp", "2026-03-14T09:10:13.5Z")),
		called("answer.match", set("sender", "player:P99")),
		called("answer.conversation", set("conversation_id", "another")),
		called("answer.token", set("auth_token", "tok-P99-0123456789")),
		{check: "player.answer.media", serve: answering(func(_ *memory, _ *request, r *reply) *reply { r.media = "text/html"; return r })},
	}
}

func noticeMutants() []mutant {
	refusing := func(rule string, conditions ...when) mutant {
		return mutant{check: "player." + rule, serve: refuses(conditions...)}
	}
	return []mutant{
		refusing("round.ack", isType(announcement)),
		refusing("standings.ack", isType(standings)),
		refusing("roundend.ack", isType(roundEnd)),
		refusing("over.ack", isType(over)),
		refusing("over.forms", isType(over), bodyHas(`"drawn_number":null`)),
		refusing("over.again", again(over)),
		refusing("error.ack", isType(gameError)),
		refusing("error.then", after(gameError, call)),
		{check: "player.ack.fields", serve: answers(standings, set("status", "OK"))},
		refusing("end.ack", isType(completed)),
		refusing("end.again", isType(completed), func(m *memory, _ *request) bool { return m.count(completed) > 1 }),
	}
}

func flips(condition when) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if r.refused() || !condition(m, in) {
			return r
		}
		return r.edit(func(o object) {
			other := otherParity[o["parity_choice"]]
			o["parity_choice"], o["choice"] = other, other
		})
	})
}

var otherParity = map[any]any{"even": "odd", "odd": "even"}

func shapeMutants() []mutant {
	return []mutant{
		{check: "player.rpc.version", serve: framed(func(_, answer object) { delete(answer, "jsonrpc") })},
		{check: "player.rpc.notification", serve: breaks(isType("LEAGUE_ERROR"))},
		{check: "player.dialect.contracts", out: only(application, registersInEnvelope), serve: refuses(methodIs("handle_game_invitation"))},
		{check: "player.dialect.handle-message", serve: refuses(methodIs("handle_message"))},
		{check: "player.dialect.lower", serve: refuses(methodIs("choose_parity_call"))},
		{check: "player.dialect.alias", serve: refuses(methodIs("choose_parity"))},
		{check: "player.fields.time", serve: refuses(func(_ *memory, in *request) bool { return strings.HasSuffix(in.text("timestamp"), "+00:00") })},
		{check: "player.fields.optional", serve: refuses(isType(call), lacks("league_id"))},
		{check: "player.fields.missing", serve: breaks(isType(call), lacks("deadline"))},
		{check: "player.fields.round", serve: breaks(bodyHas(`"round_id":"ROUND_`))},
	}
}

// registersInEnvelope wraps the registration with the header apart.
func registersInEnvelope(_ *memory, in *request, next onward) *reply {
	m := in.read()
	payload := object{"player_meta": m["player_meta"]}
	delete(m, "player_meta")
	in.doc["method"], in.doc["params"] = "league.handle", object{"envelope": m, "payload": payload}
	return next(in.written())
}

func authMutants() []mutant {
	return []mutant{
		{check: "player.auth.token", serve: believes(all(isType(call), forged), rightToken)},
		{check: "player.auth.missing", serve: believes(all(isType(call), says("auth_token", "")), rightToken)},
		{check: "player.auth.referee", serve: as(call, "sender", "referee:REF02", "referee:REF01")},
		{check: "player.auth.player", serve: as(call, "sender", "player:P02", "referee:REF01")},
		{check: "player.auth.manager", serve: believes(all(isType(standings), forged), managerToken)},
		{check: "player.auth.then", serve: answering(func(m *memory, in *request, r *reply) *reply {
			switch {
			case in.of(call) && r.refused():
				m.count(in.match())
			case in.of(call) && m.seen[in.match()] > 0:
				return refusing(in)
			}
			return r
		})},
		{check: "player.auth.completed", serve: accepts(isType(completed), signedBy("referee"))},
	}
}

func loadMutants() []mutant {
	return []mutant{
		{check: "player.load.concurrent", serve: answering(func(m *memory, in *request, r *reply) *reply {
			// Every match is taken for the one that was joined last.
			switch match := in.match(); {
			case in.of(invitation) && !r.refused():
				m.count(match)
				m.last = match
			case in.of(call) && !r.refused() && m.seen[match] > 0:
				return r.edit(set("match_id", m.last))
			}
			return r
		})},
		{check: "player.load.speed", halts: true, serve: where(all(isType(over), func(m *memory, _ *request) bool { return m.count(over) > 6 }), func(m *memory, in *request, next onward) *reply {
			time.Sleep(m.scale.of(playerSilence/4 + 100*time.Millisecond)) // the fault: it takes longer with every match
			return next(in)
		})},
		breaksLater("player", isType(invitation)),
	}
}

// judging changes what a player says of a number to which the referee has committed.
func judging(verdict func(m *memory, in *request, verified bool) bool) fault {
	return func(m *memory, in *request, next onward) *reply {
		m.Lock()
		if c := in.text("draw_commitment"); c != "" && m.tokens[in.match()] != c {
			m.tokens[in.match()] = c
			m.count("commitments to " + in.match())
		}
		m.Unlock()
		r := next(in)
		if !in.of(over) || in.text("draw_key") == "" || r.refused() {
			return r
		}
		m.Lock()
		defer m.Unlock()
		m.count(in.text("draw_key"))
		return r.edit(func(o object) {
			if verified, said := o["draw_verified"].(bool); said {
				o["draw_verified"] = verdict(m, in, verified)
			}
		})
	}
}

// alwaysTheSameNonce is a player that verifies what it should, with one nonce for all
// matches: the player behind it is sent the nonce that it has made itself.
func alwaysTheSameNonce(m *memory, in *request, next onward) *reply {
	own := "nonce of " + in.match()
	m.Lock()
	nonce := m.tokens[own]
	m.Unlock()
	if in.of(over) && nonce != "" {
		in = in.changed(func(o object) {
			s := &request{doc: object{}, message: o}
			n, _ := drawOf(s).Number(s.text("draw_key"))
			result := within(o, "game_result")
			followed := n == int(whole(result["drawn_number"]))
			for id := range within(o, "draw_nonces") {
				within(o, "draw_nonces")[id] = nonce
			}
			if n, _ = drawOf(s).Number(s.text("draw_key")); !followed {
				n = n%10 + 1
			}
			draw(result, n)
		})
	}
	r := next(in)
	if in.text("draw_commitment") == "" || r.refused() {
		return r
	}
	return r.edit(func(o object) {
		m.Lock()
		defer m.Unlock()
		m.tokens[own], _ = o["draw_nonce"].(string)
		o["draw_nonce"] = fixedKey
	})
}

func playerDrawMutants() []mutant {
	swapped := func(m *memory, in *request) bool { return m.seen["commitments to "+in.match()] > 1 }
	reused := func(m *memory, in *request) bool { return m.seen[in.text("draw_key")] > 1 }
	return []mutant{
		{check: "player.draws.nonce", serve: answering(func(m *memory, in *request, r *reply) *reply {
			if in.text("draw_commitment") == "" || m.count("asked in "+in.match()) == 1 || r.refused() {
				return r
			}
			return r.edit(set("draw_nonce", draws.NewNonce()))
		})},
		{check: "player.draws.fresh", serve: alwaysTheSameNonce},
		{check: "player.draws.verified", serve: judging(func(*memory, *request, bool) bool { return false })},
		{check: "player.draws.number", serve: judging(func(m *memory, in *request, verified bool) bool { return verified || !swapped(m, in) && !reused(m, in) })},
		{check: "player.draws.swapped", serve: judging(func(m *memory, in *request, verified bool) bool { return verified || swapped(m, in) })},
		{check: "player.draws.reused", serve: judging(func(m *memory, in *request, verified bool) bool { return verified || reused(m, in) })},
		{check: "player.draws.round", serve: answers(roundEnd, drop("draw_verified"))},
	}
}

// postsAnswers acknowledges invitations and calls in JSON-RPC without a
// wrapping, and posts the player's answers to the endpoint that was announced.
func postsAnswers(posts *sync.WaitGroup) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if in.of(announcement) {
			m.last, _ = rows(in.read(), "matches")[0]["referee_endpoint"].(string)
		}
		result := within(parse(r.body), "result")
		t, _ := result["message_type"].(string)
		if t != "GAME_JOIN_ACK" && t != choice {
			return r
		}
		to := m.last
		posts.Go(func() {
			resp, err := http.Post(to, "application/json", bytes.NewReader(write(object{"jsonrpc": "2.0", "id": 1, "method": strings.ToLower(t), "params": result})))
			if err == nil {
				_ = resp.Body.Close()
			}
		})
		return r.framed(set("result", object{"status": "ACKNOWLEDGED"}))
	})
}
