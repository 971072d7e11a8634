package isolate_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
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

// toy is a language for scripts that no guard in the process can hold. Its
// source is a word: what a seat in eight does in its sixth round.
func toy() catalog.Format {
	return catalog.Format{Ext: ".toy", Kind: "toy", Load: func(_ context.Context, name, path string, source []byte, _ budget.Limits) (strategies.Factory, error) {
		how := strings.TrimSpace(string(source))
		if how == "unloadable" {
			return nil, &strategies.Error{Source: path, Line: 7, Op: strategies.OpLoad, Err: fmt.Errorf("no %s", name), Hint: "none"}
		}
		if mark, ok := strings.CutPrefix(how, "die once "); ok {
			if err := os.Mkdir(mark, 0o700); err == nil {
				os.Exit(9)
			}
		}
		if how == "die at load" {
			os.Exit(9)
		}
		return &toyFactory{how: how, name: name, path: path}, nil
	}}
}

type toyFactory struct{ how, name, path string }

func (f *toyFactory) Info() strategies.Info {
	return strategies.Info{Name: f.name, Kind: "toy", Source: f.path, Fingerprint: f.how}
}

func (f *toyFactory) Close() error { return nil }

func (f *toyFactory) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	bad := s.Key[0]%8 == 0
	if bad && f.how == "die at start" {
		os.Exit(9)
	}
	return &toySeat{how: f.how, bad: bad, sum: s.Key[1], setup: s}, nil
}

// toySeat chooses by everything it has received, so that a seat which was not
// rebuilt as it was is noticed.
type toySeat struct {
	how   string
	bad   bool
	sum   uint64
	setup strategies.Setup
}

func (s *toySeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.bad && t.Round == 6 {
		switch s.how {
		case "die":
			os.Exit(9)
		case "crash": // what the host makes of dying
			return 0, strategies.ErrCrashed
		case "eat":
			for hoard := [][]byte{}; ; {
				piece := make([]byte, 1<<20)
				for i := range piece {
					piece[i] = byte(i)
				}
				hoard = append(hoard, piece)
			}
		}
	}
	s.mix(t.Match, uint64(t.Played), uint64(t.Points), uint64(len(t.Opponent)), s.setup.Rand.Uint64())
	return strategies.Choice(s.sum >> 60 & 1), nil
}

func (s *toySeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if s.bad && o.Round == 6 && s.how == "die observing" {
		os.Exit(9)
	}
	s.mix(o.Match, uint64(o.Choice), uint64(o.OpponentChoice), uint64(o.Number), uint64(o.Points), s.setup.Rand.Uint64())
	return nil
}

func (s *toySeat) mix(words ...uint64) {
	for _, w := range words {
		s.sum = (s.sum ^ w) * 0x9e3779b97f4a7c15
		s.sum ^= s.sum >> 29
	}
}

func (s *toySeat) Close() error { return nil }

// script loads a toy.
func script(tb testing.TB, f catalog.Format, how string) strategies.Factory {
	tb.Helper()
	made, err := f.Load(tb.Context(), "toy", "toys/toy.toy", []byte(how), patient)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := made.Close(); err != nil {
			tb.Error(err)
		}
	})
	return made
}

// notes gathers what is noted of a run.
type notes struct{ text strings.Builder }

func (n *notes) Append(l *results.League) error {
	for _, x := range l.Notes {
		n.text.WriteString(x.Text + "\n")
	}
	return nil
}

