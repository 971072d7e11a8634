package luascript_test

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// players returns the ids of a field of n.
func players(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("P%02d", i+1)
	}
	return ids
}

func compile(tb testing.TB, source string, opts luascript.Options) (strategies.Factory, error) {
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
	f, err := compile(tb, source, luascript.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func mustSit(tb testing.TB, f strategies.Factory) strategies.Strategy {
	tb.Helper()
	key := game.Key{1, 2}
	s, err := f.New(tb.Context(), strategies.Setup{
		ID: "P01", Name: "P01", Field: players(16), Rounds: 150, Legs: 10, Key: key, Rand: game.NewRand(key),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
