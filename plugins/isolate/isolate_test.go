package isolate_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// TestMain lets the test binary be the worker and a plugin as well.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		serve(0)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "loader" {
		serve(loaderMemory)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "plugin" {
		plugins.Serve(goFrequency{})
		return
	}
	_ = flag.Set("test.parallel", "4") // most tests wait for processes
	os.Exit(m.Run())
}

// wholeSets is whether tests that start many processes take all of their cases.
var wholeSets = os.Getenv("WHOLE_TESTS") != ""

func serve(memory uint64) {
	if err := isolate.Serve(isolate.ServerConfig{Formats: languages(), Memory: memory}); err != nil {
		panic(err)
	}
}

// languages are those of the lab, and one of the tests'.
func languages() []catalog.Format { return append(catalog.Formats(), toy()) }

func formats(c plugins.Config) []catalog.Format {
	c.Command, c.StartTimeout = []string{os.Args[0], "worker"}, 5*time.Minute
	return isolate.Formats(languages(), c, nil)
}

// load loads the example scripts.
func load(tb testing.TB, fs []catalog.Format, names ...string) []strategies.Factory {
	tb.Helper()
	cat, err := catalog.Load(context.Background(), catalog.Config{Dir: "../..", Scripts: "testdata-none", Formats: fs, Limits: patient})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := cat.Close(); err != nil {
			tb.Error(err)
		}
	})
	var all []strategies.Factory
	for _, name := range names {
		e, err := cat.Resolve(tb.Context(), filepath.Join("scripts", name))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, e.Factory)
	}
	return all
}

// patient limits stop nobody on a slow machine.
var patient = budget.Limits{Time: time.Minute}

type nobody struct{}

func (nobody) Append(*results.League) error { return nil }

func plan(runs, legs int, factories []strategies.Factory) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Draw: "uniform:1-10", Transport: "direct"}
	for i := range factories {
		p.Field = append(p.Field, results.Entrant{Name: string(rune('a' + i))})
	}
	return p
}

func played(tb testing.TB, p results.Plan, factories []strategies.Factory) experiments.Outcome {
	tb.Helper()
	// As the command has it.
	opts, workers := arena.Config{Block: 32}, runtime.GOMAXPROCS(0)
	if _, apart := factories[0].(strategies.Batcher); apart {
		workers = (workers + 1) / 2
	}
	a, err := arena.New(p, factories, opts)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := experiments.Run(tb.Context(), p, a, nobody{}, experiments.Config{Workers: workers})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// examples are the scripts that come with the lab.
var examples = []string{"bandit.js", "council.lua", "drift.lua", "echo.js", "ledger.js", "pairwise.lua", "rhythm.js", "settle.lua"}
