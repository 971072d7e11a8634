package analysis

import "gonum.org/v1/gonum/stat/distuv"

// ScoresLeast returns the opponent against which a player has fewer adjusted points per
// match than against any other, if there is evidence of that: a fair draw and no technical
// losses, so that points follow from how often choices differ, and intervals of that share
// that stay apart when they are widened for all pairs of opponents (Bonferroni), however
// the shares depend on each other.
func (e *Estimates) ScoresLeast(player int) (opponent int, ok bool) {
	var opponents []int
	var shares []Estimate
	least := 0
	for _, p := range e.Pairs {
		if p.A != player && p.B != player {
			continue
		}
		if p.Clean != p.Matches || !p.Differ.Defined() {
			return 0, false
		}
		if len(shares) > 0 && p.Differ.Estimate < shares[least].Estimate {
			least = len(shares)
		}
		opponents, shares = append(opponents, p.A+p.B-player), append(shares, p.Differ)
	}
	k := float64(len(shares))
	if !e.Fair || k < 2 {
		return 0, false
	}
	normal := func(chance float64) float64 { return -distuv.UnitNormal.Quantile(chance) }
	wider := normal((1-e.Level)/(k*(k-1))) / normal((1-e.Level)/2)
	below := shares[least]
	for j, x := range shares {
		if j != least && x.Estimate-float64(wider*(x.Estimate-x.Low)) <= below.Estimate+float64(wider*(below.High-below.Estimate)) {
			return 0, false
		}
	}
	return opponents[least], true
}
