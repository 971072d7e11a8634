package population

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
)

func randOf(g *Game) *rand.PCG { return rand.NewPCG(g.seed, 1) }

// draws returns placings of members with some worths, without ties.
func draws(r *rand.Rand, worth []float64, n int) []Placing {
	var list []Placing
	for range n {
		left := make([]int, len(worth))
		for i := range left {
			left[i] = i
		}
		var p Placing
		for len(left) > 0 {
			total := 0.0
			for _, i := range left {
				total += worth[i]
			}
			u, at := r.Float64()*total, 0
			for at < len(left)-1 && u >= worth[left[at]] {
				u -= worth[left[at]]
				at++
			}
			p.Groups = append(p.Groups, []int{left[at]})
			left = slices.Delete(left, at, at+1)
		}
		list = append(list, p)
	}
	return list
}

// TestWorthsCover: 95 % intervals of worths, alone and added up, cover the truth in about
// 95 of 100 experiments.
func TestWorthsCover(t *testing.T) {
	t.Parallel()
	const repetitions = 200
	truth := []float64{0.5, 0.3, 0.15, 0.05}
	r := rand.New(rand.NewPCG(1, 1))
	groups := [][]int{{0}, {1}, {2}, {3}, {1, 3}}
	covered := make([]int, len(groups))
	for range repetitions {
		w, err := PlackettLuce(len(truth), draws(r, truth, 100))
		if err != nil {
			t.Fatal(err)
		}
		for k, members := range groups {
			sum := 0.0
			for _, i := range members {
				sum += truth[i]
			}
			if e := w.Of(members, 0.95); e.Low <= sum && sum <= e.High {
				covered[k]++
			}
			if e := w.Of(members, 0.95); !(e.Low > 0 && e.Low < e.Estimate && e.Estimate < e.High && e.High < 1) || e.Method != analysis.BySandwich {
				t.Fatalf("%v: %+v", members, e)
			}
		}
	}
	for k, n := range covered {
		if n < 180 || n > 199 { // 3.2 standard errors below
			t.Errorf("worth of %v: covered in %d of %d experiments", groups[k], n, repetitions)
		}
	}
}

// TestWorthsOfSameLeagues: leagues that each count four times say no more per league: the
// interval narrows as with four times the leagues, and with it at other levels.
func TestWorthsOfSameLeagues(t *testing.T) {
	t.Parallel()
	placings := draws(rand.New(rand.NewPCG(2, 2)), []float64{0.5, 0.3, 0.2}, 200)
	for k := 0; k < len(placings); k += 5 { // some ties
		p := &placings[k]
		p.Groups = [][]int{slices.Concat(p.Groups[0], p.Groups[1]), p.Groups[2]}
	}
	width := func(list []Placing, level float64) float64 {
		w, err := PlackettLuce(3, list)
		if err != nil {
			t.Fatal(err)
		}
		e := w.Of([]int{1}, level)
		logOdds := func(x float64) float64 { return math.Log(x / (1 - x)) }
		return logOdds(e.High) - logOdds(e.Low)
	}
	one := width(placings, 0.95)
	if four := width(slices.Concat(placings, placings, placings, placings), 0.95); math.Abs(one/four-2) > 0.02 {
		t.Errorf("width %v, and %v with four times the leagues", one, four)
	}
	weighted := slices.Clone(placings)
	for k := range weighted {
		weighted[k].Weight = 4
	}
	if four := width(weighted, 0.95); math.Abs(one/four-2) > 0.02 {
		t.Errorf("width %v, and %v where each league was seen four times", one, four)
	}
	if wider := width(placings, 0.99); math.Abs(wider/one-2.5758/1.96) > 1e-3 {
		t.Errorf("width %v at 95 %%, and %v at 99 %%", one, wider)
	}
}

// TestWorthsOfAll: all together are certain to have the first; without a covariance
// nothing is known of some.
func TestWorthsOfAll(t *testing.T) {
	t.Parallel()
	w, err := PlackettLuce(3, draws(rand.New(rand.NewPCG(3, 3)), []float64{0.5, 0.3, 0.2}, 60))
	if err != nil {
		t.Fatal(err)
	}
	if e := w.Of([]int{0, 1, 2}, 0.95); math.Abs(e.Low-1) > 1e-9 || math.Abs(e.High-1) > 1e-9 {
		t.Errorf("all of them: %+v", e)
	}
	two, third := w.Of([]int{0, 1}, 0.95), w.Of([]int{2}, 0.95)
	if math.Abs(two.Low+third.High-1) > 1e-9 || math.Abs(two.High+third.Low-1) > 1e-9 {
		t.Errorf("two of three: %+v, and the third: %+v", two, third)
	}
	w.Covariance = nil
	if e := w.Of([]int{2}, 0.95); e.Low != 0 || e.High != 1 || e.Method != analysis.ByRange {
		t.Errorf("without a covariance: %+v", e)
	}
}
