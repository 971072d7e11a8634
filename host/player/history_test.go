package player

import (
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// The history is written after each of the first matches, and all in all not much oftener in a long
// league, so that what is written stays in proportion to what is played.
func TestTheHistoryOfALongLeague(t *testing.T) {
	t.Parallel()
	var s leagueState
	writes, lines := 0, 0
	for n := 1; n <= 10_000; n++ {
		s.ended = append(s.ended, strategies.Outcome{})
		if s.historyDue() {
			writes, lines = writes+1, lines+n
		} else if n <= 100 {
			t.Errorf("nothing is written after match %d", n)
		}
	}
	if writes > 600 || lines > 70*10_000 {
		t.Errorf("%d writes of %d lines in 10,000 matches", writes, lines)
	}
}
