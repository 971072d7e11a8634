package calibration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Row is one measured value.
type Row struct {
	Field       string // what was played
	Players     int
	Legs        int
	Leagues     int // of one experiment
	Repetitions int
	What        string

	// Nominal is the promised value; NaN without a promise. AtLeast and AtMost are the
	// bounds of the measured value; NaN without a bound.
	Nominal, AtLeast, AtMost float64

	// Measured is the share of experiments, or of intervals of all experiments, or the
	// mean of other values.
	Measured float64
	// Error is the Monte Carlo standard error of a share; NaN for other values. That of
	// Measured is no larger if it is a mean over several intervals of each experiment.
	Error float64

	Intervals       int     // of each experiment; 0 for other rows
	Lowest, Highest float64 // among the intervals
	Width           float64 // mean width of the intervals; NaN for other rows
}

// Kept reports whether the measurement is consistent with the promise: within three
// Monte Carlo errors of the bounds, for the lowest and the highest of several within
// four and a half.
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
		Field: f.Name, Players: len(f.Players), Legs: f.Legs, Leagues: f.Leagues, Repetitions: opts.Repetitions, What: what, Width: nan,
		Nominal: nan, AtLeast: nan, AtMost: nan,
		// For a share at its nominal value, be it the level or its complement.
		Error: math.Sqrt(opts.Level * (1 - opts.Level) / float64(opts.Repetitions)),
	}
}

// promise is the side of its nominal value that a share has to keep to.
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

// WriteTable writes rows for people, under a heading for each field. A row that breaks
// its promise ends in "MISSED".
func WriteTable(w io.Writer, rows []Row) error {
	var buf bytes.Buffer
	tw := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	last := ""
	for _, r := range rows {
		head := fmt.Sprintf("%s, %d legs, %d leagues, %d repetitions", r.Field, r.Legs, r.Leagues, r.Repetitions)
		if head != last {
			if last != "" {
				fmt.Fprintln(tw)
			}
			fmt.Fprintf(tw, "%s\n\tpromised\tmeasured\t± MC error\tlowest to highest\tmean width\n", head)
			last = head
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.What, r.promised(), r.measured(r.Measured), r.chance(), r.spread(), digits(r.Width), r.missed())
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	return nil
}

// share reports whether the row is a share, shown in percent.
func (r Row) share() bool { return !math.IsNaN(r.Error) }

func (r Row) measured(x float64) string {
	if !r.share() {
		return digits(x)
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}

func (r Row) promised() string {
	switch {
	case math.IsNaN(r.Nominal):
		return ""
	case !r.share():
		return "<= " + digits(r.Nominal)
	case math.IsNaN(r.AtLeast):
		return fmt.Sprintf("<= %.4g %%", 100*r.Nominal)
	case r.Intervals > 0 && r.AtMost < 1:
		return fmt.Sprintf("%.4g %%", 100*r.Nominal)
	}
	return fmt.Sprintf(">= %.4g %%", 100*r.AtLeast)
}

func (r Row) chance() string {
	if !r.share() {
		return ""
	}
	return fmt.Sprintf("%.2f", 100*r.Error)
}

func (r Row) spread() string {
	if r.Intervals < 2 {
		return ""
	}
	return fmt.Sprintf("%s to %s of %d", r.measured(r.Lowest), r.measured(r.Highest), r.Intervals)
}

func (r Row) missed() string {
	if r.Kept() {
		return ""
	}
	return "MISSED"
}

func digits(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%.4g", x)
}

// document is a row in JSON; a number that does not exist is null.
type document struct {
	Field       string   `json:"field"`
	Players     int      `json:"players"`
	Legs        int      `json:"legs"`
	Leagues     int      `json:"leagues"`
	Repetitions int      `json:"repetitions"`
	What        string   `json:"what"`
	Nominal     *float64 `json:"nominal"`
	AtLeast     *float64 `json:"at_least"`
	AtMost      *float64 `json:"at_most"`
	Measured    *float64 `json:"measured"`
	Error       *float64 `json:"error"` // Monte-Carlo standard error
	Intervals   int      `json:"intervals"`
	Lowest      float64  `json:"lowest"`
	Highest     float64  `json:"highest"`
	Width       *float64 `json:"width"`
	Kept        bool     `json:"kept"`
}

// WriteJSON writes rows as a JSON array.
func WriteJSON(w io.Writer, rows []Row) error {
	number := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	list := make([]document, 0, len(rows))
	for _, r := range rows {
		list = append(list, document{
			Field: r.Field, Players: r.Players, Legs: r.Legs, Leagues: r.Leagues, Repetitions: r.Repetitions, What: r.What,
			Nominal: number(r.Nominal), AtLeast: number(r.AtLeast), AtMost: number(r.AtMost), Measured: number(r.Measured),
			Error: number(r.Error), Intervals: r.Intervals, Lowest: r.Lowest, Highest: r.Highest, Width: number(r.Width), Kept: r.Kept(),
		})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	return nil
}
