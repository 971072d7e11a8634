package player_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// post sends a document as a program that shares no code with the player does, and
// returns what came back.
func (r *rig) post(document string) string {
	r.t.Helper()
	resp, err := http.Post(r.url, "application/json", strings.NewReader(document))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		r.t.Fatal(err)
	}
	return b.String()
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
			r := running(t, func(r *rig) { r.sockets, r.cfg.Mode, r.cfg.League = true, protocol.Tolerant, nil })
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
				r.sockets, r.cfg.Mode, r.cfg.League, r.cfg.Patience, r.cfg.FixedAnswers = true, protocol.Tolerant, nil, -1, fixed
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
	r := running(t, func(r *rig) { r.sockets, r.cfg.Mode, r.cfg.League = true, protocol.Tolerant, nil })
	for _, kind := range []string{"HEARTBEAT", "REGISTRATION_CLOSED", "LEAGUE_REGISTRATION_CLOSED", "CHOICE_CONFIRMED", "GAME_STARTED", "MATCH_STARTED"} {
		got := r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"notify","params":{"message_type":%q,"sender":"REF01","match_id":"M1"}}`, kind))
		var answer struct{ Result map[string]any }
		if json.Unmarshal([]byte(got), &answer) != nil || len(answer.Result) != 1 || answer.Result["status"] == nil {
			t.Errorf("%s is answered by %s", kind, got)
		}
	}
	r.wants()
}

// TestRefusalsAreReported: a request that the player refuses may cost it a match,
// and nobody else says so.
func TestRefusalsAreReported(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.sockets, r.cfg.Mode, r.cfg.League, r.cfg.Once, r.cfg.IdleExit = true, protocol.Tolerant, nil, true, 4*time.Millisecond
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
