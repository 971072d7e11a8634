package calibration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// Row is one measured value.
type Row struct {
	Field       string `json:"field"` // what was played
	Players     int    `json:"players"`
	Legs        int    `json:"legs"`
	Leagues     int    `json:"leagues"` // of one experiment
	Repetitions int    `json:"repetitions"`
	What        string `json:"what"`

	// Nominal is the promised value; NaN without a promise. AtLeast and AtMost are the
	// bounds of the measured value; NaN without a bound.
	Nominal analysis.Number `json:"nominal"`
	AtLeast analysis.Number `json:"at_least"`
	AtMost  analysis.Number `json:"at_most"`

	// Measured is the share of experiments, or of intervals of all experiments, or the
	// mean of other values.
	Measured analysis.Number `json:"measured"`
	// Error is the Monte Carlo standard error of a share; NaN for other values. That of
	// Measured is no larger if it is a mean over several intervals of each experiment.
	Error analysis.Number `json:"error"`

	Intervals int             `json:"intervals"` // of each experiment; 0 for other rows
	Lowest    float64         `json:"lowest"`    // among the intervals
	Highest   float64         `json:"highest"`
	Width     analysis.Number `json:"width"` // mean width of the intervals; NaN for other rows

	// Verdict, instead of Measured, says how a bar is kept, or that it is missed.
	Verdict string `json:"verdict,omitempty"`
}

// Kept reports whether the measurement is consistent with the promise: within three
// Monte Carlo errors of the bounds, for the lowest and the highest of several within
// four and a half.
func (r Row) Kept() bool {
	if r.Verdict != "" {
		return r.Verdict != missed
	}
	within := func(x, errors analysis.Number) bool {
		slack := analysis.Number(0)
		if r.share() {
			slack = errors * r.Error
		}
		return !(x < r.AtLeast-slack) && !(x > r.AtMost+slack)
	}
	if !within(r.Measured, 3) {
		return false
	}
	return r.Intervals < 2 || within(analysis.Number(r.Lowest), 4.5) && within(analysis.Number(r.Highest), 4.5)
}

const missed = "MISSED"

func newRow(f Field, what string, opts Options) Row {
	nan := analysis.Number(math.NaN())
	return Row{
		Field: f.Name, Players: len(f.Players), Legs: f.Legs, Leagues: f.Leagues, Repetitions: opts.Repetitions, What: what, Width: nan,
		Nominal: nan, AtLeast: nan, AtMost: nan,
		// For a share at its nominal value, be it the level or its complement.
		Error: analysis.Number(math.Sqrt(opts.Level * (1 - opts.Level) / float64(opts.Repetitions))),
	}
}

// promise is the side of its nominal value that a share has to keep to.
type promise int

const (
	noPromise promise = iota
	atLeast
	atMost
)

func (t *tally) event(what string, count int, p promise, bound analysis.Number) Row {
	r := newRow(t.field, what, t.opts)
	share := float64(count) / float64(t.opts.Repetitions)
	r.Measured = analysis.Number(share)
	switch p {
	case atLeast:
		r.Nominal, r.AtLeast = bound, bound
	case atMost:
		r.Nominal, r.AtMost = bound, bound
	case noPromise:
		r.Error = analysis.Number(math.Sqrt(share * (1 - share) / float64(t.opts.Repetitions)))
	}
	return r
}

func (t *tally) value(what string, x float64) Row {
	r := newRow(t.field, what, t.opts)
	r.Measured, r.Error = analysis.Number(x), analysis.Number(math.NaN())
	return r
}

// WriteTable writes rows for people, under a heading for each field. A row that breaks
// its promise ends in "MISSED".
func WriteTable(w io.Writer, rows []Row) error {
	var buf bytes.Buffer
	tw := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	last := ""
	for _, r := range rows {
		heading := r.heading()
		head := strings.Join(heading[:], ", ")
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
func (r Row) share() bool { return !math.IsNaN(float64(r.Error)) }

func (r Row) measured(x analysis.Number) string {
	if r.Verdict != "" {
		return r.Verdict
	}
	if !r.share() {
		return digits(x)
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}

func (r Row) promised() string {
	switch {
	case math.IsNaN(float64(r.Nominal)):
		return ""
	case !r.share():
		return "<= " + digits(r.Nominal)
	case math.IsNaN(float64(r.AtLeast)):
		return fmt.Sprintf("<= %.4g %%", 100*r.Nominal)
	case r.Intervals > 0 && r.AtMost < 1:
		return fmt.Sprintf("%.4g %%", 100*r.Nominal)
	}
	return fmt.Sprintf(">= %.4g %%", 100*r.AtLeast)
}

func (r Row) chance() string {
	if !r.share() || r.Verdict != "" {
		return ""
	}
	return fmt.Sprintf("%.2f", 100*r.Error)
}

func (r Row) spread() string {
	if r.Intervals < 2 {
		return ""
	}
	return fmt.Sprintf("%s to %s of %d", r.measured(analysis.Number(r.Lowest)), r.measured(analysis.Number(r.Highest)), r.Intervals)
}

func (r Row) missed() string {
	if r.Kept() || r.Verdict != "" {
		return ""
	}
	return missed
}

func digits(x analysis.Number) string {
	if math.IsNaN(float64(x)) {
		return ""
	}
	return fmt.Sprintf("%.4g", x)
}

// WriteJSON writes rows as a JSON array; a number that does not exist is null.
func WriteJSON(w io.Writer, rows []Row) error {
	type document struct {
		Row
		Kept bool `json:"kept"`
	}
	list := make([]document, len(rows))
	for i, r := range rows {
		list[i] = document{r, r.Kept()}
	}
	enc := json.NewEncoder(w) // which writes all at once
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		return fmt.Errorf("write calibration: %w", err)
	}
	return nil
}

// heading is what was played, and how often.
func (r Row) heading() [4]string {
	count := func(n int, what string) string { return words.Plain.Plural(int64(n), what) }
	return [4]string{r.Field, count(r.Legs, "leg"), count(r.Leagues, "league"), count(r.Repetitions, "repetition")}
}
