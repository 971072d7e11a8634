package player_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestAuthentication sends every message that comes after the registration with
// no token, a wrong one, those of others, and from others.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	const match = "R1M1"
	messages := map[string]struct {
		make func(r *rig) protocol.Message
		rpc  int
	}{
		"announcement": {func(r *rig) protocol.Message { return r.announcement(announced("R1M7", "P01", "P02", "REF01")) }, 3001},
		"standings":    {func(r *rig) protocol.Message { return r.standings() }, 3001},
		"round":        {func(r *rig) protocol.Message { return r.roundCompleted() }, 3001},
		"league":       {func(r *rig) protocol.Message { return r.leagueCompleted() }, 3001},
		"invitation":   {func(r *rig) protocol.Message { return r.invitation("R2M1") }, 4001},
		"call":         {func(r *rig) protocol.Message { return r.call(match) }, 4001},
		"over":         {func(r *rig) protocol.Message { return r.over(match) }, 4001},
		"error":        {func(r *rig) protocol.Message { return r.gameError(match) }, 4001},
	}
	attacks := map[string]struct {
		change func(r *rig, h *protocol.Header)
		code   protocol.Code
	}{
		"no token":          {func(_ *rig, h *protocol.Header) { h.AuthToken = "" }, protocol.CodeTokenMissing},
		"wrong token":       {func(_ *rig, h *protocol.Header) { h.AuthToken = "tok-LM-0123" }, protocol.CodeTokenInvalid},
		"the player's own":  {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.token }, protocol.CodeTokenInvalid},
		"another match's":   {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys("R9M9", "REF01").Send }, protocol.CodeTokenInvalid},
		"another referee's": {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys(match, "REF02").Send }, protocol.CodeTokenInvalid},
		"the opponent's key": {func(r *rig, h *protocol.Header) {
			h.AuthToken = credential.NewVerifier("tok-P02-xyz").MatchKeys("cup", match, "REF01").Send
		}, protocol.CodeTokenInvalid},
		"the answer's key": {func(r *rig, h *protocol.Header) { h.AuthToken = r.manager.keys(match, "REF01").Expect }, protocol.CodeTokenInvalid},
		"another league's manager": {func(r *rig, h *protocol.Header) {
			h.AuthToken = credential.NewVerifier(r.manager.token).ManagerToken("other")
		}, protocol.CodeTokenInvalid},
		"from a player": {func(_ *rig, h *protocol.Header) { h.Sender = "player:P02" }, protocol.CodeTokenInvalid},
		"from the wrong agent": {func(_ *rig, h *protocol.Header) {
			if h.Sender == "league_manager" {
				h.Sender = "referee:REF01"
			} else {
				h.Sender = "league_manager"
			}
		}, protocol.CodeTokenInvalid},
	}
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		for attack, a := range attacks {
			t.Run(fmt.Sprintf("%v, %s", mode, attack), func(t *testing.T) {
				t.Parallel()
				r := running(t, func(r *rig) { r.cfg.Mode = mode })
				must[*protocol.Ack](r, r.announcement(announced(match, "P01", "P02", "REF01")))
				must[*protocol.GameJoinAck](r, r.invitation(match))
				for name, m := range messages {
					bad := m.make(r)
					a.change(r, bad.Head())
					refusal := r.refused(bad, m.rpc, a.code)
					if strings.Contains(string(refusal.Data), r.manager.token) {
						t.Errorf("%s: the answer holds the player's token", name)
					}
					want := []string{`"player_id":"P01"`}
					if a.code == protocol.CodeTokenInvalid {
						want = append(want, `"action":"`+string(bad.Head().MessageType)+`"`)
					}
					for _, member := range want {
						if !strings.Contains(string(refusal.Data), member) {
							t.Errorf("%s: the data %s lacks %s", name, refusal.Data, member)
						}
					}
				}
				r.wants("start") // and nothing else has happened
				for _, e := range drain(r.events) {
					if e.Kind != player.Announced && e.Kind != player.Invited || e.Match != match {
						t.Errorf("event %+v", e)
					}
				}
				// What is in order still is.
				r.choice(match)
				must[*protocol.Ack](r, r.over(match))
				must[*protocol.Ack](r, r.leagueCompleted())
			})
		}
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
