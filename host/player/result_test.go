package player_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestResultsAreCompared: a result that counts another choice than the agent gave, or
// names another winner than its choices and its number give, is reported once in a league.
func TestResultsAreCompared(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	for i, want := range []string{"the result counts odd: the referee has not read the answer", "by its choices and its number it is a win of P02"} {
		match := []string{"R1M1", "R2M1"}[i]
		own := r.plays(match)
		over := r.over(match)
		over.GameResult = &protocol.GameResult{
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), DrawnNumber: protocol.Some(7), NumberParity: protocol.Some("odd"), Reason: "x",
			Choices: map[string]protocol.Choice{"P01": own, "P02": protocol.Odd},
		}
		if i == 0 {
			over.GameResult.Choices = map[string]protocol.Choice{"P01": protocol.Odd, "P02": protocol.Even}
		}
		must[*protocol.Ack](r, over)
		if e := r.until(player.Trouble); e.Cause != player.CauseResult || e.Match != match || !strings.Contains(e.Error, want) {
			t.Errorf("%s: %+v, want %q", match, e, want)
		}
	}
}
