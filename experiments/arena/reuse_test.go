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

// reuseField is a field whose first player is edited.
func reuseField(tb testing.TB, edited strategies.Factory) []strategies.Factory {
	return append([]strategies.Factory{edited}, mixed(tb, 6)[1:]...) // without the erratic one
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
// leagues as without, to the byte, and the others are asked only where it matters.
func TestReuse(t *testing.T) {
	t.Parallel()
	const runs = 400
	before := reusePlan(6, runs, "first")
	folder := filepath.Join(t.TempDir(), "before")
	recordRun(t, folder, before, newArena(t, before, arena.Config{}, reuseField(t, moody(0))...), 2)
	short := filepath.Join(t.TempDir(), "short")
	shortPlan := reusePlan(6, 100, "first")
	recordRun(t, short, shortPlan, newArena(t, shortPlan, arena.Config{}, reuseField(t, moody(0))...), 2)
	failing := func() *script {
		s := moody(0)
		s.observe = func(_ context.Context, setup strategies.Setup, _ *strategies.Outcome) error {
			if setup.Rand.IntN(1500) == 0 {
				return errBoom
			}
			return nil
		}
		return s
	}
	for _, c := range []struct {
		name           string
		folder         string
		edited         func() *script
		probed, differ [2]int // at least and at most
	}{
		{"an edit that changes nothing", folder, func() *script { return moody(0) }, [2]int{runs, runs}, [2]int{0, 0}},
		{"one that changes some leagues", folder, func() *script { return moody(500) }, [2]int{runs, runs}, [2]int{5, 50}},
		{"one that fails in some", folder, failing, [2]int{runs, runs}, [2]int{1, 50}},
		{"one that changes all", folder, func() *script { return moody(2) }, [2]int{64, 200}, [2]int{64, 200}},
		{"with fewer leagues before", short, func() *script { return moody(500) }, [2]int{100, 100}, [2]int{1, 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			after := reusePlan(6, runs, "second")
			want := recordRun(t, filepath.Join(t.TempDir(), "full"), after, newArena(t, after, arena.Config{}, reuseField(t, c.edited())...), 2)
			for _, workers := range []int{1, 3} {
				changed, ok := arena.Changed(before, after)
				if !ok || slices.Index(changed, true) != 0 || slices.Contains(changed[1:], true) {
					t.Fatalf("changed %v, %v", changed, ok)
				}
				got, reuse := reuseRun(t, c.folder, after, reuseField(t, c.edited()), workers)
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

// TestReuseAfterFailures plays leagues again in which anybody failed before.
func TestReuseAfterFailures(t *testing.T) {
	t.Parallel()
	const runs = 100
	before := reusePlan(6, runs, "first")
	folder := filepath.Join(t.TempDir(), "before")
	field := func(edited strategies.Factory) []strategies.Factory {
		list := mixed(t, 6)
		list[0], list[1] = edited, list[0] // erratic
		return list
	}
	recordRun(t, folder, before, newArena(t, before, arena.Config{}, field(moody(0))...), 2)
	after := reusePlan(6, runs, "second")
	want := recordRun(t, filepath.Join(t.TempDir(), "full"), after, newArena(t, after, arena.Config{}, field(moody(500))...), 2)
	got, reuse := reuseRun(t, folder, after, field(moody(500)), 2)
	if got != want {
		t.Errorf("digest %s, want %s as played in full", got, want)
	}
	if probed, _ := reuse.Probed(); probed == 0 || probed > runs/2 {
		t.Errorf("%d of %d leagues were asked about; erratic fails in most", probed, runs)
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

// What an edited strategy costs is that of its new code, whatever it plays.
func TestReuseCountsCosts(t *testing.T) {
	t.Parallel()
	versions := map[string]func() strategies.Factory{
		"cheap": func() strategies.Factory { return moody(0) }, "costly": func() strategies.Factory { return costly{moody(0)} },
	}
	for was, before := range versions {
		for is, after := range versions {
			folder := t.TempDir()
			first, second := reusePlan(6, 20, "first"), reusePlan(6, 20, "second")
			recordRun(t, filepath.Join(folder, "before"), first, newArena(t, first, arena.Config{}, reuseField(t, before())...), 1)
			want := recordRun(t, filepath.Join(folder, "full"), second, newArena(t, second, arena.Config{}, reuseField(t, after())...), 1)
			if got, _ := reuseRun(t, filepath.Join(folder, "before"), second, reuseField(t, after()), 1); got != want {
				t.Errorf("%s, and then %s: digest %s, want %s as played in full", was, is, got, want)
			}
		}
	}
}
