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

func BenchmarkCompile(b *testing.B) {
	source := wasmtest.Frequency().Bytes()
	b.ReportAllocs()
	for b.Loop() {
		f, err := wasmscript.Compile("x", "x.wasm", source, wasmscript.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSeat makes seats one after the other, as leagues do.
func BenchmarkSeat(b *testing.B) {
	f := load(b, wasmtest.Frequency())
	s := setup()
	b.ReportAllocs()
	for b.Loop() {
		seat, err := f.New(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		if err := seat.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecision is one choose and one observe.
func BenchmarkDecision(b *testing.B) {
	seat, err := load(b, wasmtest.Frequency()).New(b.Context(), setup())
	if err != nil {
		b.Fatal(err)
	}
	turn := strategies.Turn{Opponent: "P02", Round: 1}
	outcome := strategies.Outcome{Opponent: "P02", OpponentChoice: game.Odd}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := seat.Choose(b.Context(), &turn); err != nil {
			b.Fatal(err)
		}
		if err := seat.Observe(b.Context(), &outcome); err != nil {
			b.Fatal(err)
		}
	}
	if err := seat.Close(); err != nil {
		b.Fatal(err)
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
