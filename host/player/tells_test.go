package player_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// versionIn plays a match in a round and returns the version that the player names at its
// end. A foreign manager does not show the token that belongs to the player.
func (r *rig) versionIn(round int, match string, foreign bool) string {
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
	return must[*protocol.Ack](r, end).StrategyVersion
}

// TestNamesTheVersionOfAnEditedStrategy: the manager hears at the end of a round which
// version chose in it; one that is not of this program does not, and without edits nobody.
func TestNamesTheVersionOfAnEditedStrategy(t *testing.T) {
	t.Parallel()
	a := newAuthor()
	r := edited(t, a, nil)
	if got := r.versionIn(1, "R1M1", false); got != "first" {
		t.Errorf("the version of round 1 is %q", got)
	}
	a.edits <- edit{made: learns("second")}
	r.until(player.Reloaded)
	if got := r.versionIn(2, "R2M1", false); got != "second" {
		t.Errorf("the version of round 2 is %q", got)
	}
	end := r.roundCompleted()
	end.RoundID = protocol.RoundNumber(3)
	if got := must[*protocol.Ack](r, end).StrategyVersion; got != "" {
		t.Errorf("the version of a round without a match is %q", got)
	}

	abroad := edited(t, newAuthor(), func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	if got := abroad.versionIn(1, "R1M1", true); got != "" {
		t.Errorf("a foreign manager hears of version %q", got)
	}
	plain := newRig(t, func(r *rig) { r.s = learns("first") })
	plain.run()
	if got := plain.versionIn(1, "R1M1", false); got != "" {
		t.Errorf("without edits the manager hears of version %q", got)
	}
}
