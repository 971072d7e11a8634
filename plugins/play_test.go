package plugins_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// nobody takes the leagues of a run.
type nobody struct{}

func (nobody) Append(*results.League) error { return nil }

func plan(runs, legs int, factories []strategies.Factory) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Draw: "uniform:1-10", Transport: "direct"}
	for i := range factories {
		p.Field = append(p.Field, results.Entrant{Name: string(rune('a' + i))})
	}
	return p
}

// played plays an experiment and returns what came of it.
func played(tb testing.TB, p results.Plan, factories []strategies.Factory, o arena.Config, to experiments.Sink) experiments.Outcome {
	tb.Helper()
	a, err := arena.New(p, factories, o)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := experiments.Run(tb.Context(), p, a, to, experiments.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// TestUsage looks at what is known of processes that work, and of ones that die.
func TestUsage(t *testing.T) {
	t.Parallel()
	there := open(t, plugin("markov-2", "ctw"))
	played(t, plan(200, 4, there), there, arena.Config{}, nobody{})
	u := plugins.UsageOf(there[0])
	if u.CPU <= 0 || u.CPU > time.Hour || u.Starts != 1 || u.Failed != 0 || u.Aside || u.Process != "builtins" {
		t.Errorf("usage %+v of one process that has worked", u)
	}
	if runtime.GOOS == "linux" && (u.Peak < 1<<20 || u.Peak > 1<<30) {
		t.Errorf("it is said to have had %d bytes resident", u.Peak)
	}
	if v := plugins.UsageOf(there[1]); v.Process != u.Process || v.Starts != 1 {
		t.Errorf("usage %+v of the strategy that shares the process", v)
	}
	dies := open(t, plugins.Config{Command: []string{os.Args[0], "misbehave", "dead on arrival", t.TempDir()}, Restarts: 1, Backoff: -1})
	for range 3 {
		if s, err := dies[0].New(context.Background(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}}); err == nil {
			_, _ = s.Choose(t.Context(), &strategies.Turn{Opponent: "P02"})
			_ = s.Close()
		}
	}
	if u := plugins.UsageOf(dies[0]); !u.Aside || u.Failed != 2 || u.Starts != 2 {
		t.Errorf("usage %+v of a plugin that has died twice and may be restarted once", u)
	}
}

// slow is a strategy that keeps everybody waiting, within the limit of every call.
type slow struct{ strategies.Factory }

func (f slow) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	return slowSeat{made}, err
}

const slowness = 30 * time.Millisecond

type slowSeat struct{ strategies.Strategy }

func (s slowSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	time.Sleep(slowness)
	return s.Strategy.Choose(ctx, t)
}

// faultsOf collects the kinds of fault by player.
type faultsOf map[int][]game.Fault

func (f faultsOf) Append(l *results.League) error {
	for _, n := range l.Notes {
		f[n.Field] = append(f[n.Field], n.Fault)
	}
	return nil
}

// A plugin that keeps the run waiting within the limits of its calls is quarantined, and a
// league does not wait for it for long; others in its league lose nothing.
func TestSlowPluginIsQuarantined(t *testing.T) {
	t.Parallel()
	for legs, kind := range map[int]game.Fault{2: game.FaultQuarantined, 30: game.FaultTimeout} {
		late := open(t, plugins.Config{Command: []string{os.Args[0], "slow", "random"}, Name: "slow", CallTime: 200 * time.Millisecond})
		others := open(t, plugin("markov-2"))
		factories := append(late, others...)
		faults := faultsOf{}
		out := played(t, plan(5, legs, factories), factories, arena.Config{}, faults)
		if !slices.Equal(out.Quarantined, []int{0}) || out.Reproducible || len(faults[1]) > 0 || !slices.Contains(faults[0], kind) {
			t.Errorf("%d legs: quarantined %v, reproducible %t, faults %v", legs, out.Quarantined, out.Reproducible, faults)
		}
	}
}

// TestNeverStarts has a plugin that may be restarted any number of times and never
// starts: it is quarantined, instead of being started forever.
func TestNeverStarts(t *testing.T) {
	t.Parallel()
	all := open(t, plugins.Config{
		Command: []string{os.Args[0] + "-is-not-there"}, Restarts: 1 << 30, Backoff: -1, NoTLS: true, Strategies: []strategies.Info{{Name: "x", Kind: strategies.Plugin}},
	})
	if _, err := all[0].New(t.Context(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}}); !errors.Is(err, strategies.ErrQuarantined) {
		t.Errorf("error %v, want quarantine", err)
	}
}

func newSeat(t *testing.T, f strategies.Factory) strategies.Strategy {
	t.Helper()
	key := game.Key{1, 2}
	s, err := f.New(t.Context(), strategies.Setup{ID: "P01", Name: "P01", Field: []string{"P01", "P02"}, Key: key, Rand: game.NewRand(key)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A call that its caller no longer waits for ends the process if the plugin
// ignores that.
func TestCallStopped(t *testing.T) {
	t.Parallel()
	all := open(t, plugins.Config{
		Command:  []string{os.Args[0], "misbehave", "hang", t.TempDir()},
		CallTime: time.Hour, StartTimeout: 5 * time.Minute,
	})
	s := newSeat(t, all[0])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	turn := strategies.Turn{Match: 1, MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleA}
	var err error
	for i := 0; err == nil && i < 1000; i++ { // it hangs after some choices
		_, err = s.Choose(ctx, &turn)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	_ = s.Close()
}

// TestNodeExample plays the example in JavaScript, and beside it the same
// strategy in Go.
func TestNodeExample(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	file, err := filepath.Abs("examples/copycat-node/copycat.mjs")
	if err != nil {
		t.Fatal(err)
	}
	there := open(t, plugins.Config{Command: []string{node, file}, NoTLS: true})
	if len(there) != 1 || there[0].Info().Name != "copycat" || there[0].Info().Kind != strategies.Plugin {
		t.Fatalf("it plays %+v", there)
	}
	_, err = plugins.Open(t.Context(), plugins.Config{Command: []string{node, file}})
	if err == nil || !strings.Contains(err.Error(), "does not support mTLS") {
		t.Errorf("without mTLS where it is wanted: %v", err)
	}
	others := named([]string{"frequency", "random", "alternate"})
	p := plan(100, 6, append(others, nil))
	want := played(t, p, append([]strategies.Factory{copycat{}}, others...), arena.Config{}, nobody{})
	got := played(t, p, append(there, others...), arena.Config{}, nobody{})
	if got.Digest != want.Digest {
		t.Errorf("digest %s of the example, %s of the same in Go", got.Digest, want.Digest)
	}
}

// copycat is the strategy of the example.
type copycat struct{}

func (copycat) Info() strategies.Info { return strategies.Info{Name: "copycat"} }
func (copycat) Close() error          { return nil }
func (copycat) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return copycatSeat{}, nil
}

type copycatSeat map[string]strategies.Choice

func (s copycatSeat) Close() error { return nil }

func (s copycatSeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if c, met := s[t.Opponent]; met {
		return c, nil
	}
	return 0.5, nil
}

func (s copycatSeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity {
		s[o.Opponent] = strategies.Play(o.OpponentChoice)
	}
	return nil
}
