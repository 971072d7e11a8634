package sequential

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// TestHolds: a value is held exactly if it lies between the bounds of the interval, for
// both guarantees, for values that differ and for values that all agree.
func TestHolds(t *testing.T) {
	t.Parallel()
	shape := fairShape(3, 4)
	for _, g := range []Guarantee{Asymptotic, Finite} {
		tracker := newTracker(t, shape, Options{Rule: Rule{Kind: Best}, Guarantee: g, Level: 0.95})
		if !tracker.Holds(0, 0) || !tracker.Holds(0, shape.High) || tracker.Holds(0, -0.1) || tracker.Holds(0, shape.High+0.1) {
			t.Errorf("%s: without a league, not just the whole range holds", g)
		}
		r := rand.New(rand.NewPCG(1, 2))
		inside, outside := 0, 0
		for range 200 {
			attest.OK(t, tracker.Add([]int64{shape.Scale + r.Int64N(shape.Scale/2), 2 * shape.Scale, 0}))
			for player := range 3 {
				_, low, high := tracker.Interval(player)
				for _, x := range []float64{0, low, high, shape.High, shape.High * r.Float64(), low + (high-low)*r.Float64()} {
					if bound := x == 0 || x == shape.High; !bound && (math.Abs(x-low) < 1e-6 || math.Abs(x-high) < 1e-6) {
						continue // which are rounded
					}
					within := low <= x && x <= high
					if got := tracker.Holds(player, x); got != within {
						t.Fatalf("%s, %d leagues: %v is in [%v, %v], and Holds says %v", g, tracker.Leagues(), x, low, high, got)
					}
					if within {
						inside++
					} else {
						outside++
					}
				}
			}
		}
		if inside < 100 || outside < 100 {
			t.Errorf("%s: %d values inside, %d outside", g, inside, outside)
		}
	}
}

// TestDecided: the short way says at every league whether any decision is made, with and
// without a margin.
func TestDecided(t *testing.T) {
	t.Parallel()
	shape := fairShape(3, 4)
	for _, margin := range []float64{0, 0.2} {
		tracker := newTracker(t, shape, Options{Rule: Rule{Kind: Ranked}, Guarantee: Asymptotic, Level: 0.95, Margin: margin})
		r := rand.New(rand.NewPCG(3, 4))
		decided := 0
		for range 400 {
			spread := func(most float64) int64 { return int64(most * r.Float64() * float64(shape.Scale)) }
			points := []int64{shape.Scale + spread(0.5), shape.Scale + spread(0.5), shape.Scale + spread(0.42)}
			attest.OK(t, tracker.Add(points))
			d, want := tracker.Decisions(), false
			for i := range 3 {
				for j := range 3 {
					want = want || i != j && (d.P(i, j) <= 0.05 || margin > 0 && d.Within(i, j))
				}
			}
			if got := tracker.Decided(); got != want {
				t.Fatalf("margin %v, %d leagues: Decided is %v, want %v", margin, tracker.Leagues(), got, want)
			}
			if want {
				decided++
			}
		}
		if decided == 0 || decided == 400 {
			t.Errorf("margin %v: decided after %d of 400 leagues", margin, decided)
		}
	}
}
