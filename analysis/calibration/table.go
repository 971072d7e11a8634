package calibration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// WriteTable writes rows for people, under a heading for each field. A row that
// does not keep what was promised ends in "MISSED".
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

// share reports whether the row is about a share, which is shown in percent.
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

// WriteJSON writes rows as an array, for programs.
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
