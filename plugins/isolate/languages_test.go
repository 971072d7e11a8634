package isolate_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// frequency is one strategy in each language.
var frequency = map[string]string{
	".lua": `
local surplus = {}
function choose(turn)
  local s = surplus[turn.opponent] or 0
  if s == 0 then return 0.5 end
  return s > 0 and "odd" or "even"
end
function observe(outcome)
  local s = surplus[outcome.opponent] or 0
  if outcome.opponent_choice == "even" then s = s + 1 end
  if outcome.opponent_choice == "odd" then s = s - 1 end
  surplus[outcome.opponent] = s
end`,
	".js": `
const surplus = new Map();
function choose(turn) {
  const s = surplus.get(turn.opponent) ?? 0;
  return s === 0 ? 0.5 : s > 0 ? "odd" : "even";
}
function observe(outcome) {
  const sign = { even: 1, odd: -1 }[outcome.opponent_choice] ?? 0;
  surplus.set(outcome.opponent, (surplus.get(outcome.opponent) ?? 0) + sign);
}`,
	".wasm": string(wasmtest.Frequency().Bytes()),
}

// goFrequency is the same in Go.
type goFrequency struct{ surplus map[string]int }

func (g goFrequency) Info() strategies.Info { return strategies.Info{Name: "frequency"} }
func (g goFrequency) Close() error          { return nil }

func (goFrequency) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return goFrequency{make(map[string]int)}, nil
}

func (g goFrequency) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	switch s := g.surplus[t.Opponent]; {
	case s == 0:
		return 0.5, nil
	case s > 0:
		return strategies.Odd, nil
	}
	return strategies.Even, nil
}

func (g goFrequency) Observe(_ context.Context, o *strategies.Outcome) error {
	switch o.OpponentChoice {
	case game.Even:
		g.surplus[o.Opponent]++
	case game.Odd:
		g.surplus[o.Opponent]--
	}
	return nil
}

