package referee_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Nobody but the manager is believed, and what is refused changes nothing.
func TestOnlyTheManagerIsBelieved(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P02": plays("even")}, func(t *testing.T, r *rig) {
		messages := []obj{
			round(match("R1M1", "P01", "P02")),
			fromManager(protocol.TypeLeagueStandingsUpdate, "standings", []obj{{"rank": 1, "player_id": "P01", "display_name": "a", "played": 1, "wins": 1, "draws": 0, "losses": 0, "points": 3}}),
			fromManager(protocol.TypeRoundCompleted, "matches_completed", 1, "matches_played", 1, "next_round_id", 2,
				"summary", obj{"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0}),
			completed(),
		}
		for _, m := range messages {
			right := m["auth_token"]
			for _, tt := range []struct {
				name  string
				field string
				value any
				code  string
				rpc   int
			}{
				{"no token", "auth_token", nil, "E011", 3001},
				{"a wrong token", "auth_token", "tok-LM-00", "E012", 3001},
				{"the referee's own token", "auth_token", refereeToken, "E012", 3001},
				{"a player's token", "auth_token", tokenOf("P01"), "E012", 3001},
				{"the manager's token for a player", "auth_token", credential.NewVerifier(tokenOf("P01")).ManagerToken(league), "E012", 3001},
				{"the manager's token of another league", "auth_token", credential.NewVerifier(refereeToken).ManagerToken("cup2"), "E012", 3001},
				{"another sender", "sender", "referee:REF02", "E012", 3001},
				{"another league", "league_id", "cup2", "", 0},
			} {
				forged := with(obj{}, "auth_token", right)
				for name, value := range m {
					forged[name] = value
				}
				_, refused := r.send(with(forged, tt.field, tt.value))
				if refused == nil {
					t.Fatalf("%s with %s is accepted", m["message_type"], tt.name)
				}
				if tt.code != "" && (refused.Code != tt.rpc || !strings.Contains(string(refused.Data), tt.code)) {
					t.Errorf("%s with %s: %v %s", m["message_type"], tt.name, refused, refused.Data)
				}
				if strings.Contains(string(refused.Data), tokenOf("P01")) || strings.Contains(string(refused.Data), refereeToken) {
					t.Errorf("a token is echoed: %s", refused.Data)
				}
			}
		}
		synctest.Wait()
		if log := r.log(); len(log) != 1 {
			t.Errorf("something was begun: %q", log)
		}
		r.must(round(match("R1M1", "P01", "P02"))) // the league goes on
		r.reports(1)
		wins := r.all("P01", protocol.TypeChooseParityCall)[0].body["context"].(obj)["your_standings"].(obj)["wins"]
		if wins != 0.0 {
			t.Errorf("forged standings are passed on: %v wins", wins)
		}
	})
}

func TestAnnouncementsThatDoNotFit(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P02": plays("even")}, func(t *testing.T, r *rig) {
		good := match("R1M1", "P01", "P02")
		for name, m := range map[string]obj{
			"another referee's":  round(with(match("R1M1", "P01", "P02"), "referee_id", "REF02")),
			"no matches":         round(),
			"against itself":     round(good, match("R1M2", "P03", "P03")),
			"twice":              round(good, good),
			"another game":       round(good, with(match("R1M2", "P03", "P04"), "game_type", "chess")),
			"an id with a slash": round(good, with(match("R1M2", "P03", "P04"), "match_id", "../R1M2")),
		} {
			_, refused := r.send(m)
			if accept := name == "another referee's" || name == "no matches"; (refused == nil) != accept {
				t.Errorf("%s: %v", name, refused)
			}
		}
		synctest.Wait()
		if log := r.log(); len(log) != 1 {
			t.Errorf("something was begun: %q", log)
		}
		r.must(round(good))
		if _, refused := r.send(round(match("R1M1", "P01", "P03"))); refused == nil {
			t.Error("a match changes its players")
		}
		for _, kind := range []protocol.Type{protocol.TypeLeagueQuery, protocol.TypeGameInvitation} {
			if _, refused := r.send(fromManager(kind)); refused == nil || refused.Code != -32601 {
				t.Errorf("%s: %v", kind, refused)
			}
		}
		r.reports(1)
	})
}

