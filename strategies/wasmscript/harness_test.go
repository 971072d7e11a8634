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
	f, err := wasmscript.Compile("x", "scripts/x.wasm", m.Bytes(), wasmscript.Config{})
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
