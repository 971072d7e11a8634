package referee_test

import (
	"context"
	"fmt"
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
	invitation, call := protocol.TypeGameInvitation, protocol.TypeChooseParityCall
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
		{"choice signed by the opponent", call, choiceWith("sender", "player:P01"), 4, "E002", 7 * time.Second},
		{"choice with the opponent's key", call, choiceWith("auth_token", keysOf("P01", "R1M1").Expect), 4, "E002", 7 * time.Second},
		{"choice with the key of another match", call, choiceWith("auth_token", keysOf("P02", "R2M1").Expect), 4, "E002", 7 * time.Second},
		{"join without accept", invitation, joinWith("accept", nil), 4, "E002", 7 * time.Second},
		{"join without a token", invitation, joinWith("auth_token", nil), 4, "E002", 7 * time.Second},
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

// A player that was absent three times in a row is asked once in each match, and for a
// fifth of the time, until it answers; then it has all its attempts again. One that
// joins and does not choose is absent, too.
func TestAnAbsentPlayerIsAskedOnce(t *testing.T) {
	t.Parallel()
	const pauses = 7 * time.Second // between four attempts
	for _, tt := range []struct {
		at           protocol.Type
		first, later time.Duration
	}{
		{protocol.TypeGameInvitation, 4*5*time.Second + pauses, time.Second},
		{protocol.TypeChooseParityCall, 4*30*time.Second + pauses, 6 * time.Second},
	} {
		t.Run(string(tt.at), func(t *testing.T) {
			t.Parallel()
			there := false
			bubble(t, nil, world{"P02": func(ctx context.Context, h *heard) jsonrpc.Response {
				if there || h.MessageType != tt.at && h.MessageType != protocol.TypeGameError {
					return plays("odd")(ctx, h)
				}
				return hangs(ctx, h)
			}}, func(t *testing.T, r *rig) {
				for i, want := range []int{4, 4, 4, 1, 1, 1, 4} {
					number, begun := i+1, time.Now()
					there = number == 6
					before := len(r.all("P02", tt.at))
					id := fmt.Sprintf("R%dM1", number)
					r.must(with(round(match(id, "P01", "P02")), "round_id", number))
					report := r.reports(number)[i]
					if got := len(r.all("P02", tt.at)) - before; got != want {
						t.Errorf("in round %d it was asked %d times, want %d", number, got, want)
					}
					if lost := report.body["result"].(obj)["details"].(obj)["status"] == "TECHNICAL_LOSS"; lost == there {
						t.Errorf("the result of round %d is %v", number, report.body["result"])
					}
					took := map[int]time.Duration{4: tt.first, 1: tt.later}[want]
					if there {
						took = 0
					}
					if got := report.at.Sub(begun); got != took {
						t.Errorf("round %d took %v, want %v", number, got, took)
					}
					synctest.Wait()
				}
				said := slices.DeleteFunc(slices.Clone(r.events), func(e referee.Event) bool { return e.Kind != referee.Absent })
				if len(said) != 1 || said[0].Player != "P02" || said[0].Matches != 3 || said[0].Match != "R3M1" {
					t.Errorf("that it is absent is said as %+v", said)
				}
			})
		})
	}
}

// A referee believes its manager that a player was absent in matches of others.
func TestThePlayerThatTheManagerMissesIsAskedOnce(t *testing.T) {
	t.Parallel()
	bubble(t, nil, world{"P02": hangs}, func(t *testing.T, r *rig) {
		r.must(round(with(match("R1M1", "P01", "P02"), "absent", []string{"P02"})))
		if took := r.reports(1)[0].at.Sub(r.start); took != time.Second || len(r.all("P02", protocol.TypeGameInvitation)) != 1 {
			t.Errorf("it was invited %d times, in %v", len(r.all("P02", protocol.TypeGameInvitation)), took)
		}
	})
}

// Nobody waits for a player that the organiser has taken out, not even one that was
// asked before.
func TestAPlayerThatForfeitsIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, at := range []protocol.Type{"", protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bubble(t, func(c *referee.Config) { c.Data = dir }, world{"P02": except(plays("odd"), at, hangs)}, func(t *testing.T, r *rig) {
				if at != "" {
					r.must(round(match("R1M1", "P01", "P02")))
					r.until("the question", func() bool { return len(r.allHeld("P02", at)) > 0 })
					time.Sleep(2 * time.Second) // on the clock of the bubble
				}
				withdrawn := time.Now()
				r.must(round(with(match("R1M1", "P01", "P02"), "forfeits", []string{"P02"})))
				report := r.reports(1)[0]
				details := report.body["result"].(obj)["details"].(obj)
				forfeit := report.body["result"].(obj)["winner"] == "P01" && details["reason"] == "P02: forfeit"
				if report.at != withdrawn || forfeit == (at == protocol.TypeGameOver) { // what was played before stands
					t.Errorf("after %v: %v", report.at.Sub(withdrawn), details)
				}
				if n := len(r.all("P02", protocol.TypeGameInvitation)); at == "" && n != 0 {
					t.Errorf("it was invited %d times", n)
				}
				synctest.Wait()
				for _, who := range []string{"P01", "P02"} {
					if n := len(r.all(who, protocol.TypeGameOver)); n != 1 {
						t.Errorf("%s gets GAME_OVER %d times", who, n)
					}
				}
			})
		})
	}
}

// A player that only acknowledges its invitation, in whatever form, is called for
// its choice by a tolerant referee once the time for posting a join has passed, and
// without that time from its first choice on. A strict one says that a tolerant one
// would have done so.
func TestAcknowledgedInvitation(t *testing.T) {
	t.Parallel()
	for name, receipt := range map[string]jsonrpc.Response{
		"status": say(obj{"status": "ok"}), "nothing in it": say(obj{}), "echo": say(obj{"message_type": "GAME_INVITATION", "status": "acknowledged"}),
		"another type": say(obj{"message_type": "ACK"}), "text": {Result: []byte(`"ok"`)}, "list": {Result: []byte(`[]`)}, "null": {Result: []byte("null")},
		"bare": {Status: 200, Body: []byte(`{"received":true}`)}, "no body": {Status: 204, Body: []byte{}},
	} {
		for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
			t.Run(name+", "+mode.String(), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(c *referee.Config) { c.Mode = mode }, world{"P02": except(plays("even"), protocol.TypeGameInvitation, answering(receipt))}, func(t *testing.T, r *rig) {
					r.must(round(match("R1M1", "P01", "P02")))
					played := r.reports(1)[0].body["result"].(obj)["winner"] == nil
					if mode == protocol.Strict {
						synctest.Wait()
						lost := slices.IndexFunc(r.events, func(e referee.Event) bool { return e.Kind == referee.Forfeited })
						if played || lost < 0 || !r.events[lost].Tolerant {
							t.Errorf("played: %v, %+v", played, r.events)
						}
						return
					}
					if took := time.Since(r.start); !played || took <= 0 || took > 5*time.Second {
						t.Errorf("played: %v, after %v", played, took)
					}
					again := time.Now()
					r.must(round(match("R2M1", "P02", "P01")))
					if r.reports(2); time.Since(again) > 0 {
						t.Errorf("the second match waits for %v", time.Since(again))
					}
					if n := len(r.all("P02", protocol.TypeGameInvitation)); n != 2 {
						t.Errorf("%d invitations", n)
					}
				})
			})
		}
	}
}

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
