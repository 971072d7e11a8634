package player_test

import (
	"context"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/credential"
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