// post sends an answer of P02 as a request of its own.
func post(t protocol.Type, pairs ...any) obj {
	return with(obj{
		"protocol": "league.v2", "message_type": string(t), "sender": "player:P02", "timestamp": "2026-01-01T00:00:00Z", "conversation_id": "x",
		"match_id": "R1M1", "player_id": "P02", "auth_token": keysOf("P02", "R1M1").Expect,
	}, pairs...)
}

// A player that works asynchronously acknowledges what it is sent, in whatever
// way, and posts its answer.
func TestPostedAnswers(t *testing.T) {
	t.Parallel()
	for name, receipt := range map[string]jsonrpc.Response{
		"a status": say(obj{"status": "ACKNOWLEDGED"}), "an acknowledgement": say(obj{"message_type": "GAME_INVITATION_ACK", "status": "ok"}),
		"nothing": {Result: []byte("null")}, "no body": {Status: 202, Body: []byte{}}, "true": {Result: []byte("true")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			take := answering(receipt)
			bubble(t, nil, world{"P02": except(except(plays("odd"), protocol.TypeGameInvitation, take), protocol.TypeChooseParityCall, take)}, func(t *testing.T, r *rig) {
				join := func(pairs ...any) obj {
					return post(protocol.TypeGameJoinAck, append([]any{"accept", true, "arrival_timestamp", "2026-01-01T00:00:00Z"}, pairs...)...)
				}
				choice := func(pairs ...any) obj {
					return post(protocol.TypeChooseParityResponse, append([]any{"parity_choice", "odd"}, pairs...)...)
				}
				refused := func(what string, m obj, code int) {
					t.Helper()
					if _, err := r.send(m); err == nil || err.Code != code {
						t.Errorf("%s: %v, want %d", what, err, code)
					}
				}
				refused("before the match", join(), 4003)
				r.must(round(match("R1M1", "P01", "P02")))
				synctest.Wait()
				for _, m := range []func(...any) obj{join, choice} {
					refused("no token", m("auth_token", nil), 4001)
					refused("a wrong token", m("auth_token", "tok-P02-x"), 4001)
					refused("the opponent's key", m("auth_token", keysOf("P01", "R1M1").Expect), 4001)
					refused("the referee's key", m("auth_token", keysOf("P02", "R1M1").Send), 4001)
					refused("the key of another match", m("auth_token", keysOf("P02", "R1M2").Expect), 4001)
					refused("the opponent's sender", m("sender", "player:P01"), 4001)
					refused("the opponent's id", m("player_id", "P01"), 4001)
				}
				refused("a choice before the join", choice(), 4005)
				if ack := r.must(join()); ack["message_type"] != "GAME_JOIN_ACK_ACK" || ack["status"] != "ACKNOWLEDGED" || ack["player_id"] != "P02" || ack["match_id"] != "R1M1" {
					t.Errorf("the receipt is %v", ack)
				}
				synctest.Wait()
				refused("a second join", join(), 4005)
				time.Sleep(30*time.Second + 500*time.Millisecond) // the first attempt is over, the next not begun
				r.must(choice("auth_token", tokenOf("P02")))
				refused("a second choice", choice("parity_choice", "even"), 4005)
				result := r.reports(1)[0].body["result"].(obj)
				if result["winner"] != "P01" || result["details"].(obj)["choices"].(obj)["P02"] != "odd" {
					t.Errorf("reported %v", result)
				}
				if n := len(r.all("P02", protocol.TypeChooseParityCall)); n != 1 {
					t.Errorf("P02 is asked %d times", n)
				}
				refused("a late choice", choice(), 4005)
			})
		})
	}
}

func TestAPostedChoiceThatIsNone(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{
		"P02": except(plays("odd"), protocol.TypeChooseParityCall, func(context.Context, *heard) jsonrpc.Response {
			return say(obj{"status": "ACKNOWLEDGED"})
		}),
	}, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		synctest.Wait()
		_, refused := r.send(post(protocol.TypeChooseParityResponse, "parity_choice", "Odd"))
		if refused == nil || refused.Code != 4004 {
			t.Errorf("refused by %v", refused)
		}
		if reason := r.reports(1)[0].body["result"].(obj)["details"].(obj)["reason"]; reason != "P02: invalid-choice" {
			t.Errorf("the reason is %v", reason)
		}
	})
}
