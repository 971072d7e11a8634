package peertest

import "fmt"

// bare is a program without JSON-RPC: the body is the message, in and out, on
// /mcp. What it does not know is answered by {"error": ...} with status 200.
func bare() *course {
	unknown := reply{body: object{"error": "Unknown message type"}}
	c := &course{name: "bare"}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			if text(in, "message_type") != "LEAGUE_REGISTER_REQUEST" {
				return unknown
			}
			name, endpoint := contactOf(in, "player")
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return reply{body: with(head("LEAGUE_REGISTER_RESPONSE", "league_manager"), accepted(id))}
		})
		w.spawn(func() {
			field := w.full(&list, players)
			schedule(field, func(m matchup) {
				send := func(side int, kind string, more object) object {
					message := with(head(kind, "referee:REF01"), object{"match_id": m.id, "round_id": m.round, "game_type": "even_odd", "league_id": "league_2025_even_odd", "conversation_id": "c-" + m.id})
					return w.post(m.sides[side].endpoint, with(message, more))
				}
				mine := func(answer object, side int) bool {
					return answer["match_id"] == m.id && answer["player_id"] == m.sides[side].id
				}
				w.conduct(m, 1+m.round, func(side int) bool {
					answer := send(side, "GAME_INVITATION", object{"opponent_id": m.sides[1-side].id})
					return mine(answer, side) && text(answer, "arrival_timestamp") != "" && answer["accept"] == true
				}, func(side int) string {
					answer := send(side, "CHOOSE_PARITY_CALL", object{"player_id": m.sides[side].id})
					if !mine(answer, side) {
						return ""
					}
					return text(answer, "parity_choice")
				}, func(side int, o outcome) {
					send(side, "GAME_OVER", object{"game_result": object{"winner_player_id": o.winnerID(), "drawn_number": o.drawn(), "choices": o.chosen(), "status": o.status()}})
				})
			})
			w.broadcast(field, func(registered) any {
				return with(head("LEAGUE_COMPLETED", "league_manager"), object{"league_id": "league_2025_even_odd", "final_standings": w.table(field)})
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me := newIdentity(w)
		w.serve(8100+n, func(_ string, in object) reply {
			id, token := me.get()
			answer := with(head("", "player:"+id), object{"auth_token": token, "player_id": id, "match_id": in["match_id"], "conversation_id": in["conversation_id"]})
			switch kind := text(in, "message_type"); kind {
			case "GAME_INVITATION":
				return reply{body: with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true, "arrival_timestamp": stamp()})}
			case "CHOOSE_PARITY_CALL":
				return reply{body: with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)})}
			case "GAME_OVER", "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED":
				return reply{body: object{"status": "ok"}}
			}
			return unknown
		})
		answer := w.post(manager, with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:Bare", n)), signup(fmt.Sprint("Bare ", n), n)))
		me.learn(answer, "player")
	}
	return c
}

// messages is a program with one method, handle_message, and the message in
// params.message; results are texts of JSON. Its manager gives random ids.
func messages() *course {
	// serve answers what handle_message brings.
	serve := func(w *world, port int, handle func(in object) object) {
		w.serve(port, func(path string, in object) reply {
			message := inner(inner(in, "params"), "message")
			switch {
			case in["method"] != "handle_message":
				return failed(in, -32601, "Method not found")
			case message == nil:
				return failed(in, -32602, "params.message is required")
			}
			return done(in, encoded(handle(message)))
		})
	}
	send := func(w *world, url string, message object) object {
		return decoded(w.post(url, rpc("handle_message", object{"message": message}, "m1"))["result"])
	}
	c := &course{name: "messages"}
	c.league = func(w *world, players int) {
		var list []registered
		serve(w, 8000, func(in object) object {
			if text(in, "message_type") != "LEAGUE_REGISTER_REQUEST" {
				return object{"status": "error", "message": "unexpected message"}
			}
			name, endpoint := contactOf(in, "player")
			id := fmt.Sprintf("player_%08x", 0x3fa9c2d1+7919*w.count(&list))
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return object{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": id}
		})
		w.spawn(func() {
			field := w.full(&list, players)
			schedule(field, func(m matchup) {
				about := object{"match_id": m.id, "round_id": fmt.Sprint("ROUND_", m.round)}
				to := func(side int, kind string, more object) object {
					return send(w, m.sides[side].endpoint, with(with(head(kind, "referee:ref-7"), about), more))
				}
				w.conduct(m, 2+m.round, func(side int) bool {
					return to(side, "GAME_INVITATION", object{})["accepted"] == true
				}, func(side int) string {
					return text(to(side, "CHOOSE_PARITY_CALL", object{}), "parity_choice")
				}, func(side int, o outcome) {
					to(side, "GAME_OVER", object{"your_choice": o.choices[side], "opponent_choice": o.choices[1-side], "result": o.word(side), "points_earned": o.points(side), "drawn_number": o.drawn()})
				})
			})
			for _, r := range field {
				send(w, r.endpoint, with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}))
			}
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		serve(w, 8100+n, func(in object) object {
			switch kind := text(in, "message_type"); kind {
			case "GAME_INVITATION":
				return object{"message_type": "GAME_JOIN_ACK", "match_id": in["match_id"], "accepted": true}
			case "CHOOSE_PARITY_CALL":
				return object{"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": in["match_id"], "parity_choice": habit(n)}
			default:
				return object{"status": "acknowledged", "message_type": kind}
			}
		})
		answer := send(w, manager, with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:", n)), signup(fmt.Sprint("Handler ", n), n)))
		if text(answer, "player_id") == "" {
			w.Errorf("player %d: registration answered by %v", n, answer)
		}
	}
	return c
}
