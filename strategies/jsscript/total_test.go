package jsscript_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Calls that together take longer than a league may end the seat.
func TestLeagueHasATotal(t *testing.T) {
	t.Parallel()
	f := load(t, body("for (let i = 0; i < 100000; i++); return 'even'"), budget.Limits{Time: 50 * time.Millisecond})
	s := setup(game.Key{1, 2})
	s.Field, s.Legs, s.Bounded = []string{"P01", "P02"}, 1, true
	seat, err := f.New(t.Context(), s)
	for i := 0; err == nil; i++ {
		_, err = seat.Choose(t.Context(), turn(i))
	}
	if !errors.Is(err, strategies.ErrTimeout) {
		t.Errorf("choose fails with %v, want a timeout", err)
	}
	_ = seat.Close()
	if spent := seat.(strategies.Spender).Spent(); strings.Contains(err.Error(), "in one league") && (!spent.Over() || spent.Exact) {
		t.Errorf("the seat cost %+v", spent)
	}
}
