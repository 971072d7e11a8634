package player_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestAuthentication sends what neither the suite of conformance nor the matrix of host does:
// keys and tokens that are good for something else.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r := running(t, func(r *rig) { r.cfg.Mode = mode })
		must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", "REF01")))
		must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
		for what, token := range map[string]string{
			"the player's own":         r.manager.token,
			"another match's":          r.manager.keys("R9M9", "REF01").Send,
			"another referee's":        r.manager.keys("R1M1", "REF02").Send,
			"the answer's key":         r.manager.keys("R1M1", "REF01").Expect,
			"the opponent's key":       credential.NewVerifier("tok-P02-xyz").MatchKeys("cup", "R1M1", "REF01").Send,
			"another league's manager": credential.NewVerifier(r.manager.token).ManagerToken("other"),
		} {
			for rpc, m := range map[int]protocol.Message{3001: r.leagueCompleted(), 4001: r.call("R1M1")} {
				m.Head().AuthToken = token
				data := string(r.refused(m, rpc, protocol.CodeTokenInvalid).Data)
				if strings.Contains(data, token) || !strings.Contains(data, `"player_id":"P01"`) || !strings.Contains(data, `"action":"`+string(m.Head().MessageType)+`"`) {
					t.Errorf("%v, %s: the data are %s", mode, what, data)
				}
			}
		}
		r.wants("start") // and nothing else has happened
		r.choice("R1M1")
	}
}

