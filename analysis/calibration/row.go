package calibration

import "math"

// Row is one thing that was measured.
type Row struct {
	Field       string // what was played
	Players     int
	Legs        int
	Leagues     int // of one experiment
	Repetitions int
	What        string

	// Nominal is what is promised; NaN where nothing is. AtLeast and AtMost are
	// within what the measured value then has to lie; NaN where there is no bound.
	Nominal, AtLeast, AtMost float64

	// Measured is the share of experiments, or of intervals of all experiments; for
	// values that are no shares, their mean.
	Measured float64
	// Error is the Monte-Carlo standard error of a share measured in so many
	// experiments; NaN for values that are no shares. That of Measured is no
	// larger where it is a mean over several intervals of each experiment.
	Error float64

	Intervals       int     // of each experiment; 0 where it is not about intervals
	Lowest, Highest float64 // among the intervals
	Width           float64 // mean width of the intervals; NaN where it is not about intervals
}

// Kept reports whether the measurement is consistent with what was promised:
// within three Monte-Carlo errors of the bounds, for the lowest and the highest
// of several within four and a half.
func (r Row) Kept() bool {
	within := func(x, errors float64) bool {
		slack := 0.0
		if r.share() {
			slack = errors * r.Error
		}
		return !(x < r.AtLeast-slack) && !(x > r.AtMost+slack)
	}
	if !within(r.Measured, 3) {
		return false
	}
	return r.Intervals < 2 || within(r.Lowest, 4.5) && within(r.Highest, 4.5)
}

func newRow(f Field, what string, opts Options) Row {
	nan := math.NaN()
	return Row{
		Field: f.Name, Players: len(f.Bots), Legs: f.Legs, Leagues: f.Leagues, Repetitions: opts.Repetitions, What: what, Width: nan,
		Nominal: nan, AtLeast: nan, AtMost: nan,
		// That of a share that is what it should be, be it the level or its complement.
		Error: math.Sqrt(opts.Level * (1 - opts.Level) / float64(opts.Repetitions)),
	}
}

// promise says which side of its nominal value a share has to keep to.
type promise int

const (
	noPromise promise = iota
	atLeast
	atMost
)

func (t *tally) event(what string, count int, p promise, bound float64) Row {
	r := newRow(t.field, what, t.opts)
	r.Measured = float64(count) / float64(t.opts.Repetitions)
	switch p {
	case atLeast:
		r.Nominal, r.AtLeast = bound, bound
	case atMost:
		r.Nominal, r.AtMost = bound, bound
	case noPromise:
		r.Error = math.Sqrt(r.Measured * (1 - r.Measured) / float64(t.opts.Repetitions))
	}
	return r
}

func (t *tally) value(what string, x float64) Row {
	r := newRow(t.field, what, t.opts)
	r.Measured, r.Error = x, math.NaN()
	return r
}
