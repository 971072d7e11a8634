package contrast_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// world is a field whose players say even with known chances.
type world struct {
	plan results.Plan
	even []float64
}

func newWorld(seed uint64, names []string, even ...float64) *world {
	w := &world{even: even, plan: results.Plan{
		Schema: results.PlanSchema, Runs: 1000, Legs: 5, Seed: seed, Draw: game.FairDraw().String(), Transport: "direct",
	}}
	for _, n := range names {
		w.plan.Field = append(w.plan.Field, results.Entrant{Name: n, Kind: "lua", Source: n + ".lua", Fingerprint: n})
	}
	return w
}

// changed is the world with another player in the place of one.
func (w *world) changed(i int, even float64) *world {
	v := *w
	v.even = slices.Clone(w.even)
	v.plan.Field = slices.Clone(w.plan.Field)
	v.even[i] = even
	v.plan.Field[i].Fingerprint += " new"
	return &v
}

// league plays one league. Every player's coins are its own, so that exchanging
// one shifts nobody else's.
func (w *world) league(index int) *results.League {
	coins := make([]*rand.Rand, len(w.even))
	for f := range coins {
		coins[f] = rand.New(rand.NewPCG(w.plan.Seed, uint64(1_000_000+1000*index+f)))
	}
	return analysistest.Play(w.plan, index, func(_ *results.League, _, f int) game.Side {
		if coins[f].Float64() < w.even[f] {
			return game.Side{Choice: game.Even}
		}
		return game.Side{Choice: game.Odd}
	}, rand.NewPCG(w.plan.Seed, uint64(index)))
}

func compare(t *testing.T, before, after *world, n, m int) contrast.Result {
	t.Helper()
	c := attest.Must(contrast.New(before.plan, after.plan))
	if c.Paired() {
		for i := range min(n, m) {
			attest.OK(t, c.AddPair(before.league(i), after.league(i)))
		}
		return c.Result(0.95)
	}
	for i := range n {
		attest.OK(t, c.AddBefore(before.league(i)))
	}
	for i := range m {
		attest.OK(t, c.AddAfter(after.league(i)))
	}
	return c.Result(0.95)
}

func effect(t *testing.T, r contrast.Result, name string, q analysis.Quantity, unchanged bool) contrast.Effect {
	t.Helper()
	for _, p := range r.Players {
		for _, e := range p.Effects {
			if p.Name == name && e.Measure.Quantity == q && e.Measure.Unchanged == unchanged {
				return e
			}
		}
	}
	t.Fatalf("no effect on %s of %s", q, name)
	return contrast.Effect{}
}

var names = []string{"a", "b", "c", "d"}

func TestExchangeOfOne(t *testing.T) {
	before := newWorld(1, names, 0.5, 0.5, 0, 0.2)
	after := before.changed(0, 1)
	r := compare(t, before, after, 300, 300)
	if !r.Paired || !r.Shared || r.Leagues != [2]int{300, 300} {
		t.Errorf("paired %v, shared %v, leagues %v", r.Paired, r.Shared, r.Leagues)
	}
	for i, p := range r.Players {
		if p.CodeChanged != (i == 0) {
			t.Errorf("code of %s changed: %v", p.Name, p.CodeChanged)
		}
	}
	// P(differ) of a against b, c, d was 1/2 each and becomes 1/2, 1 and 0.8.
	e := effect(t, r, "a", analysis.Differ, false)
	if want := 0.8 / 3; e.Verdict != analysis.Different || e.Difference.Low > want || e.Difference.High < want {
		t.Errorf("differ of a: %+v, want %.4f inside", e, want)
	}
	if e := effect(t, r, "a", analysis.Adjusted, false); math.Abs(2*e.Difference.Estimate-effect(t, r, "a", analysis.Differ, false).Difference.Estimate) > 1e-12 {
		t.Errorf("with a fair draw adjusted points move by half of the differ rate: %+v", e)
	}
	if e := effect(t, r, "b", analysis.Adjusted, false); e.Verdict != analysis.Undecided {
		t.Errorf("b says even half of the time, so nothing changes: %+v", e)
	}
	if e := effect(t, r, "c", analysis.Adjusted, false); e.Verdict != analysis.Different {
		t.Errorf("c meets somebody else: %+v", e)
	}
	for _, name := range []string{"b", "c", "d"} { // none of them learns
		if e := effect(t, r, name, analysis.Adjusted, true); e.Verdict != analysis.Equal || e.Difference.Estimate != 0 {
			t.Errorf("spill-over on %s: %+v", name, e)
		}
	}
	if e := effect(t, r, "a", analysis.Adjusted, true); e.Difference.Defined() || e.Verdict == analysis.Different || e.Corrected != 1 {
		t.Errorf("the exchanged one has no spill-over: %+v", e)
	}
	if r.Family != 15 {
		t.Errorf("family of %d, want 4 players times 4 measures but one", r.Family)
	}
}

