package player_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestSilenceIsReported: a player that nobody calls after its registration says so
// once, and so does one that is not invited to an announced match.
func TestSilenceIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) {
		r.cfg.Mode, r.cfg.Overdue, r.cfg.League = protocol.Tolerant, time.Millisecond, nil
	})
	r.run()
	if e := r.until(player.Trouble); e.Cause != player.CauseUncalled || !strings.Contains(e.Error, "nobody has called P01") || e.Advice == "" {
		t.Errorf("%+v", e)
	}
	a := r.announcement(announced("R1M1", "P01", "P02", "REF01"), announced("R1M2", "P03", "P04", "REF01"))
	must[*protocol.Ack](r, a)
	if e := r.until(player.Trouble); e.Cause != player.CauseUninvited || e.Match != "R1M1" || e.Opponent != "P02" || e.Referee != "REF01" {
		t.Errorf("%+v", e)
	}
	must[*protocol.Ack](r, a) // again
	must[*protocol.Ack](r, r.roundCompleted())
	must[*protocol.Ack](r, r.leagueCompleted())
	r.until(player.Completed)
	if rest := drain(r.events); slices.ContainsFunc(rest, func(e player.Event) bool { return e.Kind == player.Trouble }) {
		t.Errorf("it is reported again: %+v", rest)
	}
}
