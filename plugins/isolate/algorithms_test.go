package isolate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/wasmscript"
)

// inC are built-in strategies that testdata has in C as well.
var inC = []string{"markov-2", "hedge"}

// compiled is a strategy of testdata as a module. It skips the test without clang.
func compiled(tb testing.TB, name string) strategies.Factory {
	tb.Helper()
	out, in := filepath.Join(tb.TempDir(), name+".wasm"), filepath.Join("testdata", name+".c")
	build := exec.CommandContext(tb.Context(), "clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-Wl,-z,stack-size=8192", "-o", out, in)
	if said, err := build.CombinedOutput(); err != nil {
		tb.Skipf("this machine does not compile C for WebAssembly: %v: %s", err, said)
	}
	source, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := wasmscript.Compile(name, out, source, wasmscript.Config{Limits: patient})
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

// TestAlgorithmsInC asks the strategies that BenchmarkAlgorithms compares for the same
// choices. Where a built-in one tosses, the one in C leaves that to the host.
func TestAlgorithmsInC(t *testing.T) {
	t.Parallel()
	for _, name := range inC {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			native, ok := builtin.Find(name)
			if !ok {
				t.Fatal("no such built-in strategy")
			}
			field, rnd := []string{game.PlayerID(0), game.PlayerID(1), game.PlayerID(2)}, game.NewRand(game.Key{1})
			seat := func(f strategies.Factory) strategies.Strategy {
				s, err := f.New(t.Context(), strategies.Setup{ID: field[0], Field: field, Rand: game.NewRand(game.Key{2})})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			}
			want, got := seat(native), seat(compiled(t, name))
			for i := range 2000 {
				turn := strategies.Turn{Opponent: field[1+i%2], Role: game.RoleA + game.Role(i/2%2)}
				a, errA := want.Choose(t.Context(), &turn)
				b, errB := got.Choose(t.Context(), &turn)
				if errA != nil || errB != nil || a != b && (b != 0.5 || name == "hedge") {
					t.Fatalf("choice %d is %v in Go and %v in C, %v, %v", i, a, b, errA, errB)
				}
				o := strategies.Outcome{
					Opponent: turn.Opponent, Role: turn.Role,
					Choice: game.Even + game.Parity(rnd.Uint64()>>63), OpponentChoice: game.Even + game.Parity(rnd.Uint64()>>63),
				}
				for _, s := range []strategies.Strategy{want, got} {
					if err := s.Observe(t.Context(), &o); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
