package referee_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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
				asked := r.all("P02", tt.at)
				if len(asked) != tt.attempts {
					t.Errorf("asked %d times, want %d", len(asked), tt.attempts)
				}
				if took := r.reports(1)[0].at.Sub(r.start); took != tt.takes {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
				if diff := cmp.Diff(obj{"P01": 3.0, "P02": 0.0}, result["score"]); diff != "" || result["winner"] != "P01" {
					t.Errorf("reported %v", result)
				}
				details := result["details"].(obj)
				choices := obj{}
				if tt.at == call {
					choices["P01"] = "even"
				}
				if diff := cmp.Diff(choices, details["choices"]); diff != "" || details["drawn_number"] != nil || details["number_parity"] != nil ||
					details["status"] != "TECHNICAL_LOSS" || !cmp.Equal(details["technical_loss_player_ids"], []any{"P02"}) {
					t.Errorf("reported details %v", details)
				}
				for _, who := range []string{"P01", "P02"} {
					if n := len(r.all(who, protocol.TypeGameOver)); n != 1 {
						t.Errorf("%s gets GAME_OVER %d times", who, n)
					}
				}
				told := r.all("P02", protocol.TypeGameError)
				want := tt.attempts
				if tt.code == "" {
					want = 0
				}
				if len(told) != want || len(r.all("P01", protocol.TypeGameError)) != 0 {
					t.Fatalf("P02 is informed of %d errors, want %d; P01 of %d", len(told), want, len(r.all("P01", protocol.TypeGameError)))
				}
				checkErrors(t, told, tt.code)
			})
		})
	}
}

// checkErrors checks the GAME_ERRORs of a series of attempts.
func checkErrors(t *testing.T, told []*heard, code string) {
	t.Helper()
	for i, h := range told {
		final, retry := i == len(told)-1, i+1
		if final {
			retry = i
		}
		info, _ := h.body["retry_info"].(obj)
		if h.body["error_code"] != code || h.body["affected_player"] != "P02" || h.AuthToken != keysOf("P02", "R1M1").Send ||
			h.body["retryable"] != !final || h.body["retry_count"] != float64(retry) || info["retry_count"] != float64(retry) || h.body["max_retries"] != 3.0 {
			t.Errorf("error %d is %v", i, h.body)
		}
		at, stated := info["next_retry_at"].(string)
		if stated == final {
			t.Errorf("error %d of %d states the next retry: %v", i, len(told), stated)
		}
		if stated {
			want := h.at.Add(time.Second << i)
			if next, err := protocol.ParseTimestamp(at); err != nil || next.Sub(want) < 0 || next.Sub(want) >= time.Second {
				t.Errorf("error %d says next retry at %v, want %v rounded up", i, at, want)
			}
		}
	}
}

func TestARetryIsAnotherAttemptInTheSameConversation(t *testing.T) {
	t.Parallel()
	tries := 0
	second := func(ctx context.Context, h *heard) jsonrpc.Response {
		if tries++; tries < 3 {
			return hangs(ctx, h)
		}
		return chooses(h, "odd")
	}
	played(t, plays("even"), except(plays("odd"), protocol.TypeChooseParityCall, second), func(t *testing.T, r *rig, result obj) {
		calls := r.all("P02", protocol.TypeChooseParityCall)
		if len(calls) != 3 || len(r.all("P01", protocol.TypeChooseParityCall)) != 1 {
			t.Fatalf("P02 is asked %d times", len(calls))
		}
		for i := 1; i < len(calls); i++ {
			if calls[i].id == calls[i-1].id || calls[i].body["deadline"] == calls[i-1].body["deadline"] || calls[i].ConversationID != calls[0].ConversationID {
				t.Errorf("retry %d has id %s, deadline %v, conversation %s", i, calls[i].id, calls[i].body["deadline"], calls[i].ConversationID)
			}
			if wait := calls[i].at.Sub(calls[i-1].at); wait != 30*time.Second+time.Second<<(i-1) {
				t.Errorf("retry %d comes after %v", i, wait)
			}
		}
		if errors := r.all("P02", protocol.TypeGameError); len(errors) != 2 || errors[1].body["retry_count"] != 2.0 || errors[1].body["retryable"] != true {
			t.Errorf("P02 is informed of %d errors", len(errors))
		}
		if result["winner"] != "P01" || result["details"].(obj)["drawn_number"] != 4.0 {
			t.Errorf("reported %v", result)
		}
	})
}

func TestBothAtFault(t *testing.T) {
	t.Parallel()
	for _, at := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			no := answering(refuse(7, obj{"error_code": "E007"}))
			played(t, except(plays("even"), at, no), except(plays("even"), at, no), func(t *testing.T, r *rig, result obj) {
				details := result["details"].(obj)
				if diff := cmp.Diff(obj{"P01": 0.0, "P02": 0.0}, result["score"]); diff != "" || result["winner"] != nil ||
					!cmp.Equal(details["technical_loss_player_ids"], []any{"P01", "P02"}) || details["drawn_number"] != nil || len(details["choices"].(obj)) != 0 {
					t.Errorf("reported %v", result)
				}
				over := r.all("P02", protocol.TypeGameOver)[0].body["game_result"].(obj)
				if winner, given := over["winner_player_id"]; !given || winner != nil || over["status"] != "TECHNICAL_LOSS" {
					t.Errorf("GAME_OVER says %v", over)
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
