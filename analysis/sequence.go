package analysis

import (
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Tracker returns a tracker of sequential experiments for the leagues of the plan.
// Each league is to be added to both, in the order of the experiment:
//
//	a.Add(l)
//	t.Add(a.Last())
func (a *Accumulator) Tracker(o sequential.Options) (*sequential.Tracker, error) {
	return sequential.NewTracker(a.Shape(), o)
}

// Shape is what the rules say of the league values of the plan. Two players' own
// matches move both equally under a fair draw, and in general by no more than the
// edge of the likelier parity, so differences stay well within the bounds of points.
func (a *Accumulator) Shape() sequential.Shape {
	opponents := float64(len(a.field) - 1)
	choices, technical := a.adjustedPoints(false), a.adjustedPoints(true)
	edge := float64(winPoints) * float64(max(2*a.even-a.unit, a.unit-2*a.even)) / float64(a.unit)
	return sequential.Shape{
		Players: len(a.field),
		Scale:   a.games * a.unit,
		Choices: sequential.Bounds{
			Low: choices.low, High: choices.high,
			Difference: (float64((opponents-1)*choices.width()) + edge) / opponents,
		},
		Technical: sequential.Bounds{Low: technical.low, High: technical.high, Difference: technical.width()},
	}
}

// Last is what the league that was added last came to. It is valid until the next
// is added.
func (a *Accumulator) Last() sequential.League {
	return sequential.League{Points: a.league.adj, Technical: a.league.technical}
}

// SequentialEstimates computes every estimate like [Accumulator.Estimates], with
// intervals and a ranking that hold at all numbers of leagues at once, however often
// somebody looked. The tracker must have been given the same leagues.
//
// The intervals of adjusted points are the tracker's; elsewhere its t sequence takes
// the place of Student's t. The p-values of comparisons are always-valid and
// corrected for all pairs and looks by Holm's method. There is no winner corrected
// for having been selected, since that method is for a given number of leagues.
func (a *Accumulator) SequentialEstimates(t *sequential.Tracker) Estimates {
	c := newIntervals(t.Options().Level)
	c.sequence = newSequence(c.level)
	e := a.estimates(c)
	for i := range e.Players {
		adjusted, low, high := t.Interval(i)
		e.Players[i].Adjusted = Estimate{adjusted, low, high}
	}
	e.Ranking = a.sequentialRanking(e.Order, c, t.Decisions())
	return e
}

func (a *Accumulator) sequentialRanking(order []int, c *intervals, d *sequential.Decisions) Ranking {
	r := Ranking{Level: c.level}
	superior := make([][]bool, len(order)) // superior[i][j]: i is better than j
	for i := range superior {
		superior[i] = make([]bool, len(order))
	}
	for k, i := range order {
		for _, j := range order[k+1:] {
			comparison := a.difference(AdjustedPoints, i, j, c)
			p := d.P(i, j)
			comparison.P, comparison.Corrected, comparison.Holm = p, p, p
			superior[i][j] = d.Better(i, j)
			if superior[i][j] {
				comparison.Verdict = Different
			}
			r.Comparisons = append(r.Comparisons, comparison)
		}
	}
	r.Places = places(superior)
	r.Tiers = tiers(order, superior)
	return r
}

// sequence replaces the quantile of Student's t by what |t| exceeds at no number of
// leagues.
type sequence struct {
	student   sequential.Student
	threshold float64
}

func newSequence(level float64) *sequence {
	s := sequential.NewStudent(sequential.BurnIn)
	return &sequence{student: s, threshold: s.Threshold(1 - level)}
}

func (s *sequence) critical(n int64) float64 { return s.student.Critical(n, s.threshold) }

// silent reports that n leagues are too few for a sequence to say anything.
func (c *intervals) silent(n int64) bool { return c.sequence != nil && n < sequential.BurnIn }

// normal is the two-sided critical value of the normal distribution, or what takes
// its place in a sequence after n leagues.
func (c *intervals) normal(n int64) float64 {
	if c.sequence != nil {
		return c.sequence.critical(n)
	}
	return rounded(distuv.UnitNormal.Quantile(0.5 + c.level/2))
}

// tail is the chance that a normal value exceeds it.
func (c *intervals) tail(n int64) float64 {
	if c.sequence != nil {
		return rounded(distuv.UnitNormal.Survival(c.sequence.critical(n)))
	}
	return (1 - c.level) / 2
}
