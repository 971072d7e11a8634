package peertest

import (
	"fmt"
	"sync/atomic"
)

// terse is a program that leaves out what it can: senders are bare names, its
// referee calls players at the port of their number by methods of its own, reads
// choice, states deadlines that are over, and the end of the league is silence.
func terse() *course {
	c := &course{name: "terse", endless: true}
	c.league = func(w *world, players int) {
		var list []registered
		w.serve(8000, func(path string, in object) reply {
			params := inner(in, "params")
			switch {
			case path != "/mcp":
				return notFound()
			case !isInt(in["id"]):
				return unprocessable("id", "type_error.integer", "value is not a valid integer")
			case in["method"] != "register_player":
				return reply{400, object{"detail": fmt.Sprint("Unknown method: ", in["method"])}}
			}
			name, endpoint := contactOf(params, "player")
			if endpoint == "" {
				return unprocessable("player_meta", "missing", "field required")
			}
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: name, endpoint: endpoint})
			return done(in, object{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "REGISTERED", "player_id": id, "auth_token": ""})
		})
		w.spawn(func() {
			var n atomic.Int64
			schedule(w.full(&list, players), func(m matchup) { terseMatch(w, m, &n) })
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		w.serve(8100+n, func(_ string, in object) reply {
			switch inner(in, "params")["message_type"] {
			case "GAME_INVITATION":
				return done(in, object{"accept": true})
			case "CHOOSE_PARITY_CALL":
				return done(in, object{"choice": habit(n)})
			}
			return done(in, object{"status": "ok"})
		})
		w.post(manager, rpc("register_player", object{
			"message_type": "LEAGUE_REGISTER_REQUEST", "sender": fmt.Sprint("Terse ", n),
			"player_meta": object{"display_name": fmt.Sprint("Terse ", n), "version": "1", "game_types": []any{"even_odd"}, "contact_endpoint": playerURL(n)},
		}, n))
	}
	return c
}

// terseMatch conducts a match as that program's referee does, one request after
// another; n counts those of all matches, which are conducted side by side.
func terseMatch(w *world, m matchup, n *atomic.Int64) {
	ask := func(side int, method, kind string, more object) object {
		id := int(n.Add(1))
		message := with(object{"message_type": kind, "sender": "REF01", "timestamp": stamp(), "match_id": m.id}, more)
		var port int
		if _, err := fmt.Sscanf(m.sides[side].id, "P%d", &port); err != nil {
			w.Error(err)
		}
		return inner(w.post(playerURL(port), rpc(method, message, id)), "result")
	}
	w.conduct(m, 1+int(n.Load())%10, func(side int) bool {
		return ask(side, "game_invitation", "GAME_INVITATION", object{"opponent_id": m.sides[1-side].id})["accept"] == true
	}, func(side int) string {
		return text(ask(side, "make_choice", "CHOOSE_PARITY_CALL", object{"deadline": stamp()}), "choice")
	}, func(side int, o outcome) {
		ask(side, "game_result", "GAME_OVER", object{"winner": o.winnerID(), "drawn_number": o.drawn()})
	})
}