func digest(t *testing.T, f strategies.Factory, to experiments.Sink) string {
	t.Helper()
	field := []strategies.Factory{f, f, f, f}
	p := plan(12, 4, field)
	a, err := arena.New(p, field, arena.Config{Block: 8})
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Run(t.Context(), p, a, to, experiments.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Digest
}

// TestOnlyTheCulpritForfeits kills the worker over and over. Every seat that
// had no part in it plays on as if nothing had been.
func TestOnlyTheCulpritForfeits(t *testing.T) {
	t.Parallel()
	o := plugins.Config{Restarts: 1000}
	outside := formats(o)
	apart := outside[len(outside)-1]
	want := digest(t, script(t, toy(), "crash"), nobody{})
	if harmless := digest(t, script(t, toy(), "play"), nobody{}); harmless == want {
		t.Fatal("no seat crashes")
	} else if got := digest(t, script(t, apart, "play"), nobody{}); got != harmless {
		t.Errorf("digest %s isolated, %s in process", got, harmless)
	}
	for how, says := range map[string]*regexp.Regexp{
		"die": regexp.MustCompile("exit status 9"),
		"eat": regexp.MustCompile("out of memory|ThreadSanitizer failed to allocate"), // which is first under the race detector
	} {
		if how == "eat" && !wholeSets {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var n notes
			if got := digest(t, script(t, apart, how), &n); got != want {
				t.Errorf("digest %s of seats that killed their worker, %s of those that said they did", got, want)
			}
			if !says.MatchString(n.text.String()) {
				t.Errorf("no note says %q:\n%s", says, n.text.String())
			}
		})
	}
	for _, how := range []string{"die at start", "die observing"} {
		if how == "die at start" && !wholeSets {
			continue
		}
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var n notes
			digest(t, script(t, apart, how), &n)
			if text := n.text.String(); !strings.Contains(text, "exit status 9") || strings.Contains(text, "quarantined for the rest of the run") {
				t.Errorf("notes:\n%s", text)
			}
		})
	}
	t.Run("quarantined", func(t *testing.T) {
		t.Parallel()
		few := formats(plugins.Config{Restarts: 2})
		var n notes
		digest(t, script(t, few[len(few)-1], "die"), &n)
		if !strings.Contains(n.text.String(), "quarantined for the rest of the run") {
			t.Errorf("notes:\n%s", n.text.String())
		}
	})
}

// TestStuckCall has a call ignore its interrupt while another batch of the script waits
// for its next step. The call costs its seat the league, and its time limit once: it is
// not tried again. Batches whose process has ended close without an error. On a busy
// machine a process may also end that was only slow; with more time it is not.
func TestStuckCall(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Second
	for limit := 100 * time.Millisecond; ; limit *= 4 {
		u := getStuck(t, limit)
		if u.Starts == 1 && u.Failed == 1 {
			return
		}
		if t.Failed() || limit > most {
			t.Fatalf("usage %+v with a limit of %v, want one process, which failed", u, limit)
		}
	}
}

// getStuck returns the usage of a script after a call of it got stuck.
func getStuck(t *testing.T, limit time.Duration) plugins.Usage {
	t.Helper()
	const source = `
		function choose(t) {
			if (t.opponent === "P09") Array.prototype.fill.call({ length: 1e15 }, 0);
			return "odd";
		}`
	var f strategies.Factory
	for _, format := range formats(plugins.Config{}) {
		if format.Ext == ".js" {
			var err error
			if f, err = format.Load(t.Context(), "stuck", "stuck.js", []byte(source), budget.Limits{Time: limit}); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer f.Close()
	batches := make([]strategies.Batch, 3)
	for i := range batches {
		var err error
		if batches[i], err = f.(strategies.Batcher).NewBatch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step := func(b strategies.Batch, opponent string) *strategies.Step {
		s := &strategies.Step{
			Open:   []strategies.OpenSeat{{Seat: 1, Setup: strategies.Setup{Rand: game.NewRand(game.Key{})}}},
			Choose: []strategies.SeatTurn{{Seat: 1, Turn: strategies.Turn{Opponent: opponent}}},
		}
		if err := b.Step(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	step(batches[0], "P02")
	stuck := step(batches[1], "P09")
	if len(stuck.Failed) != 1 || !errors.Is(stuck.Failed[0].Err, strategies.ErrTimeout) {
		t.Errorf("the stuck call: %+v", stuck.Failed)
	}
	used := plugins.UsageOf(f)
	step(batches[2], "P02")
	for i, b := range batches {
		if err := b.Close(); err != nil {
			t.Errorf("close batch %d: %v", i, err)
		}
	}
	return used
}
