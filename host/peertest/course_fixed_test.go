package peertest

import "fmt"

// fixed is a program in which a driver calls P01 to P04 at 8101 to 8104, as its
// run script says, while the manager gives those that register another id. It
// announces nothing, draws from 0 to 100, sends flat results, and never says that
// the league is over.
func fixed() *course {
	c := &course{name: "fixed", endless: true, unseated: true}
	c.league = func(w *world, players int) {
		registrations := 0
		w.serve(8000, func(path string, in object) reply {
			if path != "/mcp" || in["method"] != "register_player" {
				return failed(in, -32601, "Method not found")
			}
			w.note(func() { registrations++ })
			return done(in, object{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": fmt.Sprintf("P%X", 5+registrations), "auth_token": "tok_p1", "league_id": "league_2025_even_odd"})
		})
		var field []registered
		for n := range players {
			field = append(field, registered{id: playerID(n + 1), endpoint: playerURL(n + 1)})
		}
		w.spawn(func() {
			// The driver is started by hand, when all players are there.
			if !w.await(func() bool { return registrations > 0 || w.ready }) {
				return
			}
			schedule(field, func(m matchup) {
				send := func(side int, method, kind string, more object) object {
					message := object{"protocol": "league.v2", "message_type": kind, "sender": "referee:REF01", "timestamp": "2025-01-15T10:30:00.123456+00:00", "match_id": m.id, "auth_token": "tok_ref"}
					return inner(w.post(m.sides[side].endpoint, rpc(method, with(message, more), m.round)), "result")
				}
				w.conduct(m, 25*m.round, func(side int) bool {
					return send(side, "handle_game_invitation", "GAME_INVITATION", object{"opponent_id": m.sides[1-side].id})["accept"] == true
				}, func(side int) string {
					return text(send(side, "choose_parity", "CHOOSE_PARITY_CALL", object{"player_id": m.sides[side].id, "deadline": "2025-01-15T10:30:05Z"}), "parity_choice")
				}, func(side int, o outcome) {
					send(side, "notify_match_result", "GAME_OVER", object{"your_choice": o.choices[side], "opponent_choice": o.choices[1-side], "drawn_number": o.drawn(), "result": o.word(side)})
				})
			})
			w.over()
		})
	}
	c.player = func(w *world, _ string, n int) { // it never registers
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			answer := object{"protocol": "league.v2", "sender": "player:" + playerID(n), "auth_token": "tok_p1", "match_id": params["match_id"], "player_id": playerID(n)}
			switch in["method"] {
			case "handle_game_invitation":
				return done(in, with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true}))
			case "choose_parity":
				return done(in, with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)}))
			case "notify_match_result":
				return done(in, object{"status": "ok"})
			}
			return failed(in, -32601, "Method not found")
		})
	}
	return c
}

// counting is a program whose manager counts on where an earlier try of the
// league has stopped, so that no port that was chosen before the registration is
// that of the id; its referee calls P0N at localhost:810N. Its own players start
// their server when they know their id. The manager speaks on /, and its
// framework publishes that.
func counting() *course {
	const skipped = 1
	c := &course{name: "counting"}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			switch {
			case path == "GET /openapi.json":
				return reply{body: object{"openapi": "3.1.0", "paths": object{"/": object{"post": object{"summary": "Rpc"}}, "/health": object{"get": object{}}}}}
			case path != "/":
				return notFound()
			case text(params, "message_type") != "LEAGUE_REGISTER_REQUEST":
				return failed(in, -32601, "Method not found")
			}
			name, _ := contactOf(params, "player")
			n := w.count(&list) + 1 + skipped
			w.register(&list, registered{id: playerID(n), name: name, endpoint: playerURL(n)})
			return done(in, with(head("LEAGUE_REGISTER_RESPONSE", "league_manager"), object{"status": "ACCEPTED", "player_id": playerID(n), "auth_token": fmt.Sprint("t", n), "league_id": "league_2025_even_odd"}))
		})
		w.spawn(func() {
			field := w.full(&list, players)
			for _, r := range field {
				w.listening(r.endpoint)
			}
			schedule(field, func(m matchup) {
				send := func(side int, method, kind string, more object) object {
					message := with(head(kind, "referee:REF01"), object{"match_id": m.id, "round_id": m.round, "league_id": "league_2025_even_odd", "game_type": "even_odd", "auth_token": "r"})
					return inner(w.post(m.sides[side].endpoint, rpc(method, with(message, more), "x")), "result")
				}
				w.conduct(m, 3+m.round, func(side int) bool {
					return send(side, "handle_game_invitation", "GAME_INVITATION", object{"opponent_id": m.sides[1-side].id, "role_in_match": "player_a"})["accept"] == true
				}, func(side int) string {
					return text(send(side, "choose_parity", "CHOOSE_PARITY_CALL", object{"player_id": m.sides[side].id}), "parity_choice")
				}, func(side int, o outcome) {
					send(side, "notify_match_result", "GAME_OVER", o.byTheBook())
				})
			})
			w.broadcast(field, func(registered) any {
				return rpc("notify_league_completed", with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}), "z")
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		if w.native {
			manager = "http://127.0.0.1:8000/"
			n += skipped
		}
		register := rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:count", n)), signup(fmt.Sprint("Count ", n), n)), n)
		id := text(inner(w.post(manager, register), "result"), "player_id")
		if id == "" {
			w.Errorf("player %d is not registered", n)
			return
		}
		last := "" // it signs with the token of what it received last
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			if t := text(params, "auth_token"); t != "" {
				w.note(func() { last = t })
			}
			w.mu.Lock()
			token := last
			w.mu.Unlock()
			kind := text(params, "message_type")
			answer := object{"protocol": "league.v2", "sender": "players:" + id, "timestamp": stamp(), "auth_token": token, "match_id": params["match_id"], "player_id": id}
			switch kind {
			case "GAME_INVITATION":
				return done(in, with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true, "arrival_timestamp": stamp()}))
			case "CHOOSE_PARITY_CALL":
				return done(in, with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)}))
			}
			return done(in, object{"status": "acknowledged", "message_type": kind}) // an echo of the type
		})
	}
	return c
}
