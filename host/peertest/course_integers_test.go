package peertest

import "fmt"

// integers is a FastAPI program with a model of requests: ids are integers, and
// everything else is refused with 422 before any method is looked at.
func integers() *course {
	checked := func(handle func(method string, params, in object) reply) func(string, object) reply {
		return func(path string, in object) reply {
			_, isText := in["jsonrpc"].(string)
			method, named := in["method"].(string)
			switch {
			case path != "/mcp":
				return notFound()
			case !isText:
				return unprocessable("jsonrpc", "missing", "Field required")
			case !named:
				return unprocessable("method", "missing", "Field required")
			case !isInt(in["id"]):
				return unprocessable("id", "int_parsing", "Input should be a valid integer, unable to parse string as an integer")
			}
			return handle(method, inner(in, "params"), in)
		}
	}
	c := &course{name: "integers"}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, checked(func(method string, params, in object) reply {
			if method != "register_player" {
				return failed(in, -32601, "Method not found: "+method)
			}
			name, endpoint := contactOf(params, "player")
			if name == "" || endpoint == "" {
				return failed(in, -32602, "Invalid params: player_meta")
			}
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return done(in, with(head("LEAGUE_REGISTER_RESPONSE", "league_manager"), accepted(id)))
		}))
		w.spawn(func() {
			field := w.full(&list, players)
			n := 0
			next := func() int {
				w.mu.Lock()
				defer w.mu.Unlock()
				n++
				return n
			}
			schedule(field, func(m matchup) { integersMatch(w, m, next) })
			w.broadcast(field, func(registered) any {
				return rpc("update_standings", with(head("LEAGUE_STANDINGS_UPDATE", "league_manager"), object{"standings": w.table(field)}), next())
			})
			w.broadcast(field, func(registered) any {
				return rpc("notify_league_completed", with(head("LEAGUE_COMPLETED", "league_manager"), object{"final_standings": w.table(field)}), next())
			})
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		me := newIdentity(w)
		w.serve(8100+n, checked(func(method string, params, in object) reply {
			id, _ := me.get()
			answer := with(head(method, "player:"+id), object{"player_id": id, "match_id": params["match_id"]})
			switch method {
			case "handle_game_invitation":
				return done(in, with(answer, object{"message_type": "GAME_JOIN_ACK", "accept": true}))
			case "parity_choose", "choose_parity":
				return done(in, with(answer, object{"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": habit(n)}))
			case "notify_match_result":
				return done(in, object{"status": "ok"})
			}
			return failed(in, -32601, "Method not found: "+method)
		}))
		answer := w.post(manager, rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", "player:"+playerID(n)), signup(fmt.Sprint("Int ", n), n)), 1))
		me.learn(inner(answer, "result"), "player")
	}
	return c
}

// integersMatch conducts a match as that program's referee does.
func integersMatch(w *world, m matchup, next func() int) {
	ask := func(side int, method, kind string, more object) object {
		message := with(head(kind, "referee:REF01"), object{"match_id": m.id, "round_id": m.round, "league_id": "league_2025_even_odd", "auth_token": "tok_ref"})
		return inner(w.post(m.sides[side].endpoint, rpc(method, with(message, more), next())), "result")
	}
	w.conduct(m, 1+len(m.id)%10, func(side int) bool {
		return ask(side, "handle_game_invitation", "GAME_INVITATION", object{"game_type": "even_odd", "opponent_id": m.sides[1-side].id})["accept"] == true
	}, func(side int) string {
		return text(ask(side, "choose_parity", "CHOOSE_PARITY_CALL", object{"player_id": m.sides[side].id, "deadline": stamp()}), "parity_choice")
	}, func(side int, o outcome) {
		ask(side, "notify_match_result", "GAME_OVER", o.byTheBook())
	})
}
