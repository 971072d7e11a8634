package wasmscript_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

func setup() strategies.Setup {
	return strategies.Setup{
		ID: "P01", Name: "P01", Field: []string{"P01", "P02", "P03"}, Rounds: 6, Legs: 2,
		Key: game.Key{1, 2}, Rand: game.NewRand(game.Key{1, 2}),
	}
}

func load(tb testing.TB, m wasmtest.Module) strategies.Factory {
	tb.Helper()
	return loadWith(tb, m, wasmscript.Config{})
}

func loadWith(tb testing.TB, m wasmtest.Module, c wasmscript.Config) strategies.Factory {
	tb.Helper()
	f, err := wasmscript.Compile("x", "scripts/x.wasm", m.Bytes(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// sit makes a seat, which is closed at the end.
func sit(tb testing.TB, f strategies.Factory, s strategies.Setup) strategies.Deferrer {
	tb.Helper()
	seat, err := f.New(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := seat.Close(); err != nil {
			tb.Error(err)
		}
	})
	return seat.(strategies.Deferrer)
}

// used returns what a seat has used.
func used(s strategies.Strategy) int64 {
	return s.(interface{ InstructionsUsed() int64 }).InstructionsUsed()
}
