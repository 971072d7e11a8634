package peertest

import (
	"slices"
	"strings"
)

// adopting is a program whose methods are the message types. Its manager makes
// the name in the sender the player's id and refuses by a result of the type
// ERROR; its players and its referee know two senders and no others.
func adopting() *course {
	unknown := func(in object, code string) reply {
		return done(in, object{"message_type": "ERROR", "error_code": code, "error_description": code, "status": "error"})
	}
	c := &course{name: "adopting"}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			if path != "/mcp" {
				return notFound()
			}
			if text(params, "message_type") != "LEAGUE_REGISTER_REQUEST" {
				return unknown(in, "UNKNOWN_MESSAGE_TYPE")
			}
			_, id, ok := strings.Cut(text(params, "sender"), ":")
			name, endpoint := contactOf(params, "player")
			if !ok || endpoint == "" {
				return unknown(in, "INVALID_MESSAGE")
			}
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return done(in, object{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": id, "auth_token": "tok-" + id, "reason": nil})
		})
		send := func(to registered, kind, sender string, more object) object {
			message := with(head(kind, sender), more)
			message["auth_token"], message["league_id"] = "league-secret", "league_2025_even_odd"
			return inner(w.post(to.endpoint, rpc(kind, message, 7)), "result")
		}
		w.spawn(func() {
			field := w.full(&list, players)
			schedule(field, func(m matchup) {
				about := object{"match_id": m.id, "round_id": m.round, "game_type": "even_odd"}
				w.conduct(m, 1+m.round, func(side int) bool {
					answer := send(m.sides[side], "GAME_INVITATION", "referee:REF01", with(about, object{"opponent_id": m.sides[1-side].id, "role_in_match": "PLAYER_A"}))
					return answer["accept"] == true || slices.Contains([]string{"RECEIVED", "ACCEPTED"}, text(answer, "status"))
				}, func(side int) string {
					return text(send(m.sides[side], "CHOOSE_PARITY_CALL", "referee:REF01", with(about, object{"player_id": m.sides[side].id})), "choice")
				}, func(side int, o outcome) {
					send(m.sides[side], "GAME_OVER", "referee:REF01", with(about, object{"game_result": object{"status": o.word(side), "drawn_number": o.drawn(), "player_choices": o.chosen()}}))
				})
			})
			for _, kind := range []string{"LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED"} {
				for _, r := range field {
					send(r, kind, "league_manager:LM01", object{"standings": w.table(field), "final_standings": w.table(field)})
				}
			}
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me, name := newIdentity(w), "Team "+playerID(n)
		w.serve(8100+n, func(_ string, in object) reply {
			params := inner(in, "params")
			sender := text(params, "sender")
			switch {
			case sender != "league_manager:LM01" && sender != "referee:REF01":
				return unknown(in, "UNKNOWN_SENDER")
			case text(params, "auth_token") == "":
				return unknown(in, "AUTH_FAILED")
			}
			id, _ := me.get()
			answer := object{"sender": "player:" + id, "timestamp": stamp(), "match_id": params["match_id"]}
			switch in["method"] {
			case "GAME_INVITATION":
				return done(in, with(answer, object{"message_type": "GAME_JOIN_ACK", "status": "RECEIVED"}))
			case "CHOOSE_PARITY_CALL":
				return done(in, with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "choice": habit(n)}))
			case "GAME_OVER", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED":
				return done(in, with(answer, object{"message_type": text(in, "method") + "_ACK", "status": "OK"}))
			}
			return unknown(in, "UNKNOWN_MESSAGE_TYPE")
		})
		answer := w.post(manager, rpc("LEAGUE_REGISTER_REQUEST", with(head("LEAGUE_REGISTER_REQUEST", "player:"+name), object{
			"player_meta": object{"display_name": name, "version": "1.0.0", "protocol_version": "league.v2", "game_types": []any{"even_odd"}, "contact_endpoint": playerURL(n)},
		}), n))
		result := inner(answer, "result")
		if !slices.Contains([]string{"ACCEPTED", "REGISTERED"}, text(result, "status")) {
			w.Errorf("player %d: registration answered by %v", n, answer)
			return
		}
		me.learn(result, "player")
	}
	c.referee = adoptingReferee
	return c
}

// adoptingReferee takes matches by START_MATCH, from a manager it knows only.
func adoptingReferee(w *world, manager string) {
	me, league := newIdentity(w), ""
	send := func(url, kind string, more object) object {
		_, token := me.get()
		return inner(w.post(url, rpc(kind, with(with(head(kind, "referee:REF01"), object{"auth_token": token, "league_id": league}), more), 3)), "result")
	}
	w.serve(8001, func(_ string, in object) reply {
		params := inner(in, "params")
		if text(params, "sender") != "league_manager:LM01" {
			return failed(in, -32602, "Sender not registered: "+text(params, "sender"))
		}
		if in["method"] != "START_MATCH" {
			return failed(in, -32601, "Unknown message type")
		}
		m := matchup{id: text(params, "match_id"), sides: [2]registered{
			{id: text(params, "player_A_id"), endpoint: text(params, "player_A_endpoint")},
			{id: text(params, "player_B_id"), endpoint: text(params, "player_B_endpoint")},
		}}
		if m.id == "" || m.sides[0].endpoint == "" || m.sides[1].endpoint == "" {
			return failed(in, -32602, "Missing endpoints")
		}
		about := object{"match_id": m.id, "round_id": params["round_id"]}
		w.spawn(func() {
			me.known()
			o := w.conduct(m, 4, func(side int) bool {
				return text(send(m.sides[side].endpoint, "GAME_INVITATION", with(about, object{"opponent_id": m.sides[1-side].id})), "status") != ""
			}, func(side int) string {
				return text(send(m.sides[side].endpoint, "CHOOSE_PARITY_CALL", with(about, object{"player_id": m.sides[side].id})), "choice")
			}, func(side int, o outcome) {
				send(m.sides[side].endpoint, "GAME_OVER", with(about, object{"game_result": object{"status": o.word(side), "drawn_number": o.drawn(), "player_choices": o.chosen()}}))
			})
			send(manager, "MATCH_RESULT_REPORT", with(about, o.reported()))
		})
		return done(in, object{"message_type": "START_MATCH_ACK", "status": "STARTED", "match_id": m.id})
	})
	answer := send(manager, "REFEREE_REGISTER_REQUEST", refereeSignup("Adopter"))
	w.note(func() { league = text(answer, "league_id") })
	me.learn(answer, "referee")
}
