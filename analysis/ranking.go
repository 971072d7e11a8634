package analysis

import (
	"cmp"
	"math/big"
	"slices"
)

// Ranking orders all players at once by adjusted points. All its statements together
// hold in at least the stated share of experiments.
type Ranking struct {
	Level  float64
	Method Method // of the corrected p-values, the places and the tiers
	// Resolution is the smallest p-value that the simulation behind the step-down
	// procedure can give: a corrected p-value at it is at most that. 0 without simulation.
	Resolution float64
	// Comparisons has every pair, the better player first, in the order of
	// Estimates.Order. Corrected p-values are those of the step-down procedure on the
	// largest statistic, or Holm's if leagues are few (fewer than 100, or than five per
	// player). Verdict is Different where they are at most 1-Level. Holm's p-values are
	// for both directions of all pairs.
	Comparisons []Comparison
	// Places has by field index the place range, from 1: one more than the number of
	// players that are significantly better, and all but those that are significantly
	// worse.
	Places [][2]int
	// Tiers has field indices: tier 1 every strategy that no other significantly beats,
	// tier 2 every strategy that only members of tier 1 significantly beat, and so on.
	// Being in one tier does not make two players equal.
	Tiers [][]int
}

// Differing returns how many pairs differ significantly, and how many do by Holm's method.
func (r *Ranking) Differing() (count struct{ All, Holm int }) {
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Verdict == Different {
			count.All++
		}
		if c.Verdict != Equal && c.Holm <= 1-r.Level {
			count.Holm++
		}
	}
	return count
}

// TierOf returns the tier of each player, from 1, by field index.
func (r *Ranking) TierOf() []int {
	list := make([]int, len(r.Places))
	for k, tier := range r.Tiers {
		for _, i := range tier {
			list[i] = k + 1
		}
	}
	return list
}

// Ranking compares all players with all others at a confidence level in (0, 1).
//
// It simulates, which takes some hundredths of a second for 18 players and half a
// second for 100. It panics if the level is out of range.
func (a *Accumulator) Ranking(level float64) Ranking { return a.ranking(level, 1) }

// ranking is Ranking; if the smallest of the corrected p-values exceeds enough, all that
// are simulated may be 1.
func (a *Accumulator) ranking(level, enough float64) Ranking {
	c := newIntervals(level)
	order := a.order()
	r := Ranking{Level: level, Comparisons: a.differences(order, c)}
	if r.Method = a.correctRanking(r.Comparisons, enough); r.Method == ByStepDown {
		r.Resolution = simulatedP(0, replicatesFor(len(r.Comparisons)), estimatedAllowance(a.leagues))
	}
	superior := newRelation(len(order))
	for k := range r.Comparisons {
		d := &r.Comparisons[k]
		if d.Verdict != Equal && d.Corrected <= 1-level {
			d.Verdict = Different
			superior[d.A][d.B] = true
		}
	}
	r.Places = places(superior)
	r.Tiers = tiers(order, superior)
	return r
}

// Below these numbers of leagues, in all and per player, the correlations between
// players are too uncertain to be used.
const (
	fewLeagues       = 100
	fewLeaguesPlayer = 5
)

// correctRanking fills in the p-values adjusted for both directions of all pairs, and
// returns how it adjusted them. See stepDown for enough.
func (a *Accumulator) correctRanking(list []Comparison, enough float64) Method {
	both := make([]float64, 0, 2*len(list))
	for _, d := range list {
		both = append(both, d.P/2, 1-d.P/2)
	}
	for k, p := range Holm(both) {
		if k%2 == 0 {
			list[k/2].Holm, list[k/2].Corrected = p, p
		}
	}
	if a.leagues < max(fewLeagues, fewLeaguesPlayer*int64(len(a.players))) {
		return ByHolm
	}
	// Differences on which all leagues agree have no t; they get Bonferroni's
	// correction.
	var contrasts []contrast
	for k := range list {
		d := &list[k]
		s := a.differenceSample(d.A, d.B)
		if s.Constant {
			d.Corrected = min(1, float64(len(list))*d.P)
			continue
		}
		contrasts = append(contrasts, contrast{
			index: k, better: d.A, worse: d.B, se: s.standardError(), z: normalEquivalent(d.P),
		})
	}
	for k, p := range stepDown(contrasts, a.covariance(), estimatedAllowance(a.leagues), enough) {
		d := &list[contrasts[k].index]
		d.Corrected = max(p, d.P/2) // never below what the one comparison alone gives
	}
	return ByStepDown
}

