package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Tracker returns a tracker for a sequential experiment with the leagues of the plan.
// Add each league to both, in the order of the experiment:
//
//	a.Add(l)
//	t.Add(a.Last())
func (a *Accumulator) Tracker(o sequential.Options) (*sequential.Tracker, error) {
	return sequential.NewTracker(a.Shape(), o)
}

// Shape returns what the rules say about the league values of the plan. The match
// between two players moves both equally under a fair draw, and in general by no more
// than the edge of the likelier parity, so differences by choices stay well within the
// bounds of points.
func (a *Accumulator) Shape() sequential.Shape {
	opponents := float64(len(a.field) - 1)
	edge := float64(winPoints) * float64(max(2*a.even-a.unit, a.unit-2*a.even)) / float64(a.unit)
	return sequential.Shape{
		Players: len(a.field),
		Scale:   a.games * a.unit,
		High:    a.adjustedPoints(true).high,
		Choices: (float64((opponents-1)*a.adjustedPoints(false).width()) + edge) / opponents,
	}
}

// Last returns the adjusted points of the league that was added last, in units of
// Shape.Scale. They are valid until the next Add.
func (a *Accumulator) Last() []int64 { return a.league.adj }

// SequentialEstimates computes every estimate like [Accumulator.Estimates], with
// intervals and a ranking that hold at all numbers of leagues at once, however often
// somebody looked. The tracker must have been given the same leagues.
//
// The intervals of adjusted points are the tracker's; of what a league does as a whole,
// and of the odds of single leagues, the chances are bet against, which needs no
// approximation; elsewhere the t sequence replaces Student's t. The p-values of
// comparisons are always-valid and adjusted for all pairs and looks by Holm's method,
// those of points by themselves and those of odds by themselves. The winner has an interval
// that allows for its selection by the union bound over the players, and no estimate.
func (a *Accumulator) SequentialEstimates(t *sequential.Tracker) Estimates {
	c := newIntervals(t.Options().Level)
	student := sequential.NewStudent(sequential.BurnIn)
	c.sequence = &sequence{student: student, threshold: student.Threshold(sequenceShare * (1 - c.level))}
	e := a.estimates(c)
	for i := range e.Players {
		e.Players[i].Adjusted = c.tracked(t, i)
	}
	if e.Leagues > 0 && !e.NothingToRank() {
		low, high := t.Picked(e.Order[0])
		e.Winner = &Winner{Field: e.Order[0], Adjusted: c.by(trackedBy(t), math.NaN(), low, high)}
	}
	e.Ranking = a.sequentialRanking(e.Order, c, t.Decisions())
	e.Ranking.Method = trackedBy(t)
	return e
}

// trackedBy is how a tracker makes intervals and p-values.
func trackedBy(t *sequential.Tracker) Method {
	if t.Options().Guarantee == sequential.Finite {
		return ByBetting
	}
	return ByMixture
}

// tracked returns the adjusted points of a player with the interval of a tracker.
func (c *intervals) tracked(t *sequential.Tracker, player int) Estimate {
	adjusted, low, high := t.Interval(player)
	return c.by(trackedBy(t), adjusted, low, high)
}

func (a *Accumulator) sequentialRanking(order []int, c *intervals, d *sequential.Decisions) Ranking {
	r := Ranking{Level: c.level, Comparisons: a.differences(order, c)}
	superior := newRelation(len(order))
	for k := range r.Comparisons {
		x := &r.Comparisons[k]
		p := d.P(x.A, x.B)
		x.P, x.Corrected, x.Holm = p, p, p
		if d.Better(x.A, x.B) {
			superior[x.A][x.B], x.Verdict = true, Different
		}
	}
	r.Places = places(superior)
	r.Tiers = tiers(order, superior)
	return r
}

// sequenceShare is the part of the error that goes to leagues that differ; the rest goes
// to those that all agree so far.
const sequenceShare = 0.95

// sequence replaces the quantile of Student's t by the value that |t| exceeds at no
// number of leagues.
type sequence struct {
	student   sequential.Student
	threshold float64
}

func (s *sequence) critical(n int64) float64 { return s.student.Critical(n, s.threshold) }

// silent reports that n leagues are too few for a sequence.
func (c *intervals) silent(n int64) bool { return c.sequence != nil && n < sequential.BurnIn }

// normal is the two-sided critical value of the normal distribution, or its replacement
// in a sequence after n leagues.
func (c *intervals) normal(n int64) float64 {
	if c.sequence != nil {
		return c.sequence.critical(n)
	}
	return sequential.Rounded(distuv.UnitNormal.Quantile(0.5 + c.level/2))
}

// tail is the chance that a normal value exceeds it.
func (c *intervals) tail(n int64) float64 {
	if c.sequence != nil {
		return sequential.Rounded(distuv.UnitNormal.Survival(c.sequence.critical(n)))
	}
	return (1 - c.level) / 2
}
