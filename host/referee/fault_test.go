package referee_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// answering is a script that gives one kind of answer to everything.
func answering(r jsonrpc.Response) script {
	return func(context.Context, *heard) jsonrpc.Response { return r }
}

func joinWith(pairs ...any) script {
	return func(_ context.Context, h *heard) jsonrpc.Response {
		return say(with(header(h, protocol.TypeGameJoinAck), append([]any{"accept", true, "arrival_timestamp", "2026-01-01T00:00:00Z"}, pairs...)...))
	}
}

func choiceWith(pairs ...any) script {
	return func(_ context.Context, h *heard) jsonrpc.Response {
		return say(with(header(h, protocol.TypeChooseParityResponse), append([]any{"parity_choice", "even"}, pairs...)...))
	}
}

// A player B at fault loses 0 to 3, by the code it is told, after as many
// attempts as the fault is given.
func TestAFaultIsATechnicalLoss(t *testing.T) {
	t.Parallel()
	const invitation, call = protocol.TypeGameInvitation, protocol.TypeChooseParityCall
	for _, tt := range []struct {
		name     string
		at       protocol.Type
		odd      script
		attempts int
		code     string // of GAME_ERROR; none if the player is told nothing
		takes    time.Duration
	}{
		{"join hangs", invitation, hangs, 4, "E001", 4*5*time.Second + 7*time.Second},
		{"choice hangs", call, hangs, 4, "E001", 4*30*time.Second + 7*time.Second},
		{"declines", invitation, joinWith("accept", false), 1, "", 0},
		{"refuses to join", invitation, answering(refuse(4005, obj{"error_code": "E007"})), 1, "", 0},
		{"refuses to choose", call, answering(refuse(7, obj{"error_code": "E007", "retryable": false})), 1, "", 0},
		{"chooses EVEN", call, choiceWith("parity_choice", "EVEN"), 1, "E004", 0},
		{"chooses a number", call, choiceWith("parity_choice", "2"), 1, "E004", 0},
		{"no choice", call, choiceWith("parity_choice", nil), 4, "E002", 7 * time.Second},
		{"join of another match", invitation, joinWith("match_id", "R9M9"), 4, "E002", 7 * time.Second},
		{"choice of another match", call, choiceWith("match_id", "R9M9"), 4, "E002", 7 * time.Second},
		{"choice of the opponent", call, choiceWith("player_id", "P01"), 4, "E002", 7 * time.Second},
		{"choice signed by the opponent", call, choiceWith("sender", "player:P01"), 4, "E002", 7 * time.Second},
		{"choice with the opponent's key", call, choiceWith("auth_token", keysOf("P01", "R1M1").Expect), 4, "E002", 7 * time.Second},
		{"choice with the key of another match", call, choiceWith("auth_token", keysOf("P02", "R2M1").Expect), 4, "E002", 7 * time.Second},
		{"choice with the referee's key", call, choiceWith("auth_token", keysOf("P02", "R1M1").Send), 4, "E002", 7 * time.Second},
		{"join without accept", invitation, joinWith("accept", nil), 4, "E002", 7 * time.Second},
		{"join without a token", invitation, joinWith("auth_token", nil), 4, "E002", 7 * time.Second},
		{"choice without a token", call, choiceWith("auth_token", nil), 4, "E002", 7 * time.Second},
		{"choice of another conversation", call, choiceWith("conversation_id", "other"), 4, "E002", 7 * time.Second},
		{"a word as result", call, answering(jsonrpc.Response{Result: []byte(`"hello"`)}), 4, "E002", 7 * time.Second},
		{"a list as result", call, answering(jsonrpc.Response{Result: []byte(`[1]`)}), 4, "E002", 7 * time.Second},
		{"no JSON", call, answering(jsonrpc.Response{Body: []byte("garbage")}), 4, "E002", 7 * time.Second},
		{"another answer", call, answering(say(obj{"message_type": "GAME_OVER_ACK"})), 4, "E002", 7 * time.Second},
		{"E002 by the player", call, answering(refuse(2, obj{"error_code": "E002"})), 4, "E002", 7 * time.Second},
		{"-1", call, answering(refuse(-1, obj{})), 4, "E001", 7 * time.Second},
		{"503", call, answering(jsonrpc.Response{Status: 503, Result: []byte("{}")}), 4, "E048", 7 * time.Second},
		// It may not know the name by which it is called.
		{"500", call, answering(jsonrpc.Response{Status: 500, Body: []byte("oops")}), len(dialect.Contracts.MethodsOf(call)), "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			played(t, plays("even"), except(plays("even"), tt.at, tt.odd), func(t *testing.T, r *rig, result obj) {
				asked, told, tells := r.all("P02", tt.at), r.all("P02", protocol.TypeGameError), tt.attempts
				if tt.code == "" {
					tells = 0
				}
				if took := r.reports(1)[0].at.Sub(r.start); len(asked) != tt.attempts || took != tt.takes || len(told) != tells || result["winner"] != "P01" {
					t.Errorf("asked %d times in %v, with %d errors: %v", len(asked), took, len(told), result)
				}
				for i, h := range told {
					info, _ := h.body["retry_info"].(obj)
					at, stated := info["next_retry_at"].(string)
					next, err := protocol.ParseTimestamp(at)
					late := next.Sub(h.at.Add(time.Second << i)) // it is rounded up
					if h.body["error_code"] != tt.code || stated != (i < len(told)-1) || stated && (err != nil || late < 0 || late >= time.Second) {
						t.Errorf("error %d is %v", i, h.body)
					}
				}
			})
		})
	}
}

