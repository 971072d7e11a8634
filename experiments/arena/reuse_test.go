package arena_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// moody learns and plays by chance; in one of rare choices it plays the opposite of
// what it would play with rare 0.
func moody(rare int) *script {
	return &script{choose: func(_ context.Context, s strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
		c := strategies.Choice(s.Rand.IntN(2))
		if t.Wins > t.Losses {
			c = strategies.Odd
		}
		if rare > 0 && s.Rand.IntN(rare) == 0 {
			c = 1 - c
		}
		return c, nil
	}}
}

func reusePlan(players, runs int, version string) results.Plan {
	plan := planOf(players, 4, runs)
	for i := range plan.Field {
		plan.Field[i].Fingerprint = fmt.Sprint("code ", i)
	}
	plan.Field[0].Fingerprint = version
	return plan
}

// recordRun plays a plan into a folder and returns its digest.
func recordRun(t *testing.T, folder string, plan results.Plan, driver experiments.Driver, workers int) string {
	t.Helper()
	dir, err := results.Create(folder, plan)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := experiments.Run(t.Context(), plan, driver, dir, experiments.Config{Workers: workers})
	if err = errors.Join(err, dir.Close()); err != nil {
		t.Fatal(err)
	}
	return outcome.Digest
}

// reuseRun plays a plan with the leagues of the run in before, whose first player was another.
func reuseRun(t *testing.T, before string, after results.Plan, field []strategies.Factory, workers int) (digest string, reuse *arena.Reuse) {
	t.Helper()
	changed := make([]bool, len(field))
	changed[0] = true
	reuse, err := arena.NewReuse(newArena(t, after, arena.Config{}, field...), after, field, changed,
		func() (*results.Reader, error) { return results.OpenReader(before) }, arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return recordRun(t, filepath.Join(t.TempDir(), "reused"), after, reuse, workers), reuse
}

// TestReuse: with the leagues of the version before, an edited strategy plays the same
// leagues as without, to the byte, and the others are asked only where it matters: in
// leagues in which nobody failed before. What it costs is that of its new code.
func TestReuse(t *testing.T) {
	t.Parallel()
	const runs = 400
	failing := moody(0)
	failing.observe = func(_ context.Context, setup strategies.Setup, _ *strategies.Outcome) error {
		if setup.Rand.IntN(1500) == 0 {
			return errBoom
		}
		return nil
	}
	for name, c := range map[string]struct {
		before, after  strategies.Factory
		other          strategies.Factory // the second player; a sound one if it is nil
		runs           int                // before
		probed, differ [2]int             // at least and at most
	}{
		"an edit that changes nothing":  {moody(0), moody(0), nil, runs, [2]int{runs, runs}, [2]int{0, 0}},
		"one that changes some leagues": {moody(0), moody(500), nil, runs, [2]int{runs, runs}, [2]int{5, 50}},
		"one that fails in some":        {moody(0), failing, nil, runs, [2]int{runs, runs}, [2]int{1, 50}},
		"one that changes all":          {moody(0), moody(2), nil, runs, [2]int{64, 200}, [2]int{64, 200}},
		"with fewer leagues before":     {moody(0), moody(500), nil, 100, [2]int{100, 100}, [2]int{1, 20}},
		"with failures before":          {moody(0), moody(500), erratic(), runs, [2]int{1, runs / 2}, [2]int{0, runs}},
		"costly from now on":            {moody(0), costly{moody(0)}, nil, 20, [2]int{0, runs}, [2]int{0, runs}},
		"costly before":                 {costly{moody(0)}, moody(0), nil, 20, [2]int{0, runs}, [2]int{0, runs}},
		"costly":                        {costly{moody(0)}, costly{moody(0)}, nil, 20, [2]int{0, runs}, [2]int{0, runs}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field := func(edited strategies.Factory) []strategies.Factory {
				all := append([]strategies.Factory{edited}, mixed(t, 6)[1:]...) // without the erratic one
				if c.other != nil {
					all[1] = c.other
				}
				return all
			}
			before, after := reusePlan(6, c.runs, "first"), reusePlan(6, runs, "second")
			folder := filepath.Join(t.TempDir(), "before")
			recordRun(t, folder, before, newArena(t, before, arena.Config{}, field(c.before)...), 2)
			want := recordRun(t, filepath.Join(t.TempDir(), "full"), after, newArena(t, after, arena.Config{}, field(c.after)...), 2)
			for _, workers := range []int{1, 3} {
				changed, ok := arena.Changed(before, after)
				if !ok || slices.Index(changed, true) != 0 || slices.Contains(changed[1:], true) {
					t.Fatalf("changed %v, %v", changed, ok)
				}
				got, reuse := reuseRun(t, folder, after, field(c.after), workers)
				if got != want {
					t.Errorf("%d workers: digest %s, want %s as played in full", workers, got, want)
				}
				probed, differ := reuse.Probed()
				if probed < c.probed[0] || probed > c.probed[1] || differ < c.differ[0] || differ > c.differ[1] {
					t.Errorf("%d workers: %d leagues were asked about and %d differ, want %v and %v", workers, probed, differ, c.probed, c.differ)
				}
			}
		})
	}
}

// TestReuseAsksNobodyElse: players whose code did not change are not called in leagues
// that stay.
func TestReuseAsksNobodyElse(t *testing.T) {
	t.Parallel()
	before := reusePlan(4, 100, "first")
	field := func(edited, other *script) []strategies.Factory {
		return []strategies.Factory{edited, other, moody(0), moody(0)}
	}
	folder := filepath.Join(t.TempDir(), "before")
	recordRun(t, folder, before, newArena(t, before, arena.Config{}, field(moody(0), moody(0))...), 1)
	after, other, edited := reusePlan(4, 100, "second"), moody(0), moody(0)
	reuseRun(t, folder, after, field(edited, other), 1)
	if len(other.calls) != 0 || len(edited.calls) == 0 || edited.open != 0 {
		t.Errorf("%d calls of an unchanged player and %d of the edited one, %d of whose seats are open", len(other.calls), len(edited.calls), edited.open)
	}
}

// TestChanged names what keeps leagues from being taken over.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*results.Plan){
		"seed":  func(p *results.Plan) { p.Seed++ },
		"legs":  func(p *results.Plan) { p.Legs++ },
		"draw":  func(p *results.Plan) { p.Draw = "1=1,2=3" },
		"field": func(p *results.Plan) { p.Field = p.Field[:3] },
		"all edited": func(p *results.Plan) {
			p.Field = []results.Entrant{{Fingerprint: "a"}, {Fingerprint: "b"}, {Fingerprint: "c"}, {Fingerprint: "d"}}
		},
		"unknown":     func(p *results.Plan) { p.Field = make([]results.Entrant, 4) },
		"a part":      func(p *results.Plan) { p.Shard = &results.Shard{} },
		"others swap": func(p *results.Plan) { slices.Reverse(p.Field) },
	} {
		after := reusePlan(4, 10, "second")
		change(&after)
		if changed, ok := arena.Changed(reusePlan(4, 10, "first"), after); ok {
			t.Errorf("%s: leagues would be taken over, changed %v", name, changed)
		}
	}
}

// costly is a strategy that costs too much.
type costly struct{ strategies.Factory }

func (c costly) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := c.Factory.New(ctx, s)
	return costlySeat{made}, err
}

type costlySeat struct{ strategies.Strategy }

func (costlySeat) Spent() strategies.Spent { return strategies.Spent{Share: 3000, Exact: true} }