// covariance is that of the mean adjusted points per match, lower triangle.
func (a *Accumulator) covariance() triangle {
	cov := make(triangle, len(a.players))
	scale := a.games * a.unit
	for i := range cov {
		cov[i] = make([]float64, i+1)
		for j := range cov[i] {
			n := a.leagues
			c := new(big.Int).Mul(big.NewInt(n), a.adj.at(i, j).big())
			c.Sub(c, mul(a.players[i].adj, a.players[j].adj))
			cov[i][j] = float(c) / float(mul(n, n, n-1)) / float(mul(scale, scale))
		}
	}
	return cov
}

// newRelation returns a relation among n players: r[i][j] says that i is better than j.
func newRelation(n int) [][]bool {
	r := make([][]bool, n)
	for i := range r {
		r[i] = make([]bool, n)
	}
	return r
}

// places turns significant differences into place ranges.
func places(superior [][]bool) [][2]int {
	list := make([][2]int, len(superior))
	for i := range list {
		list[i] = [2]int{1, len(superior)}
	}
	for i, row := range superior {
		for j, better := range row {
			if better {
				list[j][0]++ // i stands above j
				list[i][1]--
			}
		}
	}
	return list
}

// tiers peels off those whom nobody left significantly beats, until nobody is left.
// There is always somebody, since significance follows the order.
func tiers(order []int, superior [][]bool) [][]int {
	var list [][]int
	for left := order; len(left) > 0; {
		var tier, rest []int
		for _, i := range left {
			beaten := false
			for _, j := range left {
				beaten = beaten || superior[j][i]
			}
			if beaten {
				rest = append(rest, i)
			} else {
				tier = append(tier, i)
			}
		}
		list = append(list, tier)
		left = rest
	}
	return list
}

// Verdict says what is known about the difference between two players.
type Verdict uint8

// The verdicts. Undecided is no evidence of a difference, which is not evidence of
// equality.
const (
	Undecided Verdict = iota
	Different         // significantly, after the correction
	Equal             // they scored the same in each of at least two leagues
)

// String returns "undecided", "different" or "equal".
func (v Verdict) String() string { return [...]string{"undecided", "different", "equal"}[v] }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Comparison is the paired difference between two players: computed within each league,
// where both met the same field, so that what moves both cancels.
type Comparison struct {
	A, B int // field indices; A scored at least as much as B, unless reversed

	// Difference is A's points per match minus B's. Its interval is for this difference
	// alone.
	Difference Estimate
	P          float64 // two-sided; 1 if nothing can be said
	Corrected  float64 // P adjusted for all comparisons made with this one, at most 1
	Holm       float64 // the same by Holm's method, which is simpler and more cautious
	Verdict    Verdict
}

// Reversed is the same comparison with B first.
func (c Comparison) Reversed() Comparison {
	d := &c.Difference
	c.A, c.B = c.B, c.A
	d.Estimate, d.Low, d.High = -d.Estimate, -d.High, -d.Low
	return c
}

// differences tests all pairs in an order.
func (a *Accumulator) differences(order []int, c *intervals) []Comparison {
	list := make([]Comparison, 0, len(a.pairs))
	for k, i := range order {
		for _, j := range order[k+1:] {
			list = append(list, a.difference(i, j, c))
		}
	}
	return list
}

// order returns the field indices from most to fewest adjusted points.
func (a *Accumulator) order() []int {
	order := make([]int, len(a.players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.players[j].adj, a.players[i].adj) })
	return order
}

// difference tests one pair by the paired t test.
func (a *Accumulator) difference(i, j int, c *intervals) Comparison {
	s, width := a.differenceSample(i, j), a.adjustedPoints(a.technical).width()
	d := Comparison{A: i, B: j, P: s.Zero(width), Difference: c.of(s, span{-width, width})}
	if s.Leagues >= 2 && s.Constant && s.Mean == 0 {
		d.Verdict = Equal
	}
	return d
}

// differenceSample summarizes the league differences between two players.
func (a *Accumulator) differenceSample(i, j int) Sample {
	return newSample(a.leagues, a.players[i].adj-a.players[j].adj, a.adj.differences(i, j), a.games*a.unit)
}

// Holm returns p-values adjusted for len(p) comparisons, in the same order, by the
// step-down method of S. Holm, Scandinavian Journal of Statistics 6 (1979), 65-70. It
// holds for every dependence among the comparisons.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected := make([]float64, len(p))
	worst := 0.0
	for k, i := range order {
		worst = max(worst, min(1, float64(len(p)-k)*p[i]))
		corrected[i] = worst
	}
	return corrected
}
