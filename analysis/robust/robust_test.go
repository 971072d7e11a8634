package robust_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// estimates are those of a field whose pairs have these points, the first by 1/100.
func estimates(points [][]float64, order ...int) *analysis.Estimates {
	e := &analysis.Estimates{Level: 0.95, Leagues: 100, Fair: true, Players: make([]analysis.Player, len(points)), Order: order}
	for i := range points {
		for j := i + 1; j < len(points); j++ {
			e.Pairs = append(e.Pairs, analysis.Pair{A: i, B: j, AdjustedA: points[i][j] / 100, AdjustedB: points[j][i] / 100})
		}
	}
	return e
}

func symmetric() *analysis.Estimates {
	return estimates([][]float64{
		{0, 140, 150, 110, 112},
		{140, 0, 148, 112, 110},
		{150, 148, 0, 120, 104},
		{110, 112, 120, 0, 138},
		{112, 110, 104, 138, 0},
	}, 2, 0, 1, 3, 4)
}

// The expected values were computed in exact fractions by a program of thirty lines
// that shares no code with the package: all 5^5 ways to draw five opponents were
// enumerated, but for the five with one opponent only.
func TestResampledFieldsAgreeWithEnumeration(t *testing.T) {
	r := robust.Of(symmetric(), 7)
	first := []float64{0.2008547, 0.0750534, 0.5510150, 0.1346154, 0.0384615}
	spread := []float64{0.0898553, 0.0866364, 0.1000947, 0.0571111, 0.0674163}
	places := [][2]int{{1, 5}, {1, 5}, {1, 5}, {1, 5}, {1, 5}}
	if r.Resamples != 4000 {
		t.Fatalf("%d resamples, want 4000", r.Resamples)
	}
	for i, p := range r.Players {
		attest.Near(t, p.First, first[i], 4*math.Sqrt(first[i]*(1-first[i])/4000), "share of fields in which %d is first", i)
		attest.Near(t, p.Error, spread[i], 0.06*spread[i], "standard deviation of %d", i)
		if p.Places != places[i] {
			t.Errorf("player %d: places %v, enumeration says %v", i, p.Places, places[i])
		}
	}
	if again := robust.Of(symmetric(), 7); !cmp.Equal(r.Players, again.Players) {
		t.Errorf("the same seed gives other resamples:\n%s", cmp.Diff(r.Players, again.Players))
	}
	if other := robust.Of(symmetric(), 8); cmp.Equal(r.Players, other.Players) {
		t.Error("another seed gives the same resamples")
	}
}

// Computed by the same program. Without 3 the players 0 and 2 have equal points and are
// both first; the first of the experiment is named.
func TestFieldsWithoutSome(t *testing.T) {
	r := robust.Of(symmetric(), 7)
	nan := math.NaN()
	want := []robust.Reduced{
		{Out: []int{0}, First: 2, Place: 1, Leads: true, Points: []float64{nan, 37. / 30, 1.24, 37. / 30, 3.52 / 3}},
		{Out: []int{1}, First: 2, Place: 1, Leads: true, Points: []float64{1.24, nan, 3.74 / 3, 3.68 / 3, 1.18}},
		{Out: []int{3}, First: 2, Place: 1, Points: []float64{1.34, 3.98 / 3, 1.34, nan, 3.26 / 3}},
		{Out: []int{4}, First: 2, Place: 1, Leads: true, Points: []float64{4. / 3, 4. / 3, 4.18 / 3, 1.14, nan}},
		{Out: []int{0, 1}, First: 3, Place: 3, Ahead: true, Leads: true, Points: []float64{nan, nan, 1.12, 1.29, 1.21}},
		{Out: []int{3, 4}, First: 2, Place: 1, Leads: true, Points: []float64{1.45, 1.44, 1.49, nan, nan}},
	}
	close := cmp.Comparer(func(x, y float64) bool {
		return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-9
	})
	if diff := cmp.Diff(want, r.Without, close); diff != "" {
		t.Errorf("fields without some (-want +got):\n%s", diff)
	}
	if want := [][]int{{0, 1, 2}, {3, 4}}; !cmp.Equal(r.Families, want) {
		t.Errorf("families %v, want %v", r.Families, want)
	}
	one := [][2]int{{1, 3}, {1, 3}, {1, 2}, {2, 4}, {3, 5}}
	family := [][2]int{{2, 3}, {3, 3}, {1, 3}, {1, 4}, {1, 5}}
	for i, p := range r.Players {
		if p.WithoutOne != one[i] || p.WithoutFamily != family[i] {
			t.Errorf("player %d: places %v and %v, want %v and %v", i, p.WithoutOne, p.WithoutFamily, one[i], family[i])
		}
	}
}

