package tune

import (
	"math"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// delta is the improvement that a confirmation is to see, in points per match. False claims
// have half the chance that is left beside the interval, whose other half is for losses.
const (
	delta = 0.005
	alpha = 0.025
	beta  = 0.05
	level = 0.95
)

// unit is in how many parts a confirmation counts a point.
const unit = 1_000_000_000

// Confirmation compares new values with the old ones. With several fields and the worst as
// the score, the new ones must beat, in every field, what the old ones score in the one that
// the search found their worst. Then their worst is better, too, and no error grows with
// the number of fields.
type Confirmation struct {
	tests []*sequential.Ratio
	old   int // the worst field of the old values; -1 for the mean of all
}

// NewConfirmation returns an empty test. old is -1 for the mean of all fields.
func NewConfirmation(fields, old int) (*Confirmation, error) {
	c := &Confirmation{old: old}
	if old < 0 {
		fields = 1
	}
	for range fields {
		test, err := sequential.NewRatio(sequential.Hypotheses{Delta: delta, Alpha: alpha, Beta: beta}, sequential.Asymptotic, sequential.Shape{Players: 2, Scale: unit, High: 3, Choices: 0.5})
		if err != nil {
			return nil, err
		}
		c.tests = append(c.tests, test)
	}
	return c, nil
}

// Add takes the scores of one league, by field.
func (c *Confirmation) Add(new, old []float64) {
	if c.old < 0 {
		difference := 0.0
		for f := range new {
			difference += (new[f] - old[f]) / float64(len(new))
		}
		c.tests[0].Add(int64(math.Round(difference * unit)))
		return
	}
	for f, test := range c.tests {
		test.Add(int64(math.Round((new[f] - old[c.old]) * unit)))
	}
}

// Verdict is what a confirmation shows, in points per match.
type Verdict struct {
	Better              bool
	Decided             bool
	Leagues             int // until the decision
	Estimate, Low, High float64
}

// Verdict returns what the leagues so far show. The interval allows for the stopping; of
// several fields it is that of the one with the smallest improvement.
func (c *Confirmation) Verdict() Verdict {
	v := Verdict{Better: true, Decided: true, Estimate: math.Inf(1)}
	rejected := false
	for _, test := range c.tests {
		r := test.Report(level)
		v.Better = v.Better && r.Decision == sequential.Accepted && r.EstimateLow > 0
		v.Decided = v.Decided && r.Decision != sequential.Open
		rejected = rejected || r.Decision == sequential.Rejected
		v.Leagues = max(v.Leagues, r.Leagues)
		if r.Estimate < v.Estimate || math.IsInf(v.Estimate, 1) {
			v.Estimate, v.Low, v.High = r.Estimate, r.EstimateLow, r.EstimateHigh
		}
	}
	v.Decided = v.Decided || rejected
	return v
}
