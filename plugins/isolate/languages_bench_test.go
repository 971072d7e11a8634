package isolate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
)

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