// A player that answers the call and then dies does not hold up the report for
// longer than one attempt; one that was silent in the match, not at all.
func TestADeadPlayerDoesNotStallTheReport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		s    script
		want time.Duration
	}{
		{"dies after its choice", except(plays("even"), protocol.TypeGameOver, hangs), 10 * time.Second},
		{"never answers", hangs, 27 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			played(t, plays("even"), tt.s, func(t *testing.T, r *rig, _ obj) {
				if took := r.reports(1)[0].at.Sub(r.start); took != tt.want {
					t.Errorf("the report took %v, want %v", took, tt.want)
				}
				r.until("all attempts at GAME_OVER", func() bool { return len(r.allHeld("P02", protocol.TypeGameOver)) == 4 })
				if n := len(r.all("P01", protocol.TypeGameOver)); n != 1 {
					t.Errorf("P01 gets GAME_OVER %d times", n)
				}
			})
		})
	}
}

func TestAPlayerThatListensNowhere(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P02": nil}, func(t *testing.T, r *rig) {
		r.must(round(match("R1M1", "P01", "P02")))
		details := r.reports(1)[0].body["result"].(obj)["details"].(obj)
		if took := time.Since(r.start); took != 7*time.Second || details["reason"] != "P02: connect" {
			t.Errorf("after %v: %v", took, details)
		}
	})
}

// What comes back on the referee's own request is the player's, however it signs
// and spells it, where the manager gives optional keys: a tolerant referee takes it,
// and a strict one says that a tolerant one would have. Where keys are not optional,
// the player proves itself in any mode. An answer about another match never counts.
func TestWhatPlayersSignWith(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                    string
		pairs                   []any
		strict, tolerant, keyed bool
	}{
		{"its own token", []any{"auth_token", tokenOf("P02")}, true, true, true},
		{"no token", []any{"auth_token", nil}, false, true, false},
		{"an empty token", []any{"auth_token", ""}, false, true, false},
		{"a placeholder", []any{"auth_token", "tok_p1"}, false, true, false},
		{"the key it was sent", []any{"auth_token", keysOf("P02", "R1M1").Send}, false, true, false},
		{"the opponent's token", []any{"auth_token", tokenOf("P01")}, false, true, false},
		{"another spelling of the role", []any{"sender", "players:P02"}, false, true, true},
		{"another name", []any{"sender", "player:Team 7", "player_id", "Team 7"}, false, true, false},
		{"another id", []any{"player_id", "P99"}, false, true, false},
		{"an upper-case choice", []any{"parity_choice", "EVEN"}, false, true, true},
		{"a time without a zone", []any{"timestamp", "2026-11-22 12:00:00.5"}, false, true, true},
		{"seconds since 1970", []any{"timestamp", 1763800000.5}, false, true, true},
		{"another match", []any{"match_id", "R9M9"}, false, false, false},
		{"no match", []any{"match_id", nil}, true, true, true},
	} {
		for name, league := range map[string]struct {
			mode           protocol.Mode
			optional, good bool
		}{
			"strict": {protocol.Strict, false, tt.strict}, "tolerant": {protocol.Tolerant, true, tt.tolerant},
			"tolerant with keys": {protocol.Tolerant, false, tt.keyed},
		} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				t.Parallel()
				odd := except(plays("even"), protocol.TypeChooseParityCall, choiceWith(tt.pairs...))
				bubble(t, func(c *referee.Config) { c.Mode = league.mode }, world{"P02": odd}, func(t *testing.T, r *rig) {
					keys := keysOf("P02", "R1M1")
					keys.Optional = league.optional
					r.must(round(with(match("R1M1", "P01", "P02"), "player_B_keys", keys)))
					if got := r.reports(1)[0].body["result"].(obj)["winner"] == nil; got != league.good {
						t.Errorf("accepted: %v", got)
					}
					synctest.Wait()
					lost := slices.IndexFunc(r.events, func(e referee.Event) bool { return e.Kind == referee.Forfeited })
					if lost >= 0 && r.events[lost].Tolerant != (tt.tolerant && league.mode == protocol.Strict) {
						t.Errorf("the referee says of it %+v", r.events[lost])
					}
				})
			})
		}
	}
}
