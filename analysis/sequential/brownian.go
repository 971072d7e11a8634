package sequential

import "math"

// corridor is Brownian motion with a drift and unit variance per unit of time, that
// starts at zero and ends where it first leaves the interval from -down to up.
type corridor struct{ up, down, drift float64 }

// leavesUp is the chance that the motion leaves by its upper end before a time: the
// sum over the images of the start of what a single barrier would catch (T. W.
// Anderson, Annals of Mathematical Statistics 31 (1960), 165-197; D. Siegmund,
// Sequential Analysis, Springer 1985, chapter 3).
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

// normalBetween is the chance of a normal value from a to b, on the side where
// nothing cancels.
func normalBetween(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	if a > 0 {
		return (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2
	}
	return (math.Erfc(-b/math.Sqrt2) - math.Erfc(-a/math.Sqrt2)) / 2
}
