package analysis

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Estimate is a number with its interval: the procedure that made the interval covers
// the true value in at least the stated share of experiments. Low <= Estimate <= High.
//
// Without a league Estimate is NaN and the interval is the whole range of the number.
type Estimate struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Level    float64 `json:"level,omitempty"`  // of the interval, such as 0.95; absent from what is not estimated
	Method   Method  `json:"method,omitempty"` // of the interval
}

// MarshalJSON writes null if there is no estimate.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Defined() {
		return []byte("null"), nil
	}
	type members Estimate
	return json.Marshal(members(e))
}

// UnmarshalJSON reads null as no estimate.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	type members Estimate
	*e = Estimate{Estimate: math.NaN()}
	return json.Unmarshal(text, (*members)(e))
}

// Number is a float64 that JSON has as null if it is NaN or infinite.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (x Number) MarshalJSON() ([]byte, error) {
	if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON reads null as NaN.
func (x *Number) UnmarshalJSON(text []byte) error {
	*x = Number(math.NaN())
	return json.Unmarshal(text, (*float64)(x))
}

// Defined reports whether there is an estimate.
func (e Estimate) Defined() bool { return !math.IsNaN(e.Estimate) }

// Width is the length of the interval.
func (e Estimate) Width() float64 { return e.High - e.Low }

// DefaultLevel is the default confidence level.
const DefaultLevel = 0.95

// intervals makes intervals of one confidence level. It caches the last quantile,
// because nearly all numbers of an experiment share their degrees of freedom, and is
// not safe for concurrent use.
type intervals struct {
	level    float64
	leagues  int64 // of the quantile that is remembered
	quantile float64
	// sequence, if not nil, makes the intervals hold at all numbers of leagues at once.
	sequence *sequence
}

func newIntervals(level float64) *intervals {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("analysis: confidence level %v is not in (0, 1)", level))
	}
	return &intervals{level: level}
}

// of returns the interval for the mean of independent league values within a range.
//
//   - Two leagues or more that differ: Student's t on the league values (Student,
//     Biometrika 6 (1908), 1-25), cut off at the range; or [intervals.lopsided] for
//     values near a bound.
//   - Two or more that all agree: see [intervals.unseen].
//   - Fewer: the whole range, since one league says nothing about the next.
func (c *intervals) of(s Sample, r span) Estimate {
	if s.Leagues == 0 {
		return c.by(ByRange, math.NaN(), r.low, r.high)
	}
	mean := min(max(s.Mean, r.low), r.high) // against the last bit of the division
	if s.Leagues == 1 {
		return c.by(ByRange, mean, r.low, r.high)
	}
	if s.Constant {
		w := c.unseen(s.Leagues)
		return c.by(ByUnseen, mean, mean-float64(w*(mean-r.low)), mean+float64(w*(r.high-mean)))
	}
	if c.silent(s.Leagues) {
		return c.by(ByRange, mean, r.low, r.high)
	}
	if e, ok := c.lopsided(s, mean, r, fewEvents); ok {
		return e
	}
	half := float64(c.t(s.Leagues) * s.standardError())
	return c.by(ByStudent, mean, max(r.low, mean-half), min(r.high, mean+half))
}

// fewEvents is the number from which on the t interval for a rare event holds its level
// to half a percent.
const fewEvents = 100

// lopsided returns the interval for league values that mostly lie at a bound of the
// range, and false if they do not. An example is the title share of a player that
// seldom wins: with two titles expected in 1,000 leagues, the t interval misses 14
// times in 100, because it is too short on the far side.
//
// The method is that of E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998),
// 193-201, for proportions from clustered data: Clopper and Pearson's interval with as
// many trials as would give the variance among the leagues. The distance of the mean to
// the bound counts as a number of events; the method is used if there is less than one
// event per league and fewer than few in all. For a share of 0 or 1 in each league it
// is within one trial of Clopper and Pearson's.
func (c *intervals) lopsided(s Sample, mean float64, r span, few float64) (Estimate, bool) {
	p := (mean - r.low) / r.width()
	spread := s.Variance / float64(r.width()*r.width())
	perLeague := min(p, 1-p) * p * (1 - p) / spread
	if !(perLeague > 0 && perLeague < 1 && perLeague*float64(s.Leagues) < few) {
		return Estimate{}, false
	}
	shrink := c.normal(s.Leagues) / c.t(s.Leagues) // few leagues know their own variance badly
	trials := float64(float64(s.Leagues) * p * (1 - p) / spread * shrink * shrink)
	x, tail := float64(p*trials), c.tail(s.Leagues)
	low := sequential.Rounded(mathext.InvRegIncBeta(x, trials-x+1, tail))
	high := sequential.Rounded(mathext.InvRegIncBeta(x+1, trials-x, 1-tail))
	return c.by(ByEvents, mean,
		min(mean, r.low+float64(r.width()*low)),
		max(mean, min(r.high, r.low+float64(r.width()*high)))), true
}

