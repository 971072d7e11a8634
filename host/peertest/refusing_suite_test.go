package peertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// refusals are the ways in which a program refuses everything.
var refusals = map[string]reply{
	"method not found": {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32601, "message": "Method not found"}}},
	"internal error":   {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32603, "message": "Internal error"}}},
	"invalid params":   {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32602, "message": "Sender not registered"}}},
	"refused":          {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32602, "message": "I refuse"}}},
	"token":            {body: object{"jsonrpc": "2.0", "id": 1, "error": object{"code": -32001, "message": "no", "data": object{"error_code": "E012"}}}},
	"acknowledges all": {body: object{"jsonrpc": "2.0", "id": 1, "result": object{"status": "ok"}}},
	"not found":        {404, object{"detail": "Not Found"}},
	"unprocessable":    {422, object{"detail": []any{object{"loc": []any{"body", "league_name"}, "msg": "Field required", "type": "missing"}}}},
	"server error":     {500, "<html><body>Internal Server Error</body></html>"},
	"error":            {body: object{"error": "Unknown message type"}},
	"empty":            {body: object{}},
}

// mostWhileRefused is how many requests a server may get that refuses all of them
// in a league of three matches.
const mostWhileRefused = 150

// refuse serves a refusal on a port.
func (w *world) refuse(port int, r reply) {
	w.serve(port, func(_ string, in object) reply {
		if body, ok := r.body.(object); ok && body["jsonrpc"] != nil {
			return reply{r.status, with(body, object{"id": in["id"]})}
		}
		return r
	})
}

// bounded checks the number of requests that a server got.
func (w *world) bounded(server string) {
	w.Helper()
	w.record.mu.Lock()
	defer w.record.mu.Unlock()
	if n := w.record.number[server]; n > mostWhileRefused {
		w.Errorf("%s refuses everything, and got %d requests", server, n)
	}
}

// refusing runs a test for each way of refusing but some.
func refusing(t *testing.T, play func(w *world, r reply), but ...string) {
	t.Helper()
	var all []*course
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		if !slices.Contains(but, name) {
			all = append(all, &course{name: strings.ReplaceAll(name, " ", "-")})
		}
	}
	eachCourse(t, sample(t, all), func(w *world, c *course) { play(w, refusals[strings.ReplaceAll(c.name, "-", " ")]) })
}

// TestPlayerLeavesManagerThatRefusesEverything: our player ends by itself with an
// error.
func TestPlayerLeavesManagerThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		w.refuse(8000, r)
		ours := w.strategylab("player", "--strategy", "random", "--manager", "http://127.0.0.1:8000/mcp", "--once")
		w.wait(ours)
		if ours.err == nil || !strings.Contains(ours.out.String(), "register") {
			w.Errorf("our player ended with %v", ours.err)
		}
		w.bounded("127.0.0.1:8000")
	}, "acknowledges all") // it may be about to say who the player is, so it is waited for
}

// TestHostOutlivesPlayerThatRefusesEverything: the league is complete, and the
// player has lost its matches.
func TestHostOutlivesPlayerThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--field", "random,alternate", "--players", "3", "--format", "json", "--retry-delay", "200ms", "--join-timeout", "500ms")
		w.prints(ours, `"P02"`)
		w.refuse(8103, r)
		w.post("http://127.0.0.1:8000/mcp", rpc("register_player", with(head("LEAGUE_REGISTER_REQUEST", "player:P03"), signup("No", 3)), 1))
		w.wait(ours)
		l := ours.league()
		if absent := fmt.Sprint(l.matches); len(l.matches) != 3 || !l.completed || strings.Count(absent, "P03") != 2 {
			w.Errorf("completed: %v, without a choice: %v", l.completed, absent)
		}
		w.bounded("127.0.0.1:8103")
	}, "acknowledges all") // it may be about to choose, so it is waited for
}

// TestManagerReplacesRefereeThatRefusesEverything: its matches go to another, and the manager says why.
func TestManagerReplacesRefereeThatRefusesEverything(t *testing.T) {
	t.Parallel()
	refusing(t, func(w *world, r reply) {
		ours := w.strategylab("host", "--legs", "1", "--validation", "tolerant", "--field", "random,alternate,frequency", "--players", "4", "--format", "json", "--retry-delay", "200ms", "--join-timeout", "1s")
		w.prints(ours, `"P03"`)
		w.refuse(8002, r)
		w.post("http://127.0.0.1:8000/mcp", rpc("register_referee", with(head("REFEREE_REGISTER_REQUEST", "referee:REF02"), object{
			"referee_meta": object{"display_name": "No", "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": "http://localhost:8002/mcp", "max_concurrent_matches": 20},
		}), 1))
		ports().player(w, "http://127.0.0.1:8000/mcp", 4)
		w.wait(ours)
		w.checkHosted(ours, 4)
		w.bounded("127.0.0.1:8002")
		if !strings.Contains(ours.out.String(), `"referee_unable"`) && r.status != 500 { // which says that nobody is there
			w.Error("nobody says that the referee conducts nothing")
		}
	})
}
