package analysis

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Odds is how two players compare in single leagues by raw points, as the referee counts
// them. With as many points as the other neither is above.
type Odds struct {
	A, B           int      // field indices
	AboveA, AboveB int64    // leagues in which one had more points than the other
	Above, Below   Estimate // chance of A to have more points than B in a league, and of B
	// P is the p-value of being above equally often, by the exact sign test over the leagues
	// in which one was above. It is adjusted together with TitlesP for both comparisons of
	// all pairs by Holm's method. In a sequential experiment both are valid after every
	// league.
	P       float64
	Verdict Verdict
	Method  Method // of P and TitlesP

	// TitlesA and TitlesB are the leagues in which one, and not the other, had the most
	// points of all; it may share them with others.
	TitlesA, TitlesB int64
	TitlesP          float64 // as P, for having the most points
	Titles           Verdict

	// Spread is the standard deviation over leagues of A's raw points per match minus B's:
	// the luck and mood of one league. NaN with fewer than two leagues.
	Spread float64
}

// Reversed is the same with B first.
func (o Odds) Reversed() Odds {
	o.A, o.B, o.AboveA, o.AboveB, o.Above, o.Below = o.B, o.A, o.AboveB, o.AboveA, o.Below, o.Above
	o.TitlesA, o.TitlesB = o.TitlesB, o.TitlesA
	return o
}

// Effect is a difference in points per match between A and B in standard deviations of
// one league: at 1, A's lead is as large as the usual luck of a league. The interval takes
// the standard deviation as known. It is undefined if that is 0.
func (o Odds) Effect(difference Estimate) Estimate {
	if !(o.Spread > 0) {
		return Estimate{Estimate: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	}
	difference.Estimate /= o.Spread
	difference.Low /= o.Spread
	difference.High /= o.Spread
	return difference
}

// OddsOf returns the odds of two players, a first.
func (e *Estimates) OddsOf(a, b int) Odds {
	o := e.Odds[pairIndex(len(e.Players), min(a, b), max(a, b))]
	if a > b {
		return o.Reversed()
	}
	return o
}

// Titles is a pair of which the titles say more than the points: the first takes titles
// significantly more often, and nothing says that it scores more.
type Titles struct {
	Odds
	ScoresLess bool // significantly
}

// MoreTitles returns such pairs in the order of Ranking.Comparisons; none without Odds.
func (e *Estimates) MoreTitles() (list []Titles) {
	if len(e.Odds) == 0 {
		return nil
	}
	for i := range e.Ranking.Comparisons {
		c := &e.Ranking.Comparisons[i]
		o, differ := e.OddsOf(c.A, c.B), c.Verdict == Different
		if o.Titles != Different || differ && o.TitlesA > o.TitlesB {
			continue
		}
		if o.TitlesA < o.TitlesB {
			o = o.Reversed()
		}
		list = append(list, Titles{o, differ})
	}
	return list
}

// odds compares all pairs in the order of pairIndex.
func (a *Accumulator) odds(c *intervals) []Odds {
	list := make([]Odds, 0, len(a.pairs))
	test, method := signTest, BySigns
	if c.sequence != nil {
		test, method = sequential.SignsP, BySignsSequence
	}
	var p []float64
	for i := range a.players {
		for j := i + 1; j < len(a.players); j++ {
			o := a.placings.odds(i, j)
			o.Above, o.Below = c.trials(o.AboveA, a.leagues), c.trials(o.AboveB, a.leagues)
			o.Spread, o.Method = a.rawSpread(i, j), method
			list = append(list, o)
			p = append(p, test(o.AboveA, o.AboveB), test(o.TitlesA, o.TitlesB))
		}
	}
	for k, corrected := range Holm(p) {
		o := &list[k/2]
		verdict := Undecided
		if corrected <= 1-c.level {
			verdict = Different
		}
		if k%2 == 0 {
			o.P, o.Verdict = corrected, verdict
		} else {
			o.TitlesP, o.Titles = corrected, verdict
		}
	}
	return list
}

// rawSpread is the standard deviation of the league differences of two players in raw
// points per match.
func (a *Accumulator) rawSpread(i, j int) float64 {
	if a.leagues < 2 {
		return math.NaN()
	}
	return math.Sqrt(newSample(a.leagues, a.players[i].raw-a.players[j].raw, a.raw.differences(i, j), a.games).Variance)
}

// signTest is the two-sided p-value of the hypothesis that two events are equally likely
// in every league in which exactly one of them occurs.
func signTest(a, b int64) float64 {
	if a == b {
		return 1
	}
	most, least := float64(max(a, b)), float64(min(a, b))
	return min(1, 2*sequential.Rounded(mathext.RegIncBeta(most, least+1, 0.5)))
}
