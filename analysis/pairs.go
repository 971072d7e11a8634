package analysis

import "math"

// Pair is what two players did against each other.
type Pair struct {
	A, B    int // field indices, A < B
	Matches int64
	// WinsA and WinsB count wins on technical grounds as well. Matches that
	// both lost on technical grounds are neither wins nor draws.
	WinsA, WinsB, Draws int64

	// Clean is how many matches were decided by the choices of both.
	Clean int64
	// Differ is the share of clean matches in which the choices differed. A
	// match decided on technical grounds says nothing about it, since somebody
	// made no choice; it leaves numerator and denominator alike. Undefined if
	// no match was clean.
	Differ Estimate

	PointsA, PointsB     float64 // raw points per match; NaN without a league
	AdjustedA, AdjustedB float64 // adjusted points per match; NaN without a league

	// Luck is the mean per match of A's raw minus adjusted points, which is
	// B's with the sign changed. Its expectation is zero, whatever the
	// strategies, if the draw is what the plan says and nobody knows it.
	Luck Luck
}

// Luck is a mean over leagues that is expected to be zero.
type Luck struct {
	Mean          float64
	StandardError float64 // of the mean; NaN with fewer than two leagues
}

// pairEstimates returns all pairs in the order of pairIndex.
func (a *Accumulator) pairEstimates(c *intervals) []Pair {
	list := make([]Pair, 0, len(a.pairs))
	for i := range a.players {
		for j := i + 1; j < len(a.players); j++ {
			list = append(list, a.pair(i, j, c))
		}
	}
	return list
}

func (a *Accumulator) pair(i, j int, c *intervals) Pair {
	p := &a.pairs[pairIndex(len(a.players), i, j)]
	matches := a.leagues * int64(a.legs)
	n := float64(matches)
	rawA := winPoints*p.winsA + drawPoints*p.draws
	rawB := winPoints*p.winsB + drawPoints*p.draws
	return Pair{
		A: i, B: j, Matches: matches,
		WinsA: p.winsA, WinsB: p.winsB, Draws: p.draws,
		Clean: p.differ.base, Differ: c.of(p.differ.sample(), span{0, 1}),
		PointsA: float64(rawA) / n, PointsB: float64(rawB) / n,
		AdjustedA: float64(p.adjA) / (n * float64(a.unit)),
		AdjustedB: float64(p.adjB) / (n * float64(a.unit)),
		Luck:      a.luck(rawA*a.unit-p.adjA, p.luckSq),
	}
}

func (a *Accumulator) luck(sum int64, squares wide) Luck {
	s := newSample(a.leagues, sum, squares.big(), int64(a.legs)*a.unit)
	if a.leagues == 0 {
		return Luck{math.NaN(), math.NaN()}
	}
	if a.leagues == 1 {
		return Luck{s.mean, math.NaN()}
	}
	return Luck{s.mean, s.standardError()}
}
