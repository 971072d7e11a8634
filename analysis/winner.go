package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Winner is the player with the most adjusted points, its estimate corrected for
// selection: the largest of several estimates is too large on average, the more so the
// closer the others come.
type Winner struct {
	Field    int      // field index
	Adjusted Estimate // median-unbiased adjusted points per match; without an estimate, but with an interval, in a sequential experiment
}

// fewForWinner is the number of leagues below which there is no correction: the method
// takes the covariances as known.
const fewForWinner = 30

// winner corrects the estimate of the first in the order by the hybrid method of I.
// Andrews, T. Kitagawa and A. McCloskey, Inference on winners, Quarterly Journal of
// Economics 139 (2024), 305-358. It is nil if there was no selection: two players under
// a fair draw without technical losses, fewer than 30 leagues, or a winner with equal
// points in all leagues.
func (a *Accumulator) winner(order []int, level float64) *Winner {
	best := order[0]
	fair := 2*a.even == a.unit && !a.technical
	if a.leagues < fewForWinner || len(order) == 2 && fair || a.adjSample(best).Constant {
		return nil
	}
	cov := a.covariance()
	means, row := make([]float64, len(order)), make([]float64, len(order))
	// Student's quantile replaces the normal one, because the covariances are
	// estimates.
	c := newIntervals(level)
	normal := distuv.UnitNormal.Quantile(0.5 + level/2)
	widen := c.t(a.leagues) / sequential.Rounded(normal)
	widen = float64(widen * widen)
	for i := range means {
		means[i] = a.adjSample(i).Mean
		row[i] = cov[max(i, best)][min(i, best)] * widen
	}
	// Two means that differ do so by this much at least.
	step := 1 / (float64(a.leagues) * float64(a.games*a.unit))
	e := hybrid(means, row, best, level, step)
	r := a.adjustedPoints(a.technical)
	clip := func(x float64) float64 { return min(max(x, r.low), r.high) }
	return &Winner{Field: best, Adjusted: c.by(BySelected, clip(e.Estimate), clip(e.Low), clip(e.High))}
}

// hybrid returns the hybrid interval and the hybrid median-unbiased estimate for the
// mean of the player with the largest of normal means; row holds the covariances of all
// with that player.
//
// The winner's mean is judged by its distribution given that it is the winner and given
// what is independent of it: a normal one, cut off where another player would have won.
// In a close race that alone would give very long intervals, so the truth is also taken
// to lie in a simultaneous interval of all players, at the price of a tenth of the
// error. Its width is from Z. Šidák, JASA 62 (1967), 626-633, which holds for all
// correlations.
//
// Means that come in steps can be equal, which normal ones never are; the formulas
// would then give an interval without width. So half a step is added to every lead, the
// usual continuity correction.
func hybrid(means, row []float64, best int, level, step float64) Estimate {
	y, variance := means[best], row[best]
	s := math.Sqrt(variance)
	low, high := math.Inf(-1), math.Inf(1)
	for j, x := range means {
		// The winner stays ahead of j while it has more than j would then have, x +
		// row/variance (y' - y).
		lead := y - x + step/2
		switch slope := 1 - row[j]/variance; {
		case j == best:
		case slope > 0:
			low = max(low, y-lead/slope)
		case slope < 0:
			high = min(high, y-lead/slope)
		}
	}
	alpha := 1 - level
	beta := alpha / 10
	reach := float64(s * sidak(beta, len(means)))
	tail := (alpha - beta) / (2 * (1 - beta))
	at := func(chance float64) float64 {
		return sequential.Rounded(conditionalQuantile(y, s, low, high, reach, chance))
	}
	mid := at(0.5)
	return Estimate{Estimate: mid, Low: min(mid, at(1-tail)), High: max(mid, at(tail))}
}

// sidak is how many standard deviations none of n normal values exceeds, up or down,
// with chance 1-beta at least.
func sidak(beta float64, n int) float64 {
	return distuv.UnitNormal.Quantile((1 + math.Pow(1-beta, 1/float64(n))) / 2)
}

// conditionalQuantile finds the mean with which a normal value of standard deviation s,
// cut off to [low, high] and to reach around its mean, is at most y with the given
// chance. That chance falls from 1 to 0 as the mean goes from y-reach to y+reach.
func conditionalQuantile(y, s, low, high, reach, chance float64) float64 {
	from, to := y-reach, y+reach
	for range 80 {
		mean := from + (to-from)/2
		a, b := max(low, mean-reach), min(high, mean+reach)
		if between(a, y, mean, s) > chance*between(a, b, mean, s) {
			from = mean
		} else {
			to = mean
		}
	}
	return from + (to-from)/2
}

// between is the chance of a normal value from a to b, computed on the side where
// nothing cancels.
func between(a, b, mean, s float64) float64 {
	u, v := (a-mean)/(s*math.Sqrt2), (b-mean)/(s*math.Sqrt2)
	if u > 0 {
		return (math.Erfc(u) - math.Erfc(v)) / 2
	}
	return (math.Erfc(-v) - math.Erfc(-u)) / 2
}