// t is the two-sided critical value of Student's t for the mean of n leagues.
func (c *intervals) t(n int64) float64 {
	if c.sequence != nil {
		return c.sequence.critical(n)
	}
	if c.leagues != n {
		d := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
		c.leagues, c.quantile = n, sequential.Rounded(d.Quantile(0.5+c.level/2))
	}
	return c.quantile
}

// unseen is how much of the range must be left open when n leagues all gave one value:
// other values can have a chance of up to 1-(a/2)^(1/n), where 1-a is the level, and
// still stay unseen with chance a/2. In the worst case they all lie at an end of the
// range, so they pull the mean towards each end by at most that share of the distance.
//
// If the one value is a bound of the range, this is the exact interval of C. J. Clopper
// and E. S. Pearson, Biometrika 26 (1934), 404-413, for no success in n trials.
//
// It is wrong at some n while all agree only if it is at the first such n, so it may be
// looked at after every league. In a sequence it gets the part of the error that is left
// of [sequenceShare], because the leagues may come to differ later.
func (c *intervals) unseen(n int64) float64 {
	tail := (1 - c.level) / 2
	if c.sequence != nil {
		tail = (1 - sequenceShare) * (1 - c.level)
	}
	return sequential.Rounded(-math.Expm1(math.Log(tail) / float64(n)))
}

// tTest is the two-sided p-value of the hypothesis that a mean of n league values is
// zero, given its t statistic.
func tTest(t float64, n int64) float64 {
	df := float64(n - 1)
	return sequential.Rounded(mathext.RegIncBeta(df/2, 0.5, df/(df+float64(t*t))))
}

// fewTrials is how many leagues on either side Wilson's interval needs to hold a level
// of 95 % to one percent for every chance.
const fewTrials = 50

// trials returns the interval for the chance of an event that occurred in hits of n
// leagues. What a league does as a whole (who won it, who was third) is an independent
// trial, unlike its matches.
//
// The method is that of E. B. Wilson, JASA 22 (1927), 209-212, or, with fewer than 50
// leagues on one side, the exact one of C. J. Clopper and E. S. Pearson, Biometrika 26
// (1934), 404-413: Wilson's holds its level on average over all chances, but not for a
// given small one.
func (c *intervals) trials(hits, n int64) Estimate {
	if n == 0 {
		return c.by(ByRange, math.NaN(), 0, 1)
	}
	share := float64(hits) / float64(n)
	if n == 1 {
		return c.by(ByRange, share, 0, 1)
	}
	if c.sequence != nil {
		low, high := sequential.TrialsInterval(hits, n-hits, c.level)
		return c.by(ByTrialsSequence, share, low, high)
	}
	if min(hits, n-hits) < fewTrials {
		return c.exact(hits, n)
	}
	z := c.normal(n)
	weight := float64(z*z) / float64(n)
	centre := (share + weight/2) / (1 + weight)
	half := float64(math.Sqrt(float64(share*(1-share))*weight+float64(weight*weight)/4)) / (1 + weight)
	return c.by(ByWilson, share, centre-half, centre+half)
}

func (c *intervals) exact(hits, n int64) Estimate {
	e := c.by(ByExact, float64(hits)/float64(n), 0, 1)
	x, rest, tail := float64(hits), float64(n-hits), c.tail(n)
	if hits > 0 {
		e.Low = min(e.Estimate, sequential.Rounded(mathext.InvRegIncBeta(x, rest+1, tail)))
	}
	if hits < n {
		e.High = max(e.Estimate, sequential.Rounded(mathext.InvRegIncBeta(x+1, rest, 1-tail)))
	}
	return e
}
