package game

import (
	"fmt"
	"math/bits"
	"sort"
	"strconv"
	"strings"
)

// Limits of a draw distribution: they keep every number in a byte of the
// record format and every sum of weighted points exact in 64 bits.
const (
	MaxDrawNumber  = 1_000_000
	MaxDrawSupport = 256
	MaxDrawWeight  = 10_000 // of all numbers together
)

// Draw is the distribution of the number a referee draws. The zero value is
// not usable; see UniformDraw, WeightedDraw, ParseDraw and FairDraw. A Draw is
// immutable and safe for concurrent use.
type Draw struct {
	numbers []int    // ascending
	bounds  []uint64 // bounds[i] is the sum of the weights of numbers[0..i]
	even    uint64   // weight of the even numbers
	text    string
}

// FairDraw is the draw of league.v2: 1 to 10, each equally likely.
func FairDraw() Draw {
	d, err := UniformDraw(1, 10)
	if err != nil {
		panic(err) // constant arguments
	}
	return d
}

// UniformDraw returns the distribution that gives each integer from lo to hi
// the same chance. Numbers lie in [0, MaxDrawNumber].
func UniformDraw(lo, hi int) (Draw, error) {
	if lo < 0 || hi < lo || hi > MaxDrawNumber || hi-lo >= MaxDrawSupport {
		return Draw{}, fmt.Errorf("draw uniform:%d-%d: want 0 <= first <= last <= %d and at most %d numbers",
			lo, hi, MaxDrawNumber, MaxDrawSupport)
	}
	weights := make(map[int]int, hi-lo+1)
	for n := lo; n <= hi; n++ {
		weights[n] = 1
	}
	return newDraw(weights, fmt.Sprintf("uniform:%d-%d", lo, hi)), nil
}

// WeightedDraw returns the distribution in which a number's chance is its weight over the sum of
// all weights. Weights are positive and sum to at most MaxDrawWeight.
func WeightedDraw(weights map[int]int) (Draw, error) {
	if len(weights) == 0 || len(weights) > MaxDrawSupport {
		return Draw{}, fmt.Errorf("draw weights: want 1 to %d numbers, got %d", MaxDrawSupport, len(weights))
	}
	total := 0
	parts := make([]string, 0, len(weights))
	for _, n := range sortedKeys(weights) {
		w := weights[n]
		if n < 0 || n > MaxDrawNumber {
			return Draw{}, fmt.Errorf("draw weights: number %d is not in [0, %d]", n, MaxDrawNumber)
		}
		if w < 1 || w > MaxDrawWeight-total {
			return Draw{}, fmt.Errorf("draw weights: weight %d of number %d: weights are positive and sum to at most %d",
				w, n, MaxDrawWeight)
		}
		total += w
		parts = append(parts, fmt.Sprintf("%d=%d", n, w))
	}
	return newDraw(weights, "weights:"+strings.Join(parts, ",")), nil
}

// ParseDraw reads "uniform:1-10" or "weights:1=3,2=1"; the empty string is the
// fair draw of league.v2.
func ParseDraw(s string) (Draw, error) {
	if s == "" {
		return FairDraw(), nil
	}
	kind, rest, _ := strings.Cut(s, ":")
	switch kind {
	case "uniform":
		first, last, ok := strings.Cut(rest, "-")
		lo, err1 := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(last)
		if !ok || err1 != nil || err2 != nil {
			return Draw{}, fmt.Errorf("draw %q: want uniform:FIRST-LAST, for example uniform:1-10", s)
		}
		return UniformDraw(lo, hi)
	case "weights":
		weights := make(map[int]int)
		for _, part := range strings.Split(rest, ",") {
			number, weight, ok := strings.Cut(part, "=")
			n, err1 := strconv.Atoi(number)
			w, err2 := strconv.Atoi(weight)
			if !ok || err1 != nil || err2 != nil {
				return Draw{}, fmt.Errorf("draw %q: %q is not NUMBER=WEIGHT, for example weights:1=3,2=1", s, part)
			}
			if _, twice := weights[n]; twice {
				return Draw{}, fmt.Errorf("draw %q: number %d stands twice", s, n)
			}
			weights[n] = w
		}
		return WeightedDraw(weights)
	}
	return Draw{}, fmt.Errorf("draw %q: want uniform:FIRST-LAST or weights:NUMBER=WEIGHT,NUMBER=WEIGHT", s)
}

func newDraw(weights map[int]int, text string) Draw {
	d := Draw{text: text}
	var sum uint64
	for _, n := range sortedKeys(weights) {
		w := uint64(weights[n])
		sum += w
		d.numbers = append(d.numbers, n)
		d.bounds = append(d.bounds, sum)
		if ParityOf(n) == Even {
			d.even += w
		}
	}
	return d
}

func sortedKeys(m map[int]int) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Ints(keys)
	return keys
}

// String returns the canonical form that ParseDraw reads.
func (d Draw) String() string { return d.text }

// Size is how many different numbers can be drawn.
func (d Draw) Size() int { return len(d.numbers) }

// Number returns the i-th smallest number that can be drawn, i in [0, Size).
func (d Draw) Number(i int) int { return d.numbers[i] }

// Index returns the i for which Number(i) is the given number, or false if it can never be drawn.
func (d Draw) Index(number int) (int, bool) {
	i := sort.SearchInts(d.numbers, number)
	return i, i < len(d.numbers) && d.numbers[i] == number
}

// EvenWeight returns the chance of an even number as a fraction, not reduced.
func (d Draw) EvenWeight() (even, total int) {
	return int(d.even), int(d.bounds[len(d.bounds)-1])
}

// Weight returns the chance of Number(i) as a weight out of EvenWeight's total.
func (d Draw) Weight(i int) int {
	if i == 0 {
		return int(d.bounds[0])
	}
	return int(d.bounds[i] - d.bounds[i-1])
}

// Pick maps a uniform 64-bit word to a number. The multiply-shift reduction (Lemire, ACM TOMACS 29,
// 2019) is used without its rejection step, so that every match consumes exactly one word: a
// number's chance is off by less than total/2^64, at most 6e-16.
func (d Draw) Pick(word uint64) int {
	total := d.bounds[len(d.bounds)-1]
	hi, _ := bits.Mul64(word, total)
	if total == uint64(len(d.bounds)) { // all weights are 1
		return d.numbers[hi]
	}
	return d.numbers[sort.Search(len(d.bounds), func(i int) bool { return hi < d.bounds[i] })]
}
