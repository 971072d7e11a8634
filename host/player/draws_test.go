package player_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// committed is a call for a choice with the commitment to a key.
func (r *rig) committed(match, key string) *protocol.ChooseParityCall {
	r.t.Helper()
	m := r.call(match)
	c, err := bound(match, "", "").Commitment(key)
	if err != nil {
		r.t.Fatal(err)
	}
	m.DrawCommitment = c
	return m
}

func bound(match, own, others string) *draws.Match {
	return &draws.Match{League: "cup", ID: match, Round: 1, Players: [2]draws.Player{{ID: "P01", Choice: "even", Nonce: own}, {ID: "P02", Choice: "odd", Nonce: others}}}
}

// opens is the result of a match with the number that follows from a key.
func (r *rig) opens(match, key, nonce string) *protocol.GameOver {
	r.t.Helper()
	n, err := bound(match, nonce, "").Number(key)
	if err != nil {
		r.t.Fatal(err)
	}
	m := r.over(match)
	m.DrawKey, m.DrawNonces = key, map[string]string{"P01": nonce}
	g := m.GameResult
	g.DrawnNumber, g.NumberParity = protocol.Some(n), protocol.Some(game.ParityOf(n).String())
	if n%2 == 1 {
		g.WinnerPlayerID = protocol.Some("P02")
	}
	return m
}

func (r *rig) joinsCommitted(match string) {
	r.t.Helper()
	if ack := must[*protocol.GameJoinAck](r, r.invitation(match)); ack.DrawScheme != draws.Scheme {
		r.t.Errorf("%s: offers %q", match, ack.DrawScheme)
	}
}

func (r *rig) nonce(call *protocol.ChooseParityCall) string {
	r.t.Helper()
	return must[*protocol.ChooseParityResponse](r, call).DrawNonce
}

// verdict sends a result and returns what the player says of its number.
func (r *rig) verdict(over *protocol.GameOver) (verified, said bool) {
	r.t.Helper()
	return must[*protocol.Ack](r, over).DrawVerified.Get()
}

// TestVerifies: the nonce of a match stays, whatever the referee commits to later, and
// after a restart; and so do the verdicts and the keys that were revealed.
func TestVerifies(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Data = t.TempDir() })
	k1, k2, k3, k4 := draws.NewKey(), draws.NewKey(), draws.NewKey(), draws.NewKey()

	r.joinsCommitted("R1M1")
	n1 := r.nonce(r.committed("R1M1", k1))
	r.joinsCommitted("R2M1")
	n2 := r.nonce(r.committed("R2M1", k2))
	if !draws.ValidNonce(n1) || n1 == n2 {
		t.Fatalf("nonces %q and %q", n1, n2)
	}
	if again := r.nonce(r.committed("R2M1", k3)); again != n2 {
		t.Errorf("another commitment gets another nonce: %q after %q", again, n2)
	}
	if verified, said := r.verdict(r.opens("R1M1", k1, n1)); !verified || !said {
		t.Errorf("R1M1: verified %v, said %v", verified, said)
	}
	r.restart()
	r.start()
	if again := r.nonce(r.committed("R2M1", k2)); again != n2 {
		t.Errorf("after a restart the nonce is %q, before %q", again, n2)
	}
	if verified, said := r.verdict(r.opens("R2M1", k3, n2)); verified || !said {
		t.Errorf("R2M1: the second key is verified %v, said %v", verified, said)
	}
	if verified, said := r.verdict(r.opens("R2M1", k2, n2)); verified || !said {
		t.Error("R2M1: a second result changes the verdict")
	}
	r.joinsCommitted("R3M1")
	if verified, _ := r.verdict(r.opens("R3M1", k1, r.nonce(r.committed("R3M1", k1)))); verified {
		t.Error("R3M1: a key that was revealed before the restart is verified")
	}
	r.joinsCommitted("R4M1")
	r.nonce(r.committed("R4M1", k4)) // and no number comes
	r.joinsCommitted("R5M1")
	if nonce := r.nonce(r.call("R5M1")); nonce != "" {
		t.Errorf("R5M1: nonce %q without a commitment", nonce)
	}
	if _, said := r.verdict(r.over("R5M1")); said {
		t.Error("R5M1: a verdict without a commitment")
	}
	must[*protocol.Ack](r, r.leagueCompleted())
	if d := r.until(player.Completed).Draws; d == nil || *d != (player.Draws{Verified: 1, Drawn: 4, Undrawn: 1}) {
		t.Errorf("draws %+v", d)
	}
}

// TestOffersVerifiableDrawsWithMatchKeysOnly: no foreign referee gets a member that it
// may not expect, and the end of a plain league says nothing of verified draws.
func TestOffersVerifiableDrawsWithMatchKeysOnly(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	invitation := r.invitation("R1M1")
	invitation.AuthToken = "its own"
	if ack := must[*protocol.GameJoinAck](r, invitation); ack.DrawScheme != "" {
		t.Errorf("offers %q to a referee without the match key", ack.DrawScheme)
	}
	call, over := r.call("R1M1"), r.over("R1M1")
	call.AuthToken, over.AuthToken = "its own", "its own"
	if nonce := r.nonce(call); nonce != "" {
		t.Errorf("nonce %q", nonce)
	}
	if _, said := r.verdict(over); said {
		t.Error("a verdict on a plain draw")
	}
	must[*protocol.Ack](r, r.leagueCompleted())
	if e := r.until(player.Completed); e.Draws != nil {
		t.Errorf("draws %+v", e.Draws)
	}
}

// TestReportsABrokenCommitment: what is wrong is a trouble, with the reason.
func TestReportsABrokenCommitment(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	key := draws.NewKey()
	r.joinsCommitted("R1M1")
	nonce := r.nonce(r.committed("R1M1", key))
	over := r.opens("R1M1", key, nonce)
	over.DrawKey = ""
	r.verdict(over)
	if e := r.until(player.Trouble); e.Cause != player.CauseDraw || e.Match != "R1M1" || e.Error != "the number cannot be verified: "+draws.ErrNoKey.Error() {
		t.Errorf("%+v", e)
	}
	if e := r.until(player.Ended); e.Draw != player.DrawBroken || !slices.Contains([]string{"win", "loss"}, e.Result) {
		t.Errorf("%+v", e)
	}
}
