package luascript_test

import (
	"errors"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// Calls that all stay within their limit end the seat where together they exceed that of
// a league: always after the same call, and only where leagues are bounded.
func TestLeagueHasATotal(t *testing.T) {
	f, err := compile(t, "function choose() local n = 0 for i = 1, 10000 do n = n + i end return n > 0 and 'even' or 'odd' end", luascript.Config{Limits: budget.Limits{Time: time.Hour, Instructions: 50_000}})
	if err != nil {
		t.Fatal(err)
	}
	var ended []int
	for _, bounded := range []bool{true, true, false} {
		s := setup()
		s.Field, s.Legs, s.Bounded = []string{"P01", "P02"}, 4, bounded
		seat, err := f.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if _, err = seat.Choose(t.Context(), turn(i)); err != nil {
				ended = append(ended, i)
				break
			}
		}
		_ = seat.Close()
		spent := seat.(strategies.Spender).Spent()
		switch {
		case !bounded && (err != nil || spent != strategies.Spent{}):
			t.Errorf("without a bound: %v, %+v", err, spent)
		case bounded && (!errors.Is(err, strategies.ErrBudget) || !spent.Exact || spent.Share < 3900 || spent.Share > 4100):
			t.Errorf("%v, cost %+v", err, spent)
		}
	}
	if len(ended) != 2 || ended[0] != ended[1] || ended[0] < 4 {
		t.Errorf("the seats ended at calls %v, want two at the same", ended)
	}
}
