package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// foreignLeague is a manager and a referee of another program, by hand: it seats
// one player and then does what a test says.
type foreignLeague struct {
	t    *testing.T
	url  string
	read func(body map[string]any) map[string]any // where the referee reads answers

	mu       sync.Mutex
	endpoint string // of the player
}

// newForeignLeague starts one that gives an id for the one proposed, and shows others as taken.
func newForeignLeague(t *testing.T, give func(proposed string) string, taken ...string) *foreignLeague {
	f := &foreignLeague{t: t, read: func(body map[string]any) map[string]any {
		result, _ := body["result"].(map[string]any)
		return result
	}}
	f.url = speaking(t, func(a asked) (int, any) {
		switch a.text("message_type") {
		case "LEAGUE_REGISTER_REQUEST":
			meta, _ := a.params["player_meta"].(map[string]any)
			f.mu.Lock()
			f.endpoint, _ = meta["contact_endpoint"].(string)
			f.mu.Unlock()
			_, proposed, _ := strings.Cut(a.text("sender"), ":")
			return 200, a.result(reply{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": give(proposed), "auth_token": "t", "league_id": "cup"})
		case "LEAGUE_QUERY":
			var players []any
			for _, id := range taken {
				players = append(players, reply{"player_id": id, "contact_endpoint": "http://elsewhere:9000/mcp"})
			}
			return 200, a.result(reply{"message_type": "LEAGUE_QUERY_RESPONSE", "success": true, "data": reply{"players": players}})
		}
		return 200, a.refusal(-32601, "Method not found")
	}, func(string) {})
	return f
}

// send posts a message to the player, and returns the answer as the program
// reads it.
func (f *foreignLeague) send(method, kind, sender string, fields map[string]any) map[string]any {
	f.t.Helper()
	message := map[string]any{
		"protocol": "league.v2", "message_type": kind, "sender": sender, "timestamp": "2026-01-01T12:00:00Z",
		"conversation_id": "c", "league_id": "cup",
	}
	for name, value := range fields {
		message[name] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": message})
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	endpoint := f.endpoint
	f.mu.Unlock()
	_, text, err := fetch(f.t.Context(), http.MethodPost, endpoint, string(body), "Content-Type", "application/json")
	if err != nil {
		f.t.Fatal(err)
	}
	var answer map[string]any
	_ = json.Unmarshal([]byte(text), &answer) // what is no object is not read
	return f.read(answer)
}

// announce announces a match of the player.
func (f *foreignLeague) announce(round int, match, a, b string) {
	f.send("notify_round", "ROUND_ANNOUNCEMENT", "league_manager", map[string]any{
		"round_id": round, "matches": []any{map[string]any{"match_id": match, "game_type": "even_odd", "player_A_id": a, "player_B_id": b, "referee_endpoint": "http://127.0.0.1:1/mcp"}},
	})
}

// match invites the player, calls for its choice as player called, and reports
// the result; it returns what the player chose, empty if the answer was not read.
func (f *foreignLeague) match(round int, match, called, opponent string) string {
	about := func(fields map[string]any) map[string]any {
		fields["round_id"], fields["match_id"], fields["game_type"] = round, match, "even_odd"
		return fields
	}
	f.send("game_invitation", "GAME_INVITATION", "referee:REF01", about(map[string]any{"opponent_id": opponent, "role_in_match": "PLAYER_A"}))
	answer := f.send("choose_parity", "CHOOSE_PARITY_CALL", "referee:REF01", about(map[string]any{"player_id": called, "deadline": "2026-01-01T12:00:00Z"}))
	choice, _ := answer["parity_choice"].(string)
	result := map[string]any{"status": "WIN", "winner_player_id": called, "drawn_number": 2, "choices": map[string]any{called: choice, opponent: "odd"}}
	if choice == "" {
		result = map[string]any{"status": "TECHNICAL_LOSS", "winner_player_id": opponent, "technical_loss_player_ids": []string{called}, "choices": map[string]any{opponent: "odd"}}
	}
	f.send("game_over", "GAME_OVER", "referee:REF01", about(map[string]any{"game_result": result}))
	return choice
}

func (f *foreignLeague) complete() {
	f.send("notify_league_completed", "LEAGUE_COMPLETED", "league_manager", map[string]any{"final_standings": []any{}})
}

// TestPlayerProposesAFreeID: an id that the manager shows as taken is not
// proposed, and the player says whether it can be called where the course expects
// the one that it is given.
func TestPlayerProposesAFreeID(t *testing.T) {
	t.Parallel()
	var taken []string
	for n := 1; n <= 90; n++ {
		taken = append(taken, fmt.Sprintf("P%02d", n))
	}
	f := newForeignLeague(t, func(proposed string) string { return proposed }, taken...)
	p := start(t, t.TempDir(), "player", "--strategy", "always-even", "--manager", f.url)
	if e := p.event("registered"); e["player"] != "P91" {
		t.Errorf("registered as %v", e["player"])
	}
	for _, e := range p.seen {
		switch e["event"] {
		case "listening_too", "port_taken":
			if e["url"] != "http://127.0.0.1:8191/mcp" {
				t.Errorf("%v", e)
			}
			return
		}
	}
	t.Errorf("nothing is said of port 8191: %v", p.seen)
}

// TestPlayerSaysWhyItLost: matches to which nobody invites the player, and answers
// that nobody reads, are reported when they are noticed and again at the end, and
// a league without a played match is no success.
func TestPlayerSaysWhyItLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(f *foreignLeague)
		want []string
		code int
	}{
		"nobody invites it": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P02") },
			want: []string{"R1M1    nobody has invited P07 to this match; the league is over; ", "0 matches", "what went wrong:\n  R1M1    nobody has invited P07"},
			code: exitAllLost,
		},
		"nobody reads its answers": {
			play: func(f *foreignLeague) {
				f.read = func(map[string]any) map[string]any { return nil }
				f.announce(1, "R1M1", "P07", "P02")
				f.match(1, "R1M1", "P07", "P02")
			},
			want: []string{"counts a technical loss, although it was given a choice", "--dialect", "what went wrong:"},
			code: exitAllLost,
		},
		"it is called by another id": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P02"); f.match(1, "R1M1", "P04", "P02") },
			want: []string{`CHOOSE_PARITY_CALL came for "P04", but this player is P07; answered all the same; ask the manager for that id with --id P04`},
		},
		"it meets itself": {
			play: func(f *foreignLeague) { f.announce(1, "R1M1", "P07", "P07"); f.match(1, "R1M1", "P07", "P02") },
			want: []string{"two players are P07: the match is announced between P07 and P07; end this player, and start it again with another --id"},
		},
		"its standings show matches": {
			play: func(f *foreignLeague) {
				f.send("update_standings", "LEAGUE_STANDINGS_UPDATE", "league_manager", map[string]any{
					"round_id": 1, "standings": []any{map[string]any{"rank": 1, "player_id": "P07", "display_name": "x", "played": 2, "wins": 0, "draws": 0, "losses": 2, "points": 0}},
				})
			},
			want: []string{"the standings count 2 matches of P07, but nobody has invited it to any"},
			code: exitAllLost,
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			f := newForeignLeague(t, func(string) string { return "P07" })
			p := launch(t, t.TempDir(), "player", "--strategy", "always-even", "--manager", f.url, "--once")
			until(t, "its registration", func() bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.endpoint != ""
			})
			c.play(f)
			f.complete()
			if code := p.code(); code != c.code {
				t.Errorf("it ended with %d, want %d", code, c.code)
			}
			out := p.out.String() + p.err.String()
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
