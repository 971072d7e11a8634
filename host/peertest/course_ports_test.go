package peertest

import (
	"fmt"
	"regexp"
)

var numberedSender = regexp.MustCompile(`^player:P(\d\d)$`)

// ports is a program by the book whose referee reads the players' addresses from
// its configuration: P0N is at localhost:810N, whatever was registered. Its
// manager counts from P01 unless the sender is player:P0N, and overwrites the
// entry of an id that it has given before.
func ports() *course {
	c := &course{name: "ports"}
	c.league = func(w *world, players int) {
		entries, given := make(map[string]registered), 0
		var field []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			if path != "/mcp" || text(params, "message_type") != "LEAGUE_REGISTER_REQUEST" {
				return failed(in, -32601, "Method not found")
			}
			name, _ := contactOf(params, "player")
			id := text(params, "sender")
			if numberedSender.MatchString(id) {
				id = id[len("player:"):]
			} else {
				w.note(func() { given++ })
				id = playerID(given)
			}
			w.note(func() {
				entries[id] = registered{id: id, name: name, endpoint: "http://localhost:81" + id[1:] + "/mcp"}
				field = field[:0]
				for n := 1; n < 10; n++ {
					if r, ok := entries[playerID(n)]; ok {
						field = append(field, r)
					}
				}
			})
			return done(in, with(head("LEAGUE_REGISTER_RESPONSE", "league_manager"), object{"status": "ACCEPTED", "player_id": id, "auth_token": "auth-" + id, "league_id": "league_2025_even_odd"}))
		})
		send := func(to registered, method, kind, sender string, more object) object {
			message := with(head(kind, sender), object{"auth_token": "auth-of-" + sender, "league_id": "league_2025_even_odd"})
			return inner(w.post(to.endpoint, rpc(method, with(message, more), fmt.Sprint("id-", kind))), "result")
		}
		w.spawn(func() {
			field := w.full(&field, players)
			schedule(field, func(m matchup) {
				about := object{"match_id": m.id, "round_id": m.round, "game_type": "even_odd", "conversation_id": "conv-" + m.id}
				w.conduct(m, 1+len(m.sides[0].name)%10, func(side int) bool {
					return send(m.sides[side], "handle_game_invitation", "GAME_INVITATION", "referee:REF01", with(about, object{"opponent_id": m.sides[1-side].id}))["accept"] == true
				}, func(side int) string {
					return text(send(m.sides[side], "parity_choose", "CHOOSE_PARITY_CALL", "referee:REF01", with(about, object{"player_id": m.sides[side].id, "deadline": stamp(), "context": object{"opponent_id": m.sides[1-side].id}})), "parity_choice")
				}, func(side int, o outcome) {
					send(m.sides[side], "notify_match_result", "GAME_OVER", "referee:REF01", with(about, o.byTheBook()))
				})
			})
			w.broadcast(field, func(registered) any {
				return rpc("notify_league_completed", with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}), "end")
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me := newIdentity(w)
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			kind := text(params, "message_type")
			_, token := me.get()
			answer := with(head("", "player:"+playerID(n)), object{"auth_token": token, "player_id": playerID(n), "match_id": params["match_id"], "conversation_id": params["conversation_id"]})
			switch kind {
			case "GAME_INVITATION":
				return done(in, with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true, "arrival_timestamp": stamp()}))
			case "CHOOSE_PARITY_CALL":
				return done(in, with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)}))
			case "":
				return failed(in, -32600, "Invalid Request")
			}
			return done(in, with(answer, object{"message_type": kind + "_ACK", "status": "ACKNOWLEDGED"}))
		})
		// It is P0n, whatever the answer says.
		answer := w.post(manager, rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", "player:"+playerID(n)), signup(fmt.Sprint("Port ", n), n)), fmt.Sprint("reg-", n)))
		me.learn(inner(answer, "result"), "player")
	}
	c.referee = portsReferee
	return c
}

// portsReferee plays what announcements assign to it; the players are where the
// course expects them.
func portsReferee(w *world, manager string) {
	me := newIdentity(w)
	send := func(url, method, kind string, more object) object {
		own, token := me.get()
		return inner(w.post(url, rpc(method, with(with(head(kind, "referee:"+own), object{"auth_token": token}), more), kind)), "result")
	}
	w.serve(8001, func(_ string, in object) reply {
		params := inner(in, "params")
		kind := text(params, "message_type")
		matches, _ := params["matches"].([]any)
		own, _ := me.get()
		if len(matches) > 0 {
			own, _ = me.known()
		}
		for _, one := range matches {
			one, _ := one.(object)
			if kind != "ROUND_ANNOUNCEMENT" || text(one, "referee_id") != own {
				continue
			}
			m := matchup{id: text(one, "match_id")}
			for side, name := range []string{"player_A_id", "player_B_id"} {
				id := text(one, name)
				m.sides[side] = registered{id: id, endpoint: "http://localhost:81" + id[len(id)-2:] + "/mcp"}
			}
			about := object{"match_id": m.id, "round_id": params["round_id"], "league_id": params["league_id"], "game_type": "even_odd", "conversation_id": "conv-" + m.id}
			w.spawn(func() {
				o := w.conduct(m, 7, func(side int) bool {
					return send(m.sides[side].endpoint, "handle_game_invitation", "GAME_INVITATION", with(about, object{"opponent_id": m.sides[1-side].id, "role_in_match": "PLAYER_A"}))["accept"] == true
				}, func(side int) string {
					return text(send(m.sides[side].endpoint, "parity_choose", "CHOOSE_PARITY_CALL", with(about, object{"player_id": m.sides[side].id})), "parity_choice")
				}, func(side int, o outcome) {
					send(m.sides[side].endpoint, "notify_match_result", "GAME_OVER", with(about, o.byTheBook()))
				})
				send(manager, "report_match_result", "MATCH_RESULT_REPORT", with(about, object{"result": object{
					"winner": o.winnerID(), "score": o.score(), "details": object{"drawn_number": o.drawn(), "number_parity": o.parity(), "choices": o.chosen()},
				}}))
			})
		}
		return done(in, with(head(kind+"_ACK", "referee:"+own), object{"status": "ACKNOWLEDGED", "referee_id": own}))
	})
	answer := send(manager, "register_referee", "REFEREE_REGISTER_REQUEST", object{"sender": "referee:REF01", "referee_meta": object{
		"display_name": "Ports", "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": "http://localhost:8001/mcp", "max_concurrent_matches": 2,
	}})
	me.learn(answer, "referee")
}
