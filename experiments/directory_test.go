package experiments_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// The tests below play built-in strategies and one that fails and overruns now
// and then, through the arena, into run directories.

// clumsy fails and overruns by its own randomness, always in the same places.
type clumsy struct{}

func (clumsy) Info() strategies.Info {
	return strategies.Info{Name: "clumsy", Kind: strategies.Builtin}
}
func (clumsy) Close() error { return nil }
func (clumsy) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return clumsySeat{s}, nil
}

type clumsySeat struct{ strategies.Setup }

func (s clumsySeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	switch s.Rand.IntN(60) {
	case 0:
		return 7, nil
	case 1:
		panic("ouch")
	case 2:
		return 0, strategies.ErrBudget
	}
	return strategies.Choice(s.Rand.Float64()), nil
}
func (clumsySeat) Observe(context.Context, *strategies.Outcome) error { return nil }
func (clumsySeat) Close() error                                       { return nil }

func directPlan(seed uint64, runs int) (results.Plan, []strategies.Factory) {
	p := planOf(0, 3, runs)
	p.Seed = seed
	all := append([]strategies.Factory{clumsy{}}, builtin.All()[:6]...)
	for _, f := range all {
		p.Field = append(p.Field, results.Entrant{Name: f.Info().Name, Kind: string(f.Info().Kind)})
	}
	return p, all
}

// record plays a plan into a directory, or goes on with it, and returns what
// the run came to.
func record(ctx context.Context, t *testing.T, path string, plan results.Plan, field []strategies.Factory, workers int) (experiments.Outcome, error) {
	t.Helper()
	a, err := arena.New(plan, field, arena.Config{Block: 10})
	if err != nil {
		t.Fatal(err)
	}
	d, err := results.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		d, err = results.Create(path, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := experiments.Resume(plan, d.Leagues(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out, runErr := experiments.Run(ctx, plan, a, d, experiments.Config{Workers: workers, After: prefix})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return out, runErr
}

func leaguesOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path, results.LeaguesFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	plan, field := directPlan(9, 150)
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	want, err := record(t.Context(), t, first, plan, field, 1)
	if err != nil {
		t.Fatal(err)
	}
	bytes := leaguesOf(t, first)
	check := func(name string, got experiments.Outcome, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantOutcome(t, want, got)
		if leaguesOf(t, filepath.Join(dir, name)) != bytes {
			t.Errorf("%s: other bytes", name)
		}
	}
	for _, workers := range []int{2, 7} {
		name := string(rune('0' + workers))
		got, err := record(t.Context(), t, filepath.Join(dir, name), plan, field, workers)
		check(name, got, err)
	}
	batched := append([]strategies.Factory(nil), field...)
	batched[0], batched[3] = batch.Of(field[0]), batch.Of(field[3])
	got, err := record(t.Context(), t, filepath.Join(dir, "batched"), plan, batched, 2)
	check("batched", got, err)

	interrupted(t, filepath.Join(dir, "interrupted"), plan, field)
	got, err = record(t.Context(), t, filepath.Join(dir, "interrupted"), plan, field, 2)
	check("interrupted", got, err)

	other, _ := directPlan(10, 150)
	got, err = record(t.Context(), t, filepath.Join(dir, "other"), other, field, 2)
	if err != nil || got.Digest == want.Digest {
		t.Errorf("another seed: digest %s, as with the first seed, or error %v", got.Digest, err)
	}
}

// interrupted plays a plan in several goes. Each ends at some league, after
// which the file is cut somewhere in its last records, as by a kill.
func interrupted(t *testing.T, path string, plan results.Plan, field []strategies.Factory) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		ctx, cancel := context.WithCancel(t.Context())
		stopper := append([]strategies.Factory(nil), field...)
		stopper[1] = &counting{Factory: field[1], left: 5 + rng.IntN(60), stop: cancel}
		_, err := record(ctx, t, path, plan, stopper, 1)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		file := filepath.Join(path, results.LeaguesFile)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, max(info.Size()-rng.Int64N(300), 0)); err != nil {
			t.Fatal(err)
		}
	}
}

// counting calls stop when a number of seats have been made.
type counting struct {
	strategies.Factory
	left int
	stop func()
}

func (c *counting) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	if c.left--; c.left == 0 {
		c.stop()
	}
	return c.Factory.New(ctx, s)
}

// BenchmarkRun measures what a league costs besides its play: the smallest
// league there is, so that nothing hides behind matches.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct {
		name          string
		players, legs int
	}{{"2 players, 1 leg", 2, 1}, {"7 players, 10 legs", 7, 10}} {
		b.Run(size.name, func(b *testing.B) {
			plan, field := directPlan(1, 1)
			plan.Legs, plan.Field, field = size.legs, plan.Field[:size.players], field[:size.players]
			plan.Runs = 20_000 / (size.players * size.legs)
			a, err := arena.New(plan, field, arena.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := experiments.Run(b.Context(), plan, a, &plainSink{}, experiments.Config{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*plan.Runs), "ns/league")
		})
	}
}
