package workers_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/script"
)

// TestMain lets the test binary be the workers, too.
func TestMain(m *testing.M) {
	mode := ""
	if len(os.Args) == 2 {
		mode = os.Args[1]
	}
	serve := func() {
		if err := isolate.Serve(isolate.ServerConfig{Formats: languages(), Memory: testMemory, Tasks: workers.Tasks()}); err != nil {
			os.Exit(1)
		}
	}
	switch mode {
	case "worker":
		serve()
	case "mortal":
		life.Store(1 + rand.Int64N(1500)) // one of two workers plays more
		serve()
	case "stillborn":
	default:
		_ = flag.Set("test.parallel", "4") // most tests wait for processes
		os.Exit(m.Run())
	}
}

// testMemory is the limit of the tests' workers, of leagues and of scripts. A thread takes
// 8 MB of it, and a busy machine has more of them.
const testMemory = 128 << 20

// life is the number of choices of toys after which this process is killed; 0: never.
var life atomic.Int64

// pair is the toy of a pair that has chosen first in this process.
var pair atomic.Pointer[toy]

// die kills this process.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// languages are those of the lab, and one of the tests'.
func languages() []catalog.Format {
	return append(catalog.Formats(), catalog.Format{Ext: ".toy", Kind: "toy", Load: loadToy})
}

// toy is a script whose source is one word.
type toy struct {
	*script.Host
	word string
}

func loadToy(_ context.Context, name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
	t := &toy{script.NewHost(strategies.Info{Name: name, Kind: "toy", Source: path}, limits), string(source)}
	switch t.word {
	case "dies at load":
		die()
	case "fails to load":
		return nil, t.Fail(strategies.OpLoad, 3, "do not", errors.New("boom"))
	}
	return t, nil
}

// New implements strategies.Factory. A league is bad if its setup key says so.
func (t *toy) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return &toySeat{toy: t, setup: s, guard: t.Guard(func() {}, 0), bad: s.Rand.Uint64()%8 == 0}, nil
}

type toySeat struct {
	*toy
	setup strategies.Setup
	guard *budget.Guard
	bad   bool
}

// Choose implements strategies.Strategy.
func (s *toySeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if life.Load() > 0 && life.Add(-1) == 0 {
		die()
	}
	if s.word == "pairs" && !pair.CompareAndSwap(nil, s.toy) && pair.Load() != s.toy {
		die()
	}
	if s.bad && t.Match > 3 {
		switch s.word {
		case "dies":
			die()
		case "hangs":
			s.guard.Enter(ctx)
			select {}
		case "eats":
			var all [][]byte
			for {
				b := make([]byte, 1<<20)
				for i := range b {
					b[i] = 1
				}
				all = append(all, b)
				if len(all) > 8<<10 {
					panic("the memory is not limited")
				}
			}
		case "fails":
			return 0, s.Fail(strategies.OpChoose, 7, "", errors.New("boom"))
		}
	}
	return strategies.Choice(s.setup.Rand.Float64()), nil
}

func (s *toySeat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (s *toySeat) Close() error {
	s.guard.Release()
	return nil
}

// deaths is a log that counts the workers that have ended, and what workers say of
// the processes that they have started.
type deaths struct {
	slog.Handler
	n, warned, relayed atomic.Int32
}

func (d *deaths) WithAttrs([]slog.Attr) slog.Handler { return d }

func (d *deaths) Enabled(context.Context, slog.Level) bool { return true }

func (d *deaths) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "worker ended") {
		d.n.Add(1)
	}
	if r.Level >= slog.LevelWarn {
		d.warned.Add(1)
	}
	if r.Message == "script failed" {
		d.relayed.Add(1)
	}
	return nil
}

// worker is the configuration of workers of a mode of TestMain.
func worker(mode string) plugins.Config {
	return plugins.Config{Command: []string{os.Args[0], mode}, Name: "worker", Memory: testMemory, StartTimeout: 5 * time.Minute}
}

// isolated returns the languages, each script in a process of its own.
func isolated() []catalog.Format { return isolate.Formats(languages(), worker("worker"), nil) }

// inWorkers returns the languages for scripts that workers of a mode play, and their log.
func inWorkers(tb testing.TB, mode string) ([]catalog.Format, *deaths) {
	tb.Helper()
	d, loader := new(deaths), isolate.NewLoader(worker("worker"), 0)
	c := worker(mode)
	c.Log = slog.New(d)
	pool := plugins.NewPool(c, 0)
	tb.Cleanup(func() { loader.Close(); pool.Close() })
	c = worker("worker")
	c.Workers = pool
	return isolate.Formats(languages(), c, loader), d
}

// patient limits stop nobody on a slow machine.
var patient = budget.Limits{Time: time.Minute}

// load loads a script.
func load(tb testing.TB, formats []catalog.Format, name, source string, limits budget.Limits) strategies.Factory {
	tb.Helper()
	for _, f := range formats {
		if strings.HasSuffix(name, f.Ext) {
			made, err := f.Load(tb.Context(), strings.TrimSuffix(name, f.Ext), name, []byte(source), limits)
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { made.Close() })
			return made
		}
	}
	tb.Fatalf("no format for %s", name)
	return nil
}

// field loads two scripts of the lab and those of the test, whose limits these are,
// and adds two built-in strategies.
func field(tb testing.TB, formats []catalog.Format, limits budget.Limits, words ...string) []strategies.Factory {
	tb.Helper()
	var all []strategies.Factory
	for _, name := range []string{"echo.js", "council.lua"} {
		source, err := os.ReadFile("../../scripts/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, load(tb, formats, name, string(source), patient))
	}
	for _, word := range words {
		all = append(all, load(tb, formats, "t"+word+".toy", word, limits))
	}
	for _, name := range []string{"markov-2", "random"} {
		f, ok := builtin.Find(name)
		if !ok {
			tb.Fatalf("no strategy %q", name)
		}
		all = append(all, f)
	}
	return all
}

func planOf(runs, legs int, factories []strategies.Factory) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Draw: "uniform:1-10", Transport: "direct"}
	for i := range factories {
		p.Field = append(p.Field, results.Entrant{Name: string(rune('a' + i))})
	}
	return p
}

// faults counts the notes on faults of a run, by field index.
type faults struct{ n []int }

func (f *faults) Append(l *results.League) error {
	f.n = append(f.n, make([]int, len(l.Seats)-len(f.n))...)
	for _, n := range l.Notes {
		f.n[n.Field]++
	}
	return nil
}

// play plays a plan with a driver.
func play(tb testing.TB, p results.Plan, d experiments.Driver, number int) (experiments.Outcome, []int) {
	tb.Helper()
	sink := new(faults)
	out, err := experiments.Run(tb.Context(), p, d, sink, experiments.Config{Workers: number})
	if err != nil {
		tb.Fatal(err)
	}
	return out, sink.n
}

func here(tb testing.TB, p results.Plan, factories []strategies.Factory) experiments.Driver {
	tb.Helper()
	d, err := arena.New(p, factories, arena.Config{Block: 8})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func there(tb testing.TB, p results.Plan, factories []strategies.Factory) *workers.Driver {
	tb.Helper()
	d, err := workers.NewDriver(p, factories)
	if err != nil {
		tb.Fatal(err)
	}
	if d == nil {
		tb.Fatal("no worker can play this field")
	}
	return d
}
