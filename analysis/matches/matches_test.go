package matches_test

import (
	"testing"

	"github.com/strategylab/strategylab/analysis/matches"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	m := results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Fault: game.FaultTimeout}, Number: results.NoNumber}
	if got := matches.Describe(m); got != "even against (timeout), drawn -1" {
		t.Errorf("described as %q", got)
	}
}
