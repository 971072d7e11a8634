package sequential

import (
	"maps"
	"math"
	"slices"
)

// mean is what one player's league values have shown so far. There are few
// different values, as many as a league can be won by, and what fixed bets earn
// depends only on how often each occurred.
type mean struct {
	values
	count map[int64]int64
}

func newMean() *mean { return &mean{count: map[int64]int64{}} }

func (m *mean) add(x int64) {
	m.values.add(x)
	m.count[x]++
}

func (m *mean) total() int64 { return m.first*m.n + m.sum }

// Interval is the interval of a player's adjusted points per match. The chance that
// the true value is outside of it at any league is at most 1 minus the level, for
// each player by itself. Without a league, estimate is NaN.
func (t *Tracker) Interval(player int) (estimate, low, high float64) {
	m, b := t.players[player], t.bounds[t.regime()]
	if m.n == 0 {
		return math.NaN(), b.Low, b.High
	}
	estimate = min(max(m.mean()/t.scale, b.Low), b.High)
	if t.byStudent(m) {
		half := t.half(m)
		return estimate, max(b.Low, estimate-half), min(b.High, estimate+half)
	}
	low = t.bisect(estimate, b.Low, func(x float64) bool { return t.refutes(m, x, b.Low) })
	high = t.bisect(estimate, b.High, func(x float64) bool { return t.refutes(m, x, b.High) })
	return estimate, low, high
}

func (t *Tracker) byStudent(m *mean) bool {
	return t.options.Guarantee == Asymptotic && m.normal(BurnIn)
}

// half is the half width of the interval by the t sequence.
func (t *Tracker) half(m *mean) float64 {
	n := float64(m.n)
	return float64(t.student.Critical(m.n, t.threshold) * math.Sqrt(m.spread()/(n-1)/n) / t.scale)
}

// bisect returns where between a value that stands and a bound refutation begins;
// the bound itself if nothing is refuted. It errs to the side of the bound.
func (t *Tracker) bisect(stands, bound float64, refuted func(x float64) bool) float64 {
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
	return rounded(out)
}

// refutes reports whether bets against a mean of x have multiplied the capital
// enough: bets on more if bound is the lower one, on less if it is the upper one.
func (t *Tracker) refutes(m *mean, x, bound float64) bool {
	alpha := 1 - t.options.Level
	if t.options.Guarantee == Asymptotic {
		alpha *= toBets
	}
	reach := x - bound // the most that a bet can lose, with the sign of the bet
	if reach == 0 {
		return false
	}
	var logs [len(stakes)]float64
	for _, v := range slices.Sorted(maps.Keys(m.count)) {
		gain := max(-1, (float64(v)/t.scale-x)/reach)
		for k, stake := range stakes {
			logs[k] += float64(float64(m.count[v]) * math.Log1p(stake*gain))
		}
	}
	top := slices.Max(logs[:])
	sum := 0.0
	for k, l := range logs {
		sum += float64(weights[k] * math.Exp(l-top))
	}
	return rounded(top+math.Log(sum)) >= math.Log(2/alpha)
}

// precise reports whether every player's interval is narrow enough.
func (t *Tracker) precise() bool {
	n := len(t.players)
	for k := range n {
		i := (t.stuck + k) % n // begin with whom it failed for the last time
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
	b, width := t.bounds[t.regime()], t.options.Rule.Width
	x := m.mean() / t.scale
	if t.byStudent(m) {
		return t.half(m) <= width || (x-width <= b.Low && x+width >= b.High)
	}
	return (x-width <= b.Low || t.refutes(m, x-width, b.Low)) && (x+width >= b.High || t.refutes(m, x+width, b.High))
}
