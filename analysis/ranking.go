package analysis

import "math/big"

// Ranking is what can be said of the order of all players at once, by adjusted
// points. All its statements together hold in at least the stated share of
// experiments.
type Ranking struct {
	Level float64
	// Comparisons has every pair, better player first, in the order of
	// Estimates.Order. Corrected p-values are those of the step-down procedure on
	// the largest statistic, or of Holm's for few leagues (fewer than 100, or than
	// five for each player). Verdict is Different where they are at most 1-Level.
	// Holm's p-values, for both directions of all pairs, stand beside them.
	Comparisons []Comparison
	// Places has by field index the best and the worst place, counted from 1,
	// that the player can truly have: one more than the number of players who
	// are significantly better, and all but those who are significantly worse.
	Places [][2]int
	// Tiers has the field indices of those who cannot be told apart from above:
	// in the first tier is everybody to whom nobody is significantly superior, in
	// the second everybody to whom nobody but members of the first is, and so on.
	// Being in one tier does not make two players equal.
	Tiers [][]int
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
func (a *Accumulator) Ranking(level float64) Ranking {
	c := newIntervals(level)
	order := a.orderBy(AdjustedPoints)
	r := Ranking{Level: level}
	for k, i := range order {
		for _, j := range order[k+1:] {
			r.Comparisons = append(r.Comparisons, a.difference(AdjustedPoints, i, j, c))
		}
	}
	a.correctRanking(r.Comparisons)
	superior := make([][]bool, len(order)) // superior[i][j]: i is better than j
	for i := range superior {
		superior[i] = make([]bool, len(order))
	}
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

// Below these numbers of leagues, in all and for each player, the correlations
// between players are not known well enough to make use of them.
const (
	fewLeagues       = 100
	fewLeaguesPlayer = 5
)

// correctRanking fills in the p-values corrected for both directions of all pairs.
func (a *Accumulator) correctRanking(list []Comparison) {
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
		return
	}
	// Differences on which all leagues agree have no t; Bonferroni's correction is
	// theirs.
	var contrasts []contrast
	for k := range list {
		d := &list[k]
		s := a.differenceSample(AdjustedPoints, d.A, d.B)
		if s.constant {
			d.Corrected = min(1, float64(len(list))*d.P)
			continue
		}
		contrasts = append(contrasts, contrast{
			index: k, better: d.A, worse: d.B, se: s.standardError(), z: normalEquivalent(d.P),
		})
	}
	for k, p := range stepDown(contrasts, a.covariance(), estimatedAllowance(a.leagues)) {
		d := &list[contrasts[k].index]
		d.Corrected = max(p, d.P/2) // never below what the one comparison alone gives
	}
}

// covariance is that of the players' mean adjusted points per match, lower
// triangle.
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

// places turns significant differences into ranges of places.
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

// tiers peels off those to whom nobody left is superior, until nobody is left.
// There is always somebody, since superiority follows the order.
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
