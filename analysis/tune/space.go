// Package tune searches for the best values of a strategy's parameters, and tests what it
// has found on fresh leagues.
//
// A Search asks for evaluations: the score of a candidate in a block of leagues. All
// candidates play the same blocks in the same order, so that their differences do not
// contain what the blocks have in common. Few candidates race: one falls out when an
// always-valid test shows that another is better. Many are chosen by a model of the
// surface, a Gaussian process, each where the augmented expected improvement of D. Huang et
// al. (Journal of Global Optimization 34 (2006), 441-466) is largest.
//
// The score of the best candidate in the search is too good, because it was chosen by it.
// A Confirmation compares it with the old values by a sequential probability ratio test in
// leagues that no candidate has seen.
//
// Equal seeds and scores give equal requests.
package tune

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Axis is one parameter. A word is its place among the words.
type Axis struct {
	Name      string
	Low, High float64
	Whole     bool
	Words     int // how many; 0 for a number
}

// Point has the values of a candidate, one for each axis.
type Point []float64

// levels is the number of values that the search distinguishes.
func (a Axis) levels() int {
	switch {
	case a.Words > 0:
		return a.Words
	case a.Whole:
		return int(min(a.High-a.Low, 1e6)) + 1
	}
	return 200
}

// at returns the value at a share of the range: a whole number or one with few decimals.
func (a Axis) at(share float64) float64 {
	share = min(max(share, 0), 1)
	if a.Words > 0 {
		return math.Floor(min(share*float64(a.Words), float64(a.Words-1)))
	}
	x := a.Low + share*(a.High-a.Low)
	if a.Whole {
		return min(max(math.Round(x), a.Low), a.High)
	}
	digits := math.Ceil(2 - math.Log10(a.High-a.Low))
	if scale := math.Pow(10, math.Abs(digits)); digits >= 0 {
		x = math.Round(x*scale) / scale
	} else {
		x = math.Round(x/scale) * scale
	}
	return min(max(x, a.Low), a.High)
}

// share is the opposite of at.
func (a Axis) share(x float64) float64 {
	if a.Words > 0 {
		return (x + 0.5) / float64(a.Words)
	}
	return (x - a.Low) / (a.High - a.Low)
}

// few returns all points of a space, the start first, nil if there are more than most or
// an axis has all values within its bounds.
func few(space []Axis, start Point, most int) []Point {
	points := []Point{nil}
	for _, a := range space {
		if a.Words == 0 && !a.Whole || len(points)*a.levels() > most {
			return nil
		}
		var longer []Point
		for _, p := range points {
			for i := range a.levels() {
				longer = append(longer, append(slices.Clone(p), a.at(0)+float64(i)))
			}
		}
		points = longer
	}
	i := slices.IndexFunc(points, func(p Point) bool { return slices.Equal(p, start) })
	points = slices.Delete(points, i, i+1)
	return slices.Insert(points, 0, start)
}

// spread returns points that fill a space evenly: a Latin hypercube.
func spread(space []Axis, n int, rng *rand.Rand) []Point {
	points := make([]Point, n)
	for i := range points {
		points[i] = make(Point, len(space))
	}
	for k, a := range space {
		for i, stratum := range rng.Perm(n) {
			points[i][k] = a.at((float64(stratum) + rng.Float64()) / float64(n))
		}
	}
	return points
}

// near returns a point in the neighbourhood of another.
func near(space []Axis, p Point, rng *rand.Rand) Point {
	const width = 0.1
	q := slices.Clone(p)
	k := rng.IntN(len(space))
	for i, a := range space {
		switch {
		case i != k && rng.Float64() < 0.5:
		case a.Words > 0:
			q[i] = a.at(rng.Float64())
		case a.Whole:
			step := max(1, width*(a.High-a.Low))
			q[i] = min(max(math.Round(p[i]+step*rng.NormFloat64()), a.Low), a.High)
		default:
			q[i] = a.at(a.share(p[i]) + width*rng.NormFloat64())
		}
	}
	return q
}