// Copies of one strategy are a family, whatever part of the field they are, and a
// biased draw gives the two players of a match unequal points.
func TestCopiesAreAFamily(t *testing.T) {
	const copies, others = 6, 2
	points := make([][]float64, copies+others)
	for i := range points {
		points[i] = make([]float64, len(points))
		for j := range points[i] {
			points[i][j] = 125 + float64((i*7+j*3)%5)/20
			if i >= copies || j >= copies {
				points[i][j] = 100 + 25*float64(max(i, j)-copies) + float64(i%2)
			}
		}
	}
	r := robust.Of(estimates(points, 0, 1, 2, 3, 4, 5, 6, 7), 1)
	if !slices.ContainsFunc(r.Families, func(f []int) bool { return slices.Contains(f, 0) && slices.Contains(f, 5) }) {
		t.Errorf("families %v, want the six copies in one", r.Families)
	}
}

func TestTooLittleToVary(t *testing.T) {
	three := estimates([][]float64{{0, 120, 130}, {120, 0, 110}, {130, 110, 0}}, 0, 1, 2)
	once := symmetric()
	once.Leagues = 1
	gone := symmetric()
	gone.Players[1].Matches, gone.Players[1].Faults = 100, []analysis.Fault{{Kind: game.FaultQuarantined, Count: 40, League: 60}}
	for name, e := range map[string]*analysis.Estimates{"three strategies": three, "one league": once, "two fields": gone} {
		if r := robust.Of(e, 1); r != nil {
			t.Errorf("%s: %+v, want nothing", name, r)
		}
	}
}

// tossers plays leagues of players that say even with these chances.
func tossers(t *testing.T, chances []float64, leagues int, seed uint64) analysis.Estimates {
	t.Helper()
	f := calibration.Field{Legs: 2, Leagues: leagues}
	for _, p := range chances {
		f.Players = append(f.Players, calibration.Player{Even: p})
	}
	plan := f.Plan(seed)
	acc, err := analysis.NewAccumulator(plan)
	if err == nil {
		err = f.Play(t.Context(), plan, func(l *results.League) error { return acc.Add(*l) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return acc.Verdicts(0.95)
}

// TestOtherFieldsErrors: among eight equal players the first of a run is first in few more
// than an eighth of other fields, and who leads without some is said with evidence only.
func TestOtherFieldsErrors(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(15, 30, 500)
	equal := slices.Repeat([]float64{0.5}, 8)
	for name, chances := range map[string][]float64{"equal": equal, "unlike": {0.1, 0.12, 0.15, 0.35, 0.6, 0.75, 0.8, 0.9}} {
		truth := func(i int, out []int) float64 {
			sum, n := 0.0, 0.0
			for j, q := range chances {
				if j != i && !slices.Contains(out, j) {
					sum, n = sum+1+(chances[i]*(1-q)+q*(1-chances[i]))/2, n+1
				}
			}
			return sum / n
		}
		wrong, naive, said, share := 0, 0, 0, 0.0
		for rep := range repetitions {
			e := tossers(t, chances, 100, uint64(rep)+1)
			r := robust.Of(&e, uint64(rep))
			first := e.Order[0]
			share += r.Players[first].First
			anyWrong, anyNaive := false, false
			for _, x := range r.Without {
				leads := true
				for j := range chances {
					leads = leads && (j == x.First || slices.Contains(x.Out, j) || truth(x.First, x.Out) > truth(j, x.Out)+1e-9)
				}
				anyNaive = anyNaive || x.First != first && !leads
				said += attest.One(x.Ahead || x.Leads)
				anyWrong = anyWrong || x.Leads && !leads || x.Ahead && !(truth(x.First, x.Out) > truth(first, x.Out)+1e-9)
			}
			wrong += attest.One(anyWrong)
			naive += attest.One(anyNaive)
		}
		n := float64(repetitions)
		t.Logf("%s, of %d: share of the first %.3f; wrong %d, without evidence %d, said %d", name, repetitions, share/n, wrong, naive, said)
		if most := n*0.05 + 2*math.Sqrt(n*0.05*0.95); float64(wrong) > most {
			t.Errorf("%s: a wrong leader in %d of %d", name, wrong, repetitions)
		}
		if name == "equal" && share/n > 0.2 {
			t.Errorf("the first of equals is first in %.3f of other fields", share/n)
		}
		if name == "unlike" && said == 0 {
			t.Error("nothing is ever said")
		}
	}
}
