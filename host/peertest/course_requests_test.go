package peertest

import "fmt"

// requests is a program in which everything is a request, answers too: its referee
// reads params of what comes back, and nothing else. It acts at once: a player
// whose answer it cannot find has lost.
func requests() *course {
	answering := func(method string, params object) reply {
		return reply{body: rpc(method, params, 99)}
	}
	c := &course{name: "requests", lessons: 2}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			if in["method"] != "register_player" && in["method"] != "league_register_request" {
				return failed(in, -32601, "Method not found")
			}
			name, endpoint := contactOf(params, "player")
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return done(in, accepted(id))
		})
		send := func(to registered, method, kind string, more object) object {
			message := with(head(kind, "referee:REF01"), object{"auth_token": "tref", "league_id": "league_2025_even_odd", "game_type": "even_odd"})
			answer := w.post(to.endpoint, rpc(method, with(message, more), 1))
			if _, there := answer["result"]; there {
				return nil
			}
			return inner(answer, "params")
		}
		w.spawn(func() {
			field := w.full(&list, players)
			for round, matches := range roundRobin(field) {
				w.broadcast(field, func(registered) any {
					var all []any
					for _, m := range matches {
						all = append(all, object{"match_id": m.id, "game_type": "even_odd", "player_A_id": m.sides[0].id, "player_B_id": m.sides[1].id, "referee_endpoint": "http://localhost:8001/mcp"})
					}
					return rpc("round_announcement", with(head("ROUND_ANNOUNCEMENT", "league_manager"), object{"league_id": "league_2025_even_odd", "round_id": round + 1, "matches": all}), 5)
				})
				for _, m := range matches {
					about := object{"match_id": m.id, "round_id": m.round, "conversation_id": "conv" + m.id}
					w.conduct(m, 1+m.round, func(side int) bool {
						return send(m.sides[side], "game_invitation", "GAME_INVITATION", with(about, object{"opponent_id": m.sides[1-side].id, "role_in_match": "PLAYER_A"}))["accept"] == true
					}, func(side int) string {
						return text(send(m.sides[side], "choose_parity", "CHOOSE_PARITY_CALL", with(about, object{"player_id": m.sides[side].id})), "parity_choice")
					}, func(side int, o outcome) {
						reason := "as drawn"
						if o.status() == "TECHNICAL_LOSS" {
							reason = "timeout"
						}
						send(m.sides[side], "game_over", "GAME_OVER", with(about, object{"game_result": object{
							"status": o.status(), "reason": reason, "winner_player_id": o.winnerID(), "drawn_number": o.drawn(), "number_parity": o.parity(), "choices": o.chosen(),
						}}))
					})
				}
			}
			w.broadcast(field, func(registered) any {
				return rpc("league_completed", with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}), 5)
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me := newIdentity(w)
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			id, token := me.get()
			answer := with(head("", "player:"+id), object{"auth_token": token, "player_id": id, "match_id": params["match_id"], "conversation_id": params["conversation_id"]})
			switch text(params, "message_type") {
			case "GAME_INVITATION":
				return answering("game_join_ack", with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true, "arrival_timestamp": stamp()}))
			case "CHOOSE_PARITY_CALL":
				return answering("choose_parity_response", with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)}))
			}
			return answering("ack", object{"status": "acknowledged", "message_type": params["message_type"]})
		})
		answer := w.post(manager, rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:req", n)), signup(fmt.Sprint("Req ", n), n)), n))
		me.learn(inner(answer, "result"), "player")
	}
	return c
}
