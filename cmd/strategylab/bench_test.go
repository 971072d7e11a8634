package main

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// BenchmarkChoiceIsolated measures the player's own time for a call for a
// choice, from the request to its answer, without the network: with a Lua
// script in a worker process of its own. Every call is of a new match.
func BenchmarkChoiceIsolated(b *testing.B) {
	for _, script := range []string{"settle", "council"} {
		b.Run(script, func(b *testing.B) {
			formats := isolate.Formats(catalog.Formats(), plugins.Config{Command: []string{os.Args[0], "script-worker"}}, nil)
			cat, err := catalog.Load(b.Context(), catalog.Config{Scripts: "../../scripts", RequireScripts: true, Formats: formats, Lazy: true})
			if err != nil {
				b.Fatal(err)
			}
			defer cat.Close()
			e, err := cat.Resolve(b.Context(), script)
			if err != nil {
				b.Fatal(err)
			}
			loop := new(jsonrpc.Loopback)
			p, err := player.New(player.Config{
				Config: agent.Config{
					Endpoint: "http://player/mcp",
					Manager:  wire.NewPeer("http://manager/mcp", dialect.Contracts),
					Caller:   &wire.Caller{Client: jsonrpc.NewClient(loop.From("player"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
					Mode:     protocol.Tolerant,
				},
				Factory:  e.Factory,
				League:   &player.League{Field: []string{"P01", "P02"}},
				Patience: -1,
				Key:      game.StrategyKey(1, 0, 0),
				Coin:     game.CoinKey(1, 0, 0),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			handler := p.Dispatcher()
			ask := func(match string) time.Duration {
				params := fmt.Sprintf(`{"protocol":"league.v2","message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2026-01-01T12:00:00Z","conversation_id":"c","auth_token":"t","match_id":%q,"context":{"opponent_id":"P02","round_id":1}}`, match)
				start := time.Now()
				answer := handler.Handle(b.Context(), &jsonrpc.Request{Kind: jsonrpc.KindCall, Method: "choose_parity", Params: []byte(params), ID: []byte(`1`), Raw: []byte(params)})
				took := time.Since(start)
				if answer.Result == nil {
					b.Fatalf("no answer but %+v", answer)
				}
				return took
			}
			ask("warm") // starts the worker and the seat
			took := make([]time.Duration, 0, b.N)
			b.ResetTimer()
			for i := range b.N {
				took = append(took, ask(fmt.Sprintf("R%dM1", i)))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[(len(took)*99)/100].Microseconds()), "p99-us")
		})
	}
}

// BenchmarkExperiment plays and counts leagues of 10 legs as "experiment"
// does, without its files: among eight built-in strategies, and among them
// with the eight example scripts.
func BenchmarkExperiment(b *testing.B) {
	const builtins = "random,alternate,copy-last,frequency,markov-1,markov-2,role,stay-or-flip"
	for _, bb := range []struct{ name, field string }{
		{"builtins", builtins},
		{"with-scripts", builtins + ",council,drift,pairwise,settle,bandit,echo,ledger,rhythm"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			cat, err := catalog.Load(b.Context(), catalog.Config{Scripts: "../../scripts", RequireScripts: true})
			if err != nil {
				b.Fatal(err)
			}
			defer cat.Close()
			refs, err := catalog.ParseRefs(bb.field)
			if err != nil {
				b.Fatal(err)
			}
			field, err := cat.Field(b.Context(), refs)
			if err != nil {
				b.Fatal(err)
			}
			plan := results.Plan{Schema: results.PlanSchema, Runs: b.N, Legs: 10, Seed: 1, Draw: "uniform:1-10", Transport: "direct"}
			var factories []strategies.Factory
			for _, p := range field.Players {
				plan.Field = append(plan.Field, results.Entrant{Name: p.Name})
				factories = append(factories, p.Factory)
			}
			acc, err := analysis.NewAccumulator(plan)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			if err := new(lab.Session).PlayUnrecorded(b.Context(), plan, factories, func(l *results.League) error { return acc.Add(*l) }); err != nil {
				b.Fatal(err)
			}
			matches := float64(len(factories)*(len(factories)-1)/2*10) * float64(b.N)
			b.ReportMetric(matches/b.Elapsed().Seconds(), "matches/s")
		})
	}
}
