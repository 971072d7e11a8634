package sequential

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// stopping is how a ratio test ended, in units of the standard deviation of a league
// difference. The end says something about the difference that the mean alone does not:
// a test stops early because the mean was far out, so the mean at the end is too far
// out on average.
//
// The ways to end are ordered by their evidence for a large difference: accepted after
// few leagues, accepted after many, not decided (by the mean), rejected after many,
// rejected after few (P. Armitage, Biometrika 44 (1957), 9-26; D. Siegmund, Biometrika
// 65 (1978), 341-349; A. A. Tsiatis, G. L. Rosner and C. R. Mehta, Biometrics 40
// (1984), 797-803). The true difference for which the observed end or a higher one has
// a chance of one half is the median-unbiased estimate; those with chances of alpha/2
// and 1-alpha/2 are the interval.
//
// The chances are those of Brownian motion in a corridor that begins at the first look;
// the bounds, moved by the overshoot, make it stand for the random walk. That takes the
// variance as known; for the estimated variance the chances of the interval are
// replaced by the normal ones of the same quantiles of Student's t.
type stopping struct {
	deviation float64 // of a league difference, in points
	half      float64 // Delta/2: the corridor runs along half of Delta a league
	mean      float64 // observed, in deviations above half
	leagues   float64
	decision  Decision
	up, down  float64 // the corridor of the motion
	lookUp    float64 // what decides at the first look
	lookDown  float64
}

func (r *Ratio) stopping() stopping {
	s, delta := r.deviation(), r.hypotheses.Delta
	low, high := r.hypotheses.corridor()
	decideLow, decideHigh := r.limits()
	unit := s / delta
	return stopping{
		deviation: s, half: delta / 2, mean: (r.average()/r.scale - delta/2) / s, leagues: float64(r.n), decision: r.decision,
		up: high * unit, down: -low * unit, lookUp: decideHigh * unit, lookDown: -decideLow * unit,
	}
}

// quantile returns the difference, in points, under which the observed end or a higher
// one has the given chance.
func (s stopping) quantile(chance float64) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: s.leagues - 1}.Quantile(chance)
	chance = math.Exp(logNormal(t))
	reach := 12 / math.Sqrt(BurnIn)
	low, high := s.mean-reach, s.mean+reach
	for range 60 {
		mid := (low + high) / 2
		if s.atLeast(mid) < chance {
			low = mid
		} else {
			high = mid
		}
	}
	return Rounded(s.half + float64((low+high)/2*s.deviation))
}

// atLeast is the chance of the observed end or a higher one, given the drift: the true
// mean in deviations above half of Delta. It grows with the drift.
func (s stopping) atLeast(drift float64) float64 {
	root := math.Sqrt(BurnIn)
	first := drift * BurnIn
	if s.leagues == BurnIn { // ended at the first look, or cut off there
		return math.Exp(logNormal((first - s.mean*BurnIn) / root))
	}
	// A walk that stopped at a league left the corridor after the league before.
	after := s.leagues - BurnIn - 0.5
	if s.decision == Rejected {
		ended := math.Exp(logNormal((-s.lookDown - first) / root))
		return 1 - ended - s.fromFirstLook(drift, func(c corridor, _ float64) float64 { return c.leavesDown(after) })
	}
	ended := math.Exp(logNormal((first - s.lookUp) / root))
	if s.decision == Accepted {
		return ended + s.fromFirstLook(drift, func(c corridor, _ float64) float64 { return c.leavesUp(after) })
	}
	time := s.leagues - BurnIn
	return ended + s.fromFirstLook(drift, func(c corridor, at float64) float64 {
		return c.leavesUp(time) + c.staysAbove(min(s.mean*s.leagues-at, c.up), time)
	})
}

// fromFirstLook integrates a chance over the position of the walk after a first look
// without a decision, by Simpson's rule.
func (s stopping) fromFirstLook(drift float64, chance func(c corridor, at float64) float64) float64 {
	const steps = 64
	mean, root := drift*BurnIn, math.Sqrt(BurnIn)
	low, high := max(-s.lookDown, mean-9*root), min(s.lookUp, mean+9*root)
	if !(low < high) {
		return 0
	}
	width := (high - low) / steps
	sum := 0.0
	for k := 0; k <= steps; k++ {
		at := low + float64(float64(k)*width)
		weight := 2.0 + 2*float64(k%2)
		if k == 0 || k == steps {
			weight = 1
		}
		z := (at - mean) / root
		density := math.Exp(-z*z/2) / (root * math.Sqrt(2*math.Pi))
		sum += float64(weight * density * chance(corridor{s.up - at, s.down + at, drift}, at))
	}
	return sum * width / 3
}

// corridor is Brownian motion with a drift and unit variance per unit of time, from
// zero until it first leaves the interval from -down to up.
type corridor struct{ up, down, drift float64 }

// leavesUp is the chance that the motion leaves by its upper end before a time: the sum
// over the images of the start of the chances for a single barrier (T. W. Anderson,
// Annals of Mathematical Statistics 31 (1960), 165-197; D. Siegmund, Sequential
// Analysis, Springer 1985, chapter 3).
func (c corridor) leavesUp(time float64) float64 {
	if time <= 0 {
		return 0
	}
	root := math.Sqrt(time)
	image := func(x float64) float64 { // x is where the barrier lies from the image
		d := math.Abs(x)
		first := math.Exp(c.drift*(c.up-d) + logNormal((c.drift*time-d)/root))
		second := math.Exp(c.drift*(c.up+d) + logNormal((-c.drift*time-d)/root))
		return math.Copysign(first+second, x)
	}
	sum := image(c.up)
	for k := 1.0; ; k++ {
		period := 2 * k * (c.up + c.down)
		next := image(c.up+period) + image(c.up-period)
		sum += next
		if !(math.Abs(next) > 1e-13) {
			return min(1, max(0, sum))
		}
	}
}

// leavesDown is the chance that it leaves by its lower end before a time.
func (c corridor) leavesDown(time float64) float64 {
	return corridor{c.down, c.up, -c.drift}.leavesUp(time)
}

// staysAbove is the chance that it has not left before a time and is then at y or
// above.
func (c corridor) staysAbove(y, time float64) float64 {
	root := math.Sqrt(time)
	image := func(start float64) float64 {
		mean := start + c.drift*time
		mass := normalBetween((y-mean)/root, (c.up-mean)/root)
		if mass == 0 {
			return 0
		}
		return math.Exp(c.drift*start + math.Log(mass))
	}
	sum := image(0) - image(2*c.up)
	for k := 1.0; ; k++ {
		period := 2 * k * (c.up + c.down)
		next := image(period) + image(-period) - image(2*c.up+period) - image(2*c.up-period)
		sum += next
		if !(math.Abs(next) > 1e-13) {
			return min(1, max(0, sum))
		}
	}
}

// logNormal is the logarithm of the normal distribution function.
func logNormal(z float64) float64 {
	const far = -36 // below, erfc loses digits and then everything
	if z > far {
		return math.Log(math.Erfc(-z/math.Sqrt2) / 2)
	}
	// Mills' ratio to three terms.
	s := 1 / (z * z)
	return -z*z/2 - math.Log(-z*math.Sqrt(2*math.Pi)) + math.Log1p(-s+3*s*s)
}

// normalBetween is the chance of a normal value from a to b, on the side where nothing
// cancels.
func normalBetween(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	if a > 0 {
		return (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2
	}
	return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
}
