package luascript_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// roomy limits do not get in the way on a busy machine.
var roomy = luascript.Config{Limits: budget.Limits{Time: time.Hour}}

// players returns the ids of a field of n.
func players(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("P%02d", i+1)
	}
	return ids
}

func compile(tb testing.TB, source string, opts luascript.Config) (strategies.Factory, error) {
	tb.Helper()
	f, err := luascript.Compile("mine", "scripts/mine.lua", []byte(source), opts)
	if err == nil {
		tb.Cleanup(func() {
			if err := f.Close(); err != nil {
				tb.Errorf("Factory.Close = %v", err)
			}
		})
	}
	return f, err
}

func mustCompile(tb testing.TB, source string) strategies.Factory {
	tb.Helper()
	f, err := compile(tb, source, roomy)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// setup is what the first of sixteen players receives.
func setup() strategies.Setup {
	key := game.Key{1, 2}
	return strategies.Setup{
		ID: "P01", Name: "Ada", Field: players(16), Rounds: 150, Legs: 10, Key: key, Rand: game.NewRand(key),
	}
}

func mustSit(tb testing.TB, f strategies.Factory) strategies.Strategy {
	tb.Helper()
	s, err := f.New(tb.Context(), setup())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// sit compiles a script and makes a seat that ends with the test.
func sit(tb testing.TB, source string) strategies.Strategy {
	tb.Helper()
	s := mustSit(tb, mustCompile(tb, source))
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close = %v", err)
		}
	})
	return s
}

func turn(n int) *strategies.Turn {
	return &strategies.Turn{
		Match: uint64(n), MatchID: fmt.Sprintf("R%dM1", n+1), Round: n + 1,
		Opponent: []string{"P02", "P03"}[n%2], Role: game.RoleA + game.Role(n%2),
	}
}

func outcome(n int) *strategies.Outcome {
	t := turn(n)
	return &strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: game.Even, OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Win, Points: 3,
	}
}
