package analysis

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// bootstrapReplicates is one less than a round number, so that the quantiles of the
// usual levels fall on replicates (A. C. Davison and D. V. Hinkley, Bootstrap Methods
// and their Application, Cambridge 1997, section 2.4).
const bootstrapReplicates = 999

// fewToResample is the number of leagues below which nothing is resampled: so few
// values do not show the shape of their distribution.
const fewToResample = 40

// fewToShowSkew is the number of events, as in [intervals.lopsided], below which
// nothing is resampled either.
const fewToShowSkew = 30

// The resampled numbers of a player; part of the seed.
const (
	resampleShare uint64 = iota + 1
	resampleRank
)

// resampler returns the random source for resampling one number of one player. It
// depends on the seed of the plan and on nothing that happened.
func (a *Accumulator) resampler(player int, what uint64) *rand.PCG {
	return rand.NewPCG(scramble(a.seed^0x626f6f7473747261), scramble(uint64(player)<<8|what))
}

// scramble is the output function of SplitMix64 (G. L. Steele, D. Lea and C. H.
// Flood, OOPSLA 2014): neighbouring seeds give unlike streams.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// resampled returns the interval for the mean of league values whose counts are known:
// the studentised bootstrap with leagues as units (P. Hall, Annals of Statistics 16
// (1988), 927-953; Davison and Hinkley 1997, section 5.2.1), cut off at the range.
// Title shares and ranks are skewed, and unlike Student's interval this one is too.
//
// If leagues are few or agree, for rare events and for sequences, it is [intervals.of]:
// resampling cannot show what was not seen.
func (c *intervals) resampled(v valueCounts, r span, source *rand.PCG) Estimate {
	s := v.sample()
	plain := c.of(s, r)
	if s.Leagues < fewToResample || s.Constant || c.sequence != nil {
		return plain
	}
	if _, rare := c.lopsided(s, s.Mean, r, fewToShowSkew); rare {
		return plain
	}
	t := v.studentised(s, source)
	tail := int(math.Round((1 - c.level) / 2 * (bootstrapReplicates + 1)))
	if tail < 1 {
		return plain // too few replicates for the level
	}
	above, below := t[tail-1], t[len(t)-tail]
	if math.IsInf(above, 0) || math.IsInf(below, 0) {
		// Many resamples hold a single value: nearly all leagues agree.
		w := c.unseen(s.Leagues)
		return c.by(ByUnseen, s.Mean,
			min(plain.Low, s.Mean-float64(w*(s.Mean-r.low))),
			max(plain.High, s.Mean+float64(w*(r.high-s.Mean))))
	}
	se := s.standardError()
	return c.by(ByResample, s.Mean,
		max(r.low, min(s.Mean, s.Mean-float64(sequential.Rounded(below)*se))),
		min(r.high, max(s.Mean, s.Mean-float64(sequential.Rounded(above)*se))))
}

// studentised returns the sorted t statistics of resamples, drawn with replacement.
func (v valueCounts) studentised(s Sample, source *rand.PCG) []float64 {
	draw := v.byParts
	if s.Leagues <= int64(64*len(v.values)) {
		draw = v.byLeague
	}
	n := float64(s.Leagues)
	next := draw(s.Leagues, source)
	t := make([]float64, bootstrapReplicates)
	for k := range t {
		var sum, squares float64 // of deviations, so that nothing cancels
		for i, count := range next() {
			d := v.values[i] - s.Mean
			sum += float64(d * float64(count))
			squares += float64(float64(d*d) * float64(count))
		}
		shift := sum / n
		variance := (squares/n - float64(shift*shift)) * n / (n - 1)
		if variance <= 1e-12*s.Variance { // a single value, but for rounding
			t[k] = math.Copysign(math.Inf(1), shift)
			continue
		}
		t[k] = shift / math.Sqrt(variance/n)
	}
	slices.Sort(t)
	return t
}

// byLeague draws multinomial weights league by league, for few leagues.
func (v valueCounts) byLeague(leagues int64, source *rand.PCG) func() []int64 {
	value := make([]uint16, 0, leagues) // of each league
	for i, count := range v.counts {
		for range count {
			value = append(value, uint16(i))
		}
	}
	weights := make([]int64, len(v.counts))
	n := uint64(leagues)
	return func() []int64 {
		clear(weights)
		for k := int64(0); k < leagues; k += 2 {
			word := source.Uint64()
			weights[value[word>>32*n>>32]]++ // n is far below 2^32, so the bias is nothing
			if k+1 < leagues {
				weights[value[word&math.MaxUint32*n>>32]]++
			}
		}
		return weights
	}
}

// byParts draws multinomial weights as binomial parts of the rest; its cost does not
// depend on the number of leagues.
func (v valueCounts) byParts(leagues int64, source *rand.PCG) func() []int64 {
	weights := make([]int64, len(v.counts))
	return func() []int64 {
		left, mass := leagues, leagues
		for i, count := range v.counts {
			weights[i] = left
			if count < mass {
				weights[i] = int64(distuv.Binomial{N: float64(left), P: float64(count) / float64(mass), Src: source}.Rand())
			}
			left -= weights[i]
			mass -= count
		}
		return weights
	}
}