func drain(events chan player.Event) []player.Event {
	var out []player.Event
	for {
		select {
		case e := <-events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// TestMatchIsGivenToAnotherReferee: a referee that has the key of a match may
// take it over in the middle. It is answered with its own key and told the same
// choice; so is the first one, should it come back.
func TestMatchIsGivenToAnotherReferee(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		n := 0
		r := running(t, func(r *rig) {
			r.cfg.Mode, r.cfg.Data = mode, t.TempDir()
			r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) {
				n++
				return strategies.Choice(n % 2), nil
			}
		})
		for round, referee := range []string{"REF01", "REF02", "REF01", "REF03"} {
			must[*protocol.Ack](r, r.announcement(announced("R1M1", "P01", "P02", referee)))
			keys := r.manager.keys("R1M1", referee)
			as := func(m protocol.Message) protocol.Message {
				m.Head().Sender, m.Head().AuthToken = "referee:"+referee, keys.Send
				return m
			}
			if round != 2 { // back in the middle of it
				if got := must[*protocol.GameJoinAck](r, as(r.invitation("R1M1"))); got.AuthToken != keys.Expect {
					t.Errorf("%v: %s is answered with another key", mode, referee)
				}
			}
			if round == 3 {
				r.restart()
				r.run()
			}
			got := must[*protocol.ChooseParityResponse](r, as(r.call("R1M1")))
			if got.AuthToken != keys.Expect || got.Chosen() != "even" {
				t.Errorf("%v: %s is told %q, with its key: %v", mode, referee, got.Chosen(), got.AuthToken == keys.Expect)
			}
		}
		forged := r.call("R1M1")
		forged.Sender = "referee:REF02" // with the key of REF01
		r.refused(forged, 4001, protocol.CodeTokenInvalid)
	}
}

// TestForeignManager knows no match keys and signs nothing: the first token of
// a match holds for it, and the player's own goes to nobody but the referee that
// the manager has named.
func TestForeignManager(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	a := r.announcement(announced("R1M1", "P01", "P02", "REF01"))
	a.AuthToken = ""
	must[*protocol.Ack](r, a)
	as := func(h *protocol.Header, referee, token string) { h.Sender, h.AuthToken = "referee:"+referee, token }

	// A stranger is talked to, but learns no token.
	stranger := r.invitation("R1M1")
	as(&stranger.Header, "REF66", "tok-stranger")
	if join := must[*protocol.GameJoinAck](r, stranger); join.AuthToken != "" {
		t.Errorf("a stranger was given %q", join.AuthToken)
	}
	// The match is now under the stranger's token; another token is refused.
	genuine := r.invitation("R1M1")
	as(&genuine.Header, "REF01", "tok-REF01-abc")
	r.refused(genuine, 4001, protocol.CodeTokenInvalid)

	a = r.announcement(announced("R2M1", "P01", "P02", "REF01"))
	a.AuthToken = ""
	must[*protocol.Ack](r, a)
	invitation := r.invitation("R2M1")
	as(&invitation.Header, "REF01", "tok-REF01-abc")
	if join := must[*protocol.GameJoinAck](r, invitation); join.AuthToken != r.manager.token {
		t.Errorf("the announced referee was given %q, want the player's token", join.AuthToken)
	}
	call := r.call("R2M1")
	as(&call.Header, "REF01", "tok-REF66-evil")
	r.refused(call, 4001, protocol.CodeTokenInvalid)
	as(&call.Header, "REF01", "")
	if _, err := r.send(call); err == nil {
		t.Error("a match with a token goes on without")
	}
	as(&call.Header, "REF01", "tok-REF01-abc")
	must[*protocol.ChooseParityResponse](r, call)
	over := r.over("R2M1")
	as(&over.Header, "REF01", "tok-REF66-evil")
	r.refused(over, 4001, protocol.CodeTokenInvalid)
	r.wants("start", "choose R2M1")
}

// TestSquatter opens a match before its referee does, under a manager that has
// not shown its token yet. The referee with the key takes it over.
func TestSquatter(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	squatter := r.invitation("R1M1")
	squatter.AuthToken = "tok-evil"
	must[*protocol.GameJoinAck](r, squatter)
	join := must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	if want := r.manager.keys("R1M1", "REF01").Expect; join.AuthToken != want {
		t.Errorf("signs with %q, want the key", join.AuthToken)
	}
	r.refused(squatter, 4001, protocol.CodeTokenInvalid)
}

// TestRefereesThatSignAndNameInTheirOwnWay: whatever a referee signs with and
// calls its methods, it gets a join and a choice, and its result is taken.
func TestRefereesThatSignAndNameInTheirOwnWay(t *testing.T) {
	t.Parallel()
	typed := [3]string{`,"message_type":"GAME_INVITATION"`, `,"message_type":"CHOOSE_PARITY_CALL"`, `,"message_type":"GAME_OVER"`}
	odd := [3]string{`,"message_type":"MATCH_INVITE"`, `,"message_type":"PICK_PARITY_MOVE"`, `,"message_type":"MATCH_RESULT"`}
	for name, tt := range map[string]struct {
		methods [3]string
		types   [3]string
		sender  string
	}{
		"an id alone":        {[3]string{"game_invitation", "make_choice", "game_result"}, typed, `,"sender":"REF01"`},
		"a title":            {[3]string{"handle_game_invitation", "choose_parity", "notify_match_result"}, typed, `,"sender":"Referee 1"`},
		"the manager":        {[3]string{"handle_game_invitation", "choose_parity", "notify_match_result"}, typed, `,"sender":"league_manager:LM01"`},
		"nobody":             {[3]string{"unknown", "unknown", "unknown"}, typed, ""},
		"names without type": {[3]string{"inviteToGame", "player.choose_move", "match_over"}, [3]string{}, `,"sender":"REF01"`},
		"types of its own":   {[3]string{"message", "message", "message"}, odd, `,"sender":"REF01"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := running(t, func(r *rig) { r.cfg.Mode, r.cfg.League = protocol.Tolerant, nil })
			say := func(i int, more string) string {
				return r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"match_id":"M1","auth_token":"of the referee"%s%s%s}}`, i+1, tt.methods[i], tt.types[i], tt.sender, more))
			}
			if got := say(0, `,"opponent_id":"P02"`); !strings.Contains(got, `"accept":true`) {
				t.Errorf("the invitation is answered by %s", got)
			}
			if got := say(1, `,"deadline":"2026-01-01T00:00:00Z"`); !strings.Contains(got, `"parity_choice":"even"`) {
				t.Errorf("the call is answered by %s", got)
			}
			if got := say(2, `,"winner":"P01","drawn_number":4`); strings.Contains(got, `"error"`) {
				t.Errorf("the result is answered by %s", got)
			}
			if e := r.until(player.Ended); e.Match != "M1" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestFixedAnswers: a referee that invites and calls again and again is answered in
// another form, unless the form is fixed.
func TestFixedAnswers(t *testing.T) {
	t.Parallel()
	for _, fixed := range []bool{false, true} {
		t.Run(fmt.Sprint(fixed), func(t *testing.T) {
			t.Parallel()
			r := running(t, func(r *rig) {
				r.cfg.Mode, r.cfg.League, r.cfg.Patience, r.cfg.FixedAnswers = protocol.Tolerant, nil, -1, fixed
			})
			other := false // the answer is a request as well
			for i := range 8 {
				kind := "GAME_INVITATION"
				if i >= 4 {
					kind = "CHOOSE_PARITY_CALL"
				}
				got := r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"message","params":{"match_id":"M1","message_type":%q,"sender":"REF01"}}`, i, kind))
				other = other || strings.Contains(got, `"method"`)
			}
			if other == fixed {
				t.Errorf("fixed is %v, and another form was tried: %v", fixed, other)
			}
		})
	}
}

// TestNamesThatSayNothingAreNotGuessed: what is known for something else, or says
// that something has ended that is no match, is not taken for a match.
func TestNamesThatSayNothingAreNotGuessed(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode, r.cfg.League = protocol.Tolerant, nil })
	for _, kind := range []string{"HEARTBEAT", "REGISTRATION_CLOSED", "LEAGUE_REGISTRATION_CLOSED", "CHOICE_CONFIRMED", "GAME_STARTED", "MATCH_STARTED"} {
		got := r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"notify","params":{"message_type":%q,"sender":"REF01","match_id":"M1"}}`, kind))
		var answer struct{ Result map[string]any }
		if json.Unmarshal([]byte(got), &answer) != nil || len(answer.Result) != 1 || answer.Result["status"] == nil {
			t.Errorf("%s is answered by %s", kind, got)
		}
	}
	r.wants()
	// What the server cannot read is refused on the screen, too.
	r.p.Dispatcher().ServerRefused(&jsonrpc.Request{}, &jsonrpc.Refusal{Reason: jsonrpc.ReasonBatch, Detail: "batches are not supported"})
	if e := r.until(player.Trouble); !strings.Contains(e.Error, "batches are not supported") {
		t.Errorf("%+v", e)
	}
}

// TestRefusalsAreReported: a request that the player refuses may cost it a match,
// and nobody else says so.
func TestRefusalsAreReported(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.cfg.Mode, r.cfg.League, r.cfg.Once, r.cfg.IdleExit = protocol.Tolerant, nil, true, 4*time.Millisecond
	})
	for range 2 {
		r.post(`{"jsonrpc":"2.0","id":1,"method":"choose_parity","params":{"message_type":"CHOOSE_PARITY_CALL","sender":"player:P02","match_id":"M1"}}`)
	}
	e := r.until(player.Trouble)
	if e.Cause != player.CauseRefused || e.Match != "M1" || !strings.Contains(e.Error, "refused: CHOOSE_PARITY_CALL from player:P02") || e.Advice == "" {
		t.Errorf("%+v", e)
	}
	r.until(player.Deserted) // the silence after it is the end of a league
	r.finish()
}
