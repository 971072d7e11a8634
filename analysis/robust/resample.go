package robust

import (
	"math"
	"math/rand/v2"
)

// mostResamples gives shares of fields a standard error of at most 0.8 percentage points.
// Large fields get fewer, so that their cost stays bounded, but fewestResamples.
const (
	mostResamples   = 4000
	fewestResamples = 200
	operations      = 100_000_000
)

// resample draws fields of as many opponents as there are, with replacement, and counts
// the places of all players against them: the bootstrap of opponents. A player does not
// meet itself when it is drawn. An opponent that is drawn twice counts with its error twice,
// so the variance of points grows with the mean square of the weights.
func (r *Robustness) resample(m matrix, g gaps, confidence float64, seed uint64) {
	n := len(m)
	r.Resamples = min(mostResamples, max(fewestResamples, operations/(n*n)))
	source := rand.New(rand.NewPCG(seed, 0x726f627573746669)) // the second word sets this use of the seed apart
	weight, points := make([]float64, n), make([]float64, n)
	best, worst := make([][]int, n), make([][]int, n) // how often each player had each place
	for i := range best {
		best[i], worst[i] = make([]int, n+1), make([]int, n+1)
	}
	sum, squares := make([]float64, n), make([]float64, n) // of the differences from all opponents
	all := m.without(nil)
	for range r.Resamples {
		draw(weight, source)
		m.weighted(weight, points)
		wider := 0.0
		for _, w := range weight {
			wider += float64(w * w)
		}
		wider = math.Sqrt(wider / float64(n))
		top := 0
		for i, x := range points {
			at := g.places(points, wider, i)
			best[i][at[0]]++
			worst[i][at[1]]++
			if x > points[top] {
				top = i
			}
			d := x - all[i]
			sum[i] += d
			squares[i] += float64(d * d)
		}
		var firsts []int
		for i := range points {
			if !g.apart(points, wider, top, i) {
				firsts = append(firsts, i)
			}
		}
		for _, i := range firsts {
			r.Players[i].First += 1 / float64(len(firsts))
		}
	}
	k := float64(r.Resamples)
	for i := range r.Players {
		p := &r.Players[i]
		p.First /= k
		p.Places = central(best[i], worst[i], r.Resamples, (1-confidence)/2)
		p.Error = math.Sqrt(max(0, squares[i]-float64(sum[i]*sum[i])/k) / (k - 1))
	}
}

// draw fills in how often each opponent is drawn, at least two of them once.
func draw(weight []float64, source *rand.Rand) {
	for {
		clear(weight)
		for range weight {
			weight[source.IntN(len(weight))]++
		}
		alone := false
		for _, w := range weight {
			alone = alone || int(w) == len(weight)
		}
		if !alone {
			return
		}
	}
}

// central returns the places that remain if at most the share tail of the resamples is
// left out at either end: of the best places, and of the worst.
func central(best, worst []int, total int, tail float64) [2]int {
	out := int(tail * float64(total))
	low, high := 1, len(worst)-1
	for seen := best[low]; seen <= out; seen += best[low] {
		low++
	}
	for seen := worst[high]; seen <= out; seen += worst[high] {
		high--
	}
	return [2]int{low, high}
}
