package sequential

import "math/bits"

// settled is how many times values must have changed from one league to the next
// before the t sequence is believed. Values that nearly always agree tell nothing
// of how they vary: one league out of a hundred can carry the whole mean.
const settled = 16

// values are the running sums of one quantity, integers in league order. Squares
// are of the distance from the first value, so that what varies little about a
// large mean is not lost.
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

// mean is in the units of the values; there must be one.
func (v *values) mean() float64 { return float64(v.first) + float64(v.sum)/float64(v.n) }

// spread is the sum of squared deviations from the mean.
func (v *values) spread() float64 {
	squares := float64(v.high)*0x1p64 + float64(v.low)
	sum := float64(v.sum)
	return max(0, squares-float64(sum*(sum/float64(v.n))))
}

// normal tells whether Student's t means something.
func (v *values) normal(burnIn int) bool { return v.n >= int64(burnIn) && v.changes >= settled }
