package player_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// said plays a match in a round and returns what the player says at its end. A foreign manager does not show the token that belongs to the player.
func (r *rig) said(round int, match string, foreign bool) *protocol.Ack {
	r.t.Helper()
	invitation, call, over, end := r.invitation(match), r.call(match), r.over(match), r.roundCompleted()
	for _, h := range []*protocol.Header{&invitation.Header, &call.Header, &over.Header, &end.Header} {
		h.RoundID = protocol.RoundNumber(round)
	}
	if foreign {
		end.AuthToken = ""
	}
	must[*protocol.GameJoinAck](r, invitation)
	must[*protocol.ChooseParityResponse](r, call)
	must[*protocol.Ack](r, over)
	return must[*protocol.Ack](r, end)
}

// TestNamesTheVersionOfAnEditedStrategy: the manager hears at the end of a round which
// version chose in it; one that is not of this program does not, and without edits nobody.
func TestNamesTheVersionOfAnEditedStrategy(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, nil)
	if got := r.said(1, "R1M1", false).StrategyVersion; got != "first" {
		t.Errorf("the version of round 1 is %q", got)
	}
	a.edits <- edit{made: learns("second")}
	r.until(player.Reloaded)
	if got := r.said(2, "R2M1", false).StrategyVersion; got != "second" {
		t.Errorf("the version of round 2 is %q", got)
	}
	end := r.roundCompleted()
	end.RoundID = protocol.RoundNumber(3)
	if got := must[*protocol.Ack](r, end).StrategyVersion; got != "" {
		t.Errorf("the version of a round without a match is %q", got)
	}

	abroad := edited(t, newAuthor(), func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	if got := abroad.said(1, "R1M1", true).StrategyVersion; got != "" {
		t.Errorf("a foreign manager hears of version %q", got)
	}
	plain := running(t, func(r *rig) { r.s = learns("first") })
	if got := plain.said(1, "R1M1", false).StrategyVersion; got != "" {
		t.Errorf("without edits the manager hears of version %q", got)
	}
}

// TestTellsWhyItsStrategyFailed: the manager hears at the end of a round why the strategy
// failed in it; a foreign one does not.
func TestTellsWhyItsStrategyFailed(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		r := running(t, func(r *rig) {
			r.s, r.cfg.Mode = learns("first"), protocol.Tolerant
			r.s.observe = func(_ context.Context, o *strategies.Outcome) error {
				if o.MatchID == "R2M1" {
					return errors.New("mine.lua:3: boom")
				}
				return nil
			}
		})
		if got := r.said(1, "R1M1", foreign).StrategyError; got != "" {
			t.Errorf("in a round without a failure it says %q", got)
		}
		if got := r.said(2, "R2M1", foreign).StrategyError; strings.Contains(got, "mine.lua:3: boom") == foreign {
			t.Errorf("foreign %t: it says %q", foreign, got)
		}
	}
}
