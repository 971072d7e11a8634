package peertest

import (
	"encoding/json"
	"fmt"
)

// tools is a program of MCP servers: initialize, tools/list with schemas of the
// arguments, and tools/call with flat arguments. What a tool does not declare it
// does not read; a tool that is not there is an internal error. The manager
// accepts everybody, and calls those whose endpoint it knows.
func tools() *course {
	serve := func(w *world, port int, declared []any, call func(name string, arguments object) object) {
		w.serve(port, func(path string, in object) reply {
			params := inner(in, "params")
			switch in["method"] {
			case "initialize":
				return done(in, object{"protocolVersion": "2024-11-05", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "even-odd", "version": "0.1"}})
			case "notifications/initialized":
				return reply{202, ""}
			case "tools/list":
				return done(in, object{"tools": declared})
			case "tools/call":
				if result := call(text(params, "name"), inner(params, "arguments")); result != nil {
					raw, _ := json.Marshal(result)
					return done(in, object{"content": []any{object{"type": "text", "text": string(raw)}}})
				}
				return failed(in, -32603, "Unknown tool: "+text(params, "name"))
			}
			return failed(in, -32601, "Method not found")
		})
	}
	tool := func(name string, fields ...string) any {
		properties := object{}
		for _, f := range fields {
			properties[f] = object{"type": "string"}
		}
		return object{"name": name, "description": name, "inputSchema": object{"type": "object", "properties": properties, "required": fields}}
	}
	call := func(w *world, url, name string, arguments object) object {
		content, _ := inner(w.post(url, rpc("tools/call", object{"name": name, "arguments": arguments}, 1)), "result")["content"].([]any)
		var answer object
		if len(content) > 0 {
			first, _ := content[0].(object)
			_ = json.Unmarshal([]byte(text(first, "text")), &answer)
		}
		return answer
	}
	c := &course{name: "tools"}
	c.league = func(w *world, players int) {
		var list []registered
		serve(w, 8000, []any{
			tool("register_player", "display_name", "endpoint", "version", "game_types"),
			tool("get_standings", "league_id"),
		}, func(name string, in object) object {
			if name != "register_player" {
				return nil
			}
			id := playerID(w.count(&list) + 1)
			w.register(&list, registered{id: id, name: text(in, "display_name"), endpoint: text(in, "endpoint")})
			return object{"status": "ACCEPTED", "player_id": id, "auth_token": "tok_" + id, "league_id": "league_2025_even_odd"}
		})
		w.spawn(func() {
			field := w.full(&list, players)
			schedule(field, func(m matchup) {
				about := object{"match_id": m.id, "round_id": fmt.Sprint(m.round), "league_id": "league_2025_even_odd"}
				w.conduct(m, 1+m.round, func(side int) bool {
					return call(w, m.sides[side].endpoint, "receive_game_invitation", with(about, object{"opponent_id": m.sides[1-side].id}))["accept"] == true
				}, func(side int) string {
					return text(call(w, m.sides[side].endpoint, "parity_choose", with(about, object{"player_id": m.sides[side].id})), "parity_choice")
				}, func(side int, o outcome) {
					call(w, m.sides[side].endpoint, "notify_match_result", with(about, object{"game_result": object{"status": o.word(side), "winner_player_id": o.winnerID(), "drawn_number": o.drawn(), "choices": o.chosen()}}))
				})
			})
			for _, r := range field {
				call(w, r.endpoint, "notify_league_completed", object{"league_id": "league_2025_even_odd", "final_standings": w.table(field)})
			}
			w.over()
		})
	}
	c.player = func(w *world, manager string, n int) {
		serve(w, 8100+n, []any{
			tool("receive_game_invitation", "match_id"), tool("parity_choose", "match_id"), tool("notify_match_result", "match_id"), tool("notify_league_completed"),
		}, func(name string, in object) object {
			switch name {
			case "receive_game_invitation":
				return object{"message_type": "GAME_JOIN_ACK", "match_id": in["match_id"], "accept": true, "arrival_timestamp": stamp()}
			case "parity_choose":
				return object{"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": in["match_id"], "parity_choice": habit(n)}
			case "notify_match_result", "notify_league_completed":
				return object{"status": "acknowledged"}
			}
			return nil
		})
		arguments := object{"display_name": fmt.Sprint("Tool ", n), "endpoint": playerURL(n), "version": "1.0.0", "game_types": []any{"even_odd"}}
		if manager == "http://127.0.0.1:8000/mcp" && !w.native { // a manager of another program gets it by the book besides
			arguments = with(arguments, with(head("LEAGUE_REGISTER_REQUEST", fmt.Sprint("player:Tool-", n)), signup(fmt.Sprint("Tool ", n), n)))
		}
		if answer := call(w, manager, "register_player", arguments); text(answer, "player_id") == "" {
			w.Errorf("player %d: registration answered by %v", n, answer)
		}
	}
	return c
}