// Two runs of one plan with different seeds differ by chance alone: the family of
// all effects is called changed in at most 5 % of comparisons.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(100, 300, 300)
	alarms := 0
	for k := range uint64(repetitions) {
		r := compare(t, newWorld(2*k+1, names, 0.5, 0.5, 0.1, 0.7), newWorld(2*k+2, names, 0.5, 0.5, 0.1, 0.7), 25, 40)
		for _, p := range r.Players {
			if slices.ContainsFunc(p.Effects, func(e contrast.Effect) bool { return e.Verdict == analysis.Different }) {
				alarms++
				break
			}
		}
	}
	// 15 of 300 are to be expected at most; 29 have a chance of one in a thousand.
	if alarms > attest.Repetitions(13, 28, 28) {
		t.Errorf("%d of %d comparisons of equals raise an alarm", alarms, repetitions)
	}
}

func TestChanges(t *testing.T) {
	before := newWorld(1, names, 0.5, 0.5, 0, 0.2)
	after := newWorld(2, []string{"a", "c", "e", "f", "g"}, 0.5, 0.5, 0.5, 0.5, 0.5)
	after.plan.Legs, after.plan.Draw, after.plan.Transport, after.plan.Runs = 7, "weights:1=2,2=1", "http", 9
	after.plan.Field[0].Fingerprint = "newer"
	r := compare(t, before, after, 3, 3)
	var what []string
	for _, c := range r.Plan {
		what = append(what, c.What+c.Player)
	}
	if want := []string{"seed", "legs", "draw", "transport", "runs", "field", "codea"}; !slices.Equal(what, want) {
		t.Errorf("changes %q, want %q", what, want)
	}
	if !slices.Equal(r.Gone, []string{"b", "d"}) || !slices.Equal(r.New, []string{"e", "f", "g"}) || len(r.Players) != 2 {
		t.Errorf("gone %q, new %q, %d players", r.Gone, r.New, len(r.Players))
	}
	if !r.Excluded || len(r.Players[0].Effects) != 2 {
		t.Errorf("ranks among 4 and among 5 are compared: %+v", r.Players[0])
	}
	other := newWorld(2, names, 0, 0, 0, 0).plan
	other.Field[0], other.Field[1] = other.Field[1], other.Field[0]
	if got := contrast.Changes(newWorld(2, names, 0, 0, 0, 0).plan, other); len(got) != 1 || got[0].After != "another order" {
		t.Errorf("another order of the field: %v", got)
	}
}

func TestFewLeaguesShowNothing(t *testing.T) {
	before := newWorld(1, names, 0, 0.5, 0, 0)
	for _, after := range []*world{before.changed(0, 1), newWorld(2, names, 1, 0.5, 0, 0)} {
		for n := range 3 {
			r := compare(t, before, after, n, n)
			for _, p := range r.Players {
				for _, e := range p.Effects {
					if e.Verdict == analysis.Different {
						t.Errorf("after %d leagues %s has changed: %+v", n, p.Name, e)
					}
				}
			}
		}
	}
}

// A player that was quarantined from the first league on was in no field.
func TestQuarantined(t *testing.T) {
	w, v := newWorld(1, names, 0, 0, 0, 0), newWorld(2, names, 0, 0, 0, 0)
	c := attest.Must(contrast.New(w.plan, v.plan))
	for i := range 4 {
		before, after := w.league(i), v.league(i)
		before.Notes = []results.Note{{Field: 0, Fault: game.FaultQuarantined}}
		if i > 1 {
			after.Notes = []results.Note{{Field: 2, Fault: game.FaultQuarantined}, {Field: 1, Fault: game.FaultQuarantined}}
		}
		attest.OK(t, c.AddBefore(before))
		attest.OK(t, c.AddAfter(after))
	}
	if got := c.Result(0.95).Quarantined; len(got[0]) > 0 || !slices.Equal(got[1], names[1:3]) {
		t.Errorf("quarantined %q, want %q in the second", got, names[1:3])
	}
}

func TestWrongLeagues(t *testing.T) {
	w, v := newWorld(1, names, 0, 0, 0, 0), newWorld(2, names, 0, 0, 0, 0)
	paired := attest.Must(contrast.New(w.plan, w.plan))
	independent := attest.Must(contrast.New(w.plan, v.plan))
	for what, err := range map[string]error{
		"two indices":          paired.AddPair(w.league(1), w.league(2)),
		"half a pair":          paired.AddBefore(w.league(0)),
		"pairs of two seeds":   independent.AddPair(w.league(0), v.league(0)),
		"a league of no seats": independent.AddAfter(&results.League{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