// TestOneStrategyInEveryLanguage plays it in process, isolated and as a plugin: the records
// do not show what it is written in.
func TestOneStrategyInEveryLanguage(t *testing.T) {
	t.Parallel()
	others := load(t, catalog.Formats(), "bandit.js", "council.lua", "echo.js")
	p := plan(50, 4, append(others, goFrequency{}, goFrequency{}))
	want := played(t, p, append(others, goFrequency{}, goFrequency{})).Digest
	all, err := plugins.Open(t.Context(), plugins.Config{
		Command: []string{os.Args[0], "plugin"}, Name: "frequency", Source: "plugins/frequency", StartTimeout: 5 * time.Minute, CallTime: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := played(t, p, append(others, all[0], all[0])).Digest; got != want {
		t.Errorf("digest %s of a plugin, %s of Go", got, want)
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	for ext, source := range frequency {
		for where, fs := range map[string][]catalog.Format{"in process": catalog.Formats(), "isolated": formats(plugins.Config{})} {
			for _, f := range fs {
				if f.Ext != ext {
					continue
				}
				made, err := f.Load(t.Context(), "frequency", "scripts/frequency"+ext, []byte(source), patient)
				if err != nil {
					t.Fatal(err)
				}
				if got := played(t, p, append(others, made, made)).Digest; got != want {
					t.Errorf("digest %s of %s %s, %s of Go", got, f.Kind, where, want)
				}
				if err := made.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

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

// comparison is one algorithm in several languages, the built-in one first.
type comparison struct {
	names     []string
	factories []strategies.Factory
}

func compared(b *testing.B) (c comparison) {
	b.Helper()
	native, ok := builtin.Find("frequency")
	if !ok {
		b.Fatal("no strategy frequency")
	}
	c = comparison{[]string{"native"}, []strategies.Factory{native}}
	for _, f := range catalog.Formats() {
		source, ok := frequency[f.Ext]
		if !ok {
			continue
		}
		made, err := f.Load(b.Context(), "frequency", "scripts/frequency"+f.Ext, []byte(source), patient)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := made.Close(); err != nil {
				b.Error(err)
			}
		})
		c.names = append(c.names, strings.TrimPrefix(f.Ext, "."))
		c.factories = append(c.factories, made)
	}
	return c
}

// report reports the median of the times of each language, and of its ratios to native.
func (c comparison) report(b *testing.B, unit string, times [][]float64) {
	b.Helper()
	for i, name := range c.names {
		ratios := make([]float64, len(times[i]))
		for run, t := range times[i] {
			ratios[run] = t / times[0][run]
		}
		slices.Sort(ratios)
		if i > 0 {
			b.ReportMetric(ratios[len(ratios)/2], name+"/native")
		}
		sorted := slices.Sorted(slices.Values(times[i]))
		b.ReportMetric(sorted[len(sorted)/2], unit+"-"+name)
	}
}

// decide times decisions (choose and observe) of each language, as the arena asks for them, in
// turns, against opponents that choose at random. It reports medians.
func (c comparison) decide(b *testing.B) {
	b.Helper()
	const decisions, players = 2000, 8
	field, theirs, rnd := make([]string, players), make([]game.Parity, 1<<14), game.NewRand(game.Key{})
	for i := range field {
		field[i] = game.PlayerID(i)
	}
	for i := range theirs {
		theirs[i] = game.Even + game.Parity(rnd.Uint64()>>63)
	}
	seats, observe := make([]strategies.Strategy, len(c.factories)), make([]func(context.Context, *strategies.Outcome) error, len(c.factories))
	for i, f := range c.factories {
		key := game.StrategyKey(1, 1, 0)
		seat, err := f.New(b.Context(), strategies.Setup{ID: field[0], Field: field, Key: key, Rand: game.NewRand(key)})
		if err != nil {
			b.Fatal(err)
		}
		defer seat.Close()
		seats[i], observe[i] = seat, seat.Observe
		if d, ok := seat.(strategies.Deferrer); ok {
			observe[i] = d.Defer
		}
	}
	ctx := b.Context()
	times, decided := make([][]float64, len(seats)), 0
	turn, outcome := strategies.Turn{Round: 1, Role: game.RoleA}, strategies.Outcome{Choice: game.Even, Round: 1, Role: game.RoleA}
	for b.Loop() {
		for i, seat := range seats {
			start := time.Now()
			for d := range decisions {
				turn.Opponent = field[1+d%(players-1)]
				outcome.Opponent, outcome.OpponentChoice = turn.Opponent, theirs[(decided+d)%len(theirs)]
				if _, err := seat.Choose(ctx, &turn); err != nil {
					b.Fatal(err)
				}
				if err := observe[i](ctx, &outcome); err != nil {
					b.Fatal(err)
				}
			}
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/decisions)
		}
		decided += decisions
	}
	c.report(b, "ns/decision", times)
}

// BenchmarkLanguages compares one algorithm in every language.
func BenchmarkLanguages(b *testing.B) { compared(b).decide(b) }

// BenchmarkAlgorithms compares built-in strategies, cheap and less cheap ones, with the same in C.
func BenchmarkAlgorithms(b *testing.B) {
	for _, name := range inC {
		b.Run(name, func(b *testing.B) {
			native, _ := builtin.Find(name)
			comparison{[]string{"native", "wasm"}, []strategies.Factory{native, compiled(b, name)}}.decide(b)
		})
	}
}

// BenchmarkLeaguesOfLanguages times leagues of eight such players, in turns, without Lua
// and JavaScript.
func BenchmarkLeaguesOfLanguages(b *testing.B) {
	const leagues, players, legs = 100, 8, 10
	c := compared(b)
	at := slices.Index(c.names, "wasm")
	c = comparison{[]string{c.names[0], "wasm"}, []strategies.Factory{c.factories[0], c.factories[at]}}
	times := make([][]float64, len(c.factories))
	for b.Loop() {
		for i, f := range c.factories {
			fs := slices.Repeat([]strategies.Factory{f}, players)
			start := time.Now()
			played(b, plan(leagues, legs, fs), fs)
			times[i] = append(times[i], time.Since(start).Seconds()/leagues*1e6)
		}
	}
	c.report(b, "us/league", times)
}

// BenchmarkExperiment plays a thousand leagues among the example scripts, in
// process and isolated, with the heap tuned as the command tunes it.
func BenchmarkExperiment(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(192 << 20))
	inside := load(b, catalog.Formats(), examples...)
	outside := load(b, formats(plugins.Config{}), examples...)
	p := plan(1000, 10, inside)
	var seconds [2]float64
	for b.Loop() {
		before := b.Elapsed()
		played(b, p, inside)
		middle := b.Elapsed()
		played(b, p, outside)
		seconds[0] += (middle - before).Seconds()
		seconds[1] += (b.Elapsed() - middle).Seconds()
	}
	b.ReportMetric(seconds[0]/float64(b.N), "s/in-process")
	b.ReportMetric(seconds[1]/float64(b.N), "s/isolated")
	b.ReportMetric(seconds[1]/seconds[0], "times-as-long")
}
