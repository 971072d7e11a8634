package peertest

import "fmt"

// quiet is a program on Python's http.server with method names of its own. It
// announces no rounds, refuses by status 500 and a page, and its players join by
// a message to the referee and by nothing else.
func quiet() *course {
	crash := reply{500, "<html><body>KeyError</body></html>"}
	c := &course{name: "quiet", unseated: true}
	const referee = "http://127.0.0.1:8001/mcp"
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			meta := inner(params, "player_meta")
			if in["method"] != "register_player" || meta["display_name"] == nil || meta["contact_endpoint"] == nil || meta["game_types"] == nil {
				return crash
			}
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: text(meta, "display_name"), endpoint: text(meta, "contact_endpoint")})
			return done(in, object{"status": "REGISTERED", "player_id": id, "auth_token": "q" + id, "league_id": "league_2025_even_odd"})
		})
		joined := make(map[string]bool)
		w.serve(8001, func(path string, in object) reply {
			params := inner(in, "params")
			if text(params, "message_type") != "GAME_JOIN_ACK" {
				return crash
			}
			w.note(func() { joined[text(params, "match_id")+text(params, "player_id")] = true })
			return done(in, object{"status": "ACKNOWLEDGED"})
		})
		w.spawn(func() {
			field := w.full(&list, players)
			schedule(field, func(m matchup) {
				send := func(side int, method, kind string, more object) object {
					message := with(head(kind, "referee:REF01"), object{"match_id": m.id, "round_id": m.round, "league_id": "league_2025_even_odd", "auth_token": "ref", "conversation_id": "q-" + m.id})
					return inner(w.post(m.sides[side].endpoint, rpc(method, with(message, more), 1)), "result")
				}
				w.conduct(m, 3+m.round, func(side int) bool {
					send(side, "receive_game_invitation", "GAME_INVITATION", object{"opponent_id": m.sides[1-side].id, "referee_endpoint": referee})
					return w.await(func() bool { return joined[m.id+m.sides[side].id] })
				}, func(side int) string {
					return text(send(side, "receive_parity_call", "CHOOSE_PARITY_CALL", object{"player_id": m.sides[side].id}), "choice")
				}, func(side int, o outcome) {
					send(side, "receive_game_over", "GAME_OVER", object{"your_choice": o.choices[side], "opponent_choice": o.choices[1-side], "drawn_number": o.drawn(), "result": o.word(side), "points_earned": o.points(side)})
				})
			})
			w.broadcast(field, func(registered) any {
				return rpc("notify_standings", with(head("LEAGUE_STANDINGS_UPDATE", "league_manager"), object{"standings": w.table(field)}), 2)
			})
			w.broadcast(field, func(registered) any {
				return rpc("league_completed", with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}), 2)
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me := newIdentity(w)
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			id, token := me.get()
			switch in["method"] {
			case "receive_game_invitation":
				w.spawn(func() {
					id, token := me.known()
					w.post(referee, rpc("game_join_ack", with(head("GAME_JOIN_ACK", "player:"+id), object{"match_id": params["match_id"], "player_id": id, "accept": true, "auth_token": token}), 1))
				})
			case "receive_parity_call":
				return done(in, with(head("CHOOSE_PARITY_RESPONSE", "player:"+id), object{"match_id": params["match_id"], "player_id": id, "choice": habit(n), "auth_token": token}))
			case "receive_game_over", "notify_standings", "league_completed":
			default:
				return crash
			}
			return done(in, object{"status": "received"})
		})
		answer := w.post(manager, rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:Quiet", n)), signup(fmt.Sprint("Quiet ", n), n)), n))
		me.learn(inner(answer, "result"), "player")
	}
	return c
}

// assigning is a program in which a referee acknowledges announcements by a type
// ACK and does nothing; it plays what MATCH_ASSIGNMENT brings, and reports it
// under the id of its own league.
func assigning() *course {
	c := &course{name: "assigning"}
	c.referee = func(w *world, manager string) {
		me := newIdentity(w)
		send := func(url, method, kind string, more object) object {
			_, token := me.get()
			return inner(w.post(url, rpc(method, with(with(head(kind, "referee:REF01"), object{"auth_token": token, "league_id": "demo_league_2024"}), more), 4)), "result")
		}
		w.serve(8001, func(_ string, in object) reply {
			params := inner(in, "params")
			switch text(params, "message_type") {
			case "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED":
				return done(in, object{"message_type": "ACK", "status": "ok"})
			case "MATCH_ASSIGNMENT":
			default:
				return failed(in, -32601, "Method not found")
			}
			m := matchup{id: text(params, "match_id")}
			for side, name := range []string{"player1", "player2"} {
				m.sides[side] = registered{id: text(params, name+"_id"), endpoint: text(params, name+"_endpoint")}
			}
			if m.id == "" || m.sides[0].endpoint == "" || m.sides[1].endpoint == "" {
				return failed(in, -32602, "Missing required fields")
			}
			about := object{"match_id": m.id, "round_id": params["round_id"], "game_type": "even_odd"}
			w.spawn(func() {
				me.known()
				o := w.conduct(m, 4, func(side int) bool {
					return send(m.sides[side].endpoint, "handle_game_invitation", "GAME_INVITATION", with(about, object{"opponent_id": m.sides[1-side].id}))["accept"] == true
				}, func(side int) string {
					return text(send(m.sides[side].endpoint, "parity_choose", "CHOOSE_PARITY_CALL", with(about, object{"player_id": m.sides[side].id})), "parity_choice")
				}, func(side int, o outcome) {
					send(m.sides[side].endpoint, "notify_match_result", "GAME_OVER", with(about, o.byTheBook()))
				})
				send(manager, "report_match_result", "MATCH_RESULT_REPORT", with(about, o.reported()))
			})
			return done(in, object{"message_type": "MATCH_ASSIGNMENT_ACK", "status": "ACCEPTED"})
		})
		answer := send(manager, "register_referee", "REFEREE_REGISTER_REQUEST", refereeSignup("Assigned"))
		me.learn(answer, "referee")
	}
	return c
}
