package sequential

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// mean has the league values of one player. There are few different values, and the
// capital of fixed bets depends only on how often each occurred.
type mean struct {
	values
	count map[int64]int64
}

func (m *mean) add(x int64) {
	m.values.add(x)
	m.count[x]++
}

func (m *mean) total() int64 { return m.first*m.n + m.sum }

// Interval is the interval of a player's adjusted points per match. The chance that the
// true value is outside of it at any league is at most 1 minus the level, for each
// player alone. Without a league, estimate is NaN.
func (t *Tracker) Interval(player int) (estimate, low, high float64) {
	return t.interval(t.players[player], 1-t.options.Level, t.threshold)
}

// Picked is the interval of a player that was picked among all by what the leagues show:
// with it, the chance that the interval of any player misses at any league is at most 1
// minus the level.
func (t *Tracker) Picked(player int) (low, high float64) {
	alpha := (1 - t.options.Level) / float64(len(t.players))
	_, low, high = t.interval(t.players[player], alpha, t.student.Threshold(toStudent*alpha))
	return low, high
}

func (t *Tracker) interval(m *mean, alpha, threshold float64) (estimate, low, high float64) {
	most := t.shape.High
	if m.n == 0 {
		return math.NaN(), 0, most
	}
	estimate = min(m.average()/t.scale, most)
	if t.byStudent(m) {
		half := t.half(m, threshold)
		return estimate, max(0, estimate-half), min(most, estimate+half)
	}
	low = bisect(estimate, 0, func(x float64) bool { return t.refutes(m, x, 0, alpha) })
	high = bisect(estimate, most, func(x float64) bool { return t.refutes(m, x, most, alpha) })
	return estimate, low, high
}

// Holds reports whether a value lies within the interval of a player, up to the rounding
// of its bounds. It takes far less time than the bounds.
func (t *Tracker) Holds(player int, x float64) bool {
	m, most := t.players[player], t.shape.High
	if m.n == 0 || x <= 0 || x >= most { // refutes knows nothing of the bounds themselves
		_, low, high := t.Interval(player)
		return low <= x && x <= high
	}
	estimate := min(m.average()/t.scale, most)
	switch {
	case t.byStudent(m):
		return math.Abs(x-estimate) <= t.half(m, t.threshold)
	case x < estimate:
		return !t.refutes(m, x, 0, 1-t.options.Level)
	case x > estimate:
		return !t.refutes(m, x, most, 1-t.options.Level)
	}
	return true
}

func (t *Tracker) byStudent(m *mean) bool {
	return t.options.Guarantee == Asymptotic && m.normal(BurnIn)
}

// half is half the width of the interval by the t sequence at a threshold.
func (t *Tracker) half(m *mean, threshold float64) float64 {
	n := float64(m.n)
	return float64(t.student.Critical(m.n, threshold) * math.Sqrt(m.spread()/(n-1)/n) / t.scale)
}

// bisect returns where between a value that stands and a bound refutation begins,
// rounded towards the bound; the bound itself if nothing is refuted.
func bisect(stands, bound float64, refuted func(x float64) bool) float64 {
	out := bound
	for range 50 {
		mid := stands + (out-stands)/2
		if mid == out || mid == stands {
			break
		}
		if refuted(mid) {
			out = mid
		} else {
			stands = mid
		}
	}
	return Rounded(out)
}

// refutes reports whether bets against a mean of x points have multiplied the capital
// enough for an error of alpha: bets on more if bound is the lower one, on less if it is
// the upper one.
func (t *Tracker) refutes(m *mean, x, bound, alpha float64) bool {
	if t.options.Guarantee == Asymptotic {
		alpha *= toBets
	}
	return m.refutes(x, bound, t.scale, math.Log(2/alpha))
}

// refutes reports whether bets against a mean of x have at least some evidence, the
// logarithm of their capital. Values are in units of 1/scale.
func (m *mean) refutes(x, bound, scale, evidence float64) bool {
	reach := x - bound // the largest loss of a bet, with the sign of the bet
	if reach == 0 {
		return false
	}
	var logs [len(stakes)]float64
	for _, v := range slices.Sorted(maps.Keys(m.count)) {
		gain := max(-1, (float64(v)/scale-x)/reach)
		for k, stake := range stakes {
			logs[k] += float64(float64(m.count[v]) * math.Log1p(stake*gain))
		}
	}
	top := slices.Max(logs[:])
	sum := 0.0
	for k, l := range logs {
		sum += float64(weights[k] * math.Exp(l-top))
	}
	return Rounded(top+math.Log(sum)) >= evidence
}

// precise reports whether every player's interval is narrow enough.
func (t *Tracker) precise() bool {
	n := len(t.players)
	for k := range n {
		i := (t.stuck + k) % n // begin with the player that failed last
		if !t.preciseFor(t.players[i]) {
			t.stuck = i
			return false
		}
	}
	return true
}

func (t *Tracker) preciseFor(m *mean) bool {
	if m.n == 0 {
		return false
	}
	most, width, alpha := t.shape.High, t.options.Rule.Width, 1-t.options.Level
	x := m.average() / t.scale
	if t.byStudent(m) {
		return t.half(m, t.threshold) <= width || (x-width <= 0 && x+width >= most)
	}
	return (x-width <= 0 || t.refutes(m, x-width, 0, alpha)) && (x+width >= most || t.refutes(m, x+width, most, alpha))
}

// settled is how many times values must change from one league to the next before the t
// sequence is trusted. Values that nearly always agree do not show their variance: one
// league out of a hundred can carry the whole mean.
const settled = 16

// values are the running sums of one quantity, integers in league order. Squares are of
// the distance from the first value, so that small variation about a large mean is not
// lost.
type values struct {
	n           int64
	first, last int64
	changes     int
	sum         int64 // of distances from first
	high, low   uint64
}

func (v *values) add(x int64) {
	if v.n == 0 {
		v.first, v.last = x, x
	}
	if x != v.last {
		v.changes++
	}
	v.n++
	v.last = x
	d := x - v.first
	v.sum += d
	hi, lo := bits.Mul64(uint64(max(d, -d)), uint64(max(d, -d)))
	var carry uint64
	v.low, carry = bits.Add64(v.low, lo, 0)
	v.high += hi + carry
}

// average is in the units of the values; there must be one.
func (v *values) average() float64 { return float64(v.first) + float64(v.sum)/float64(v.n) }

// spread is the sum of squared deviations from the mean.
func (v *values) spread() float64 {
	squares := float64(v.high)*0x1p64 + float64(v.low)
	sum := float64(v.sum)
	return max(0, squares-float64(sum*(sum/float64(v.n))))
}

// normal reports whether Student's t is meaningful.
func (v *values) normal(burnIn int) bool { return v.n >= int64(burnIn) && v.changes >= settled }
