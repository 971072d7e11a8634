package referee_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

func TestAnnouncementsThatDoNotFit(t *testing.T) {
	t.Parallel()
	bubble(t, nil, nil, func(t *testing.T, r *rig) {
		r.must(round())
		r.must(round(match("R1M1", "P01", "P02")))
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
				r.must(round(match("R1M1", "P01", "P02")))
				synctest.Wait()
				for _, m := range []func(...any) obj{join, choice} {
					refused("the opponent's key", m("auth_token", keysOf("P01", "R1M1").Expect), 4001)
					refused("the referee's key", m("auth_token", keysOf("P02", "R1M1").Send), 4001)
					refused("the key of another match", m("auth_token", keysOf("P02", "R1M2").Expect), 4001)
					refused("the opponent's sender", m("sender", "player:P01"), 4001)
				}
				refused("a choice before the join", choice(), 4005)
				if ack := r.must(join()); ack["message_type"] != "GAME_JOIN_ACK_ACK" || ack["player_id"] != "P02" || ack["match_id"] != "R1M1" {
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
