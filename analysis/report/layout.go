package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
)

// verdict is the line that says what the order of the table is worth.
func (r Run) verdict() string {
	e := &r.Estimates
	switch {
	case e.Leagues < 2:
		return "Nothing can be said about differences from fewer than two leagues."
	case e.NothingToRank():
		d := e.Pairs[0].Differ
		return fmt.Sprintf("Two players and a fair draw: both expect the same, so there is nothing to rank. "+
			"Their choices differ in %s %% of matches (%s to %s). %s",
			strconv.FormatFloat(100*d.Estimate, 'f', 2, 64),
			strconv.FormatFloat(100*d.Low, 'f', 2, 64), strconv.FormatFloat(100*d.High, 'f', 2, 64), upperFirst(r.narrower()))
	}
	different, equal := e.Distinguishable()
	line := fmt.Sprintf("Really distinguishable: %d of %s (>)", different, plural(int64(len(e.Neighbours())), "pair of neighbours"))
	if equal > 0 {
		line += fmt.Sprintf(", %d equal (=)", equal)
	}
	if rest := len(e.Neighbours()) - different - equal; rest > 0 {
		line += fmt.Sprintf(", no evidence for %d (~)", rest)
	}
	return line + "; " + r.narrower()
}

// rankingLines say what can be said of the order as a whole, and how much of the
// first player's estimate is the luck of being selected.
func (r Run) rankingLines() []string {
	e := &r.Estimates
	if e.Leagues < 2 || e.NothingToRank() {
		return nil
	}
	var differ, holm int
	for _, c := range e.Ranking.Comparisons {
		if c.Verdict == analysis.Different {
			differ++
		}
		if c.Verdict != analysis.Equal && c.Holm <= 1-e.Ranking.Level {
			holm++
		}
	}
	pairs := plural(int64(len(e.Ranking.Comparisons)), "pair")
	lines := []string{fmt.Sprintf("Of all %s %d differ, tested together (by Holm's method %d). Tier 1 is everyone above whom nobody is "+
		"proven to stand; places are where each can truly stand, all at once, with %.0f %% confidence.", pairs, differ, holm, 100*e.Ranking.Level)}
	if len(e.Ranking.Tiers) == 1 {
		lines = append(lines, "There is no evidence that any two of them differ.")
	}
	if w := e.Winner; w != nil && len(e.Players) > 1 {
		lines = append(lines, fmt.Sprintf("%s came first of %d with %.4f adjusted points; corrected for having been selected: %.4f (%.4f to %.4f).",
			printable(e.Players[w.Field].Name), len(e.Players), e.Players[w.Field].Adjusted.Estimate,
			w.Adjusted.Estimate, w.Adjusted.Low, w.Adjusted.High))
	}
	return lines
}

// narrower says what adjusting gains.
func (r Run) narrower() string {
	ratio := r.Estimates.VarianceRatio
	switch {
	case math.IsNaN(ratio):
		return "adjusted points do not vary from league to league."
	case ratio < 1:
		return fmt.Sprintf("adjusted intervals are no narrower than raw ones here (variance ratio %.2f).", ratio)
	}
	return fmt.Sprintf("adjusted intervals are %.1f times narrower than raw ones (variance ratio %.1f).", math.Sqrt(ratio), ratio)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// longestFault is how much of a script's message is printed.
const longestFault = 160

// faultLines say what each player's technical losses were.
func (r Run) faultLines() []string {
	var lines []string
	for _, i := range r.places() {
		p := &r.Estimates.Players[i]
		for _, f := range p.Faults {
			line := fmt.Sprintf("%s: %s by %s", printable(p.Name), plural(f.Count, "technical loss"), f.Kind)
			if where, _, _ := strings.Cut(f.Where, "\n"); where != "" {
				line += ", first " + shorten(printable(where), longestFault)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// factLines say what was played, and how to know it again.
func (r Run) factLines() []string {
	played := plural(r.Estimates.Matches, "match")
	if r.Facts.Seconds > 0 {
		played += fmt.Sprintf(" in %.1f s", r.Facts.Seconds)
	}
	if rate := r.Facts.MatchesPerSecond; rate > 0 && !math.IsInf(rate, 0) {
		played += fmt.Sprintf(", %s a second", grouped(int64(rate)))
	}
	if r.Facts.Messages > 0 {
		played += ", " + plural(r.Facts.Messages, "message")
	}
	lines := []string{played}
	if r.Facts.Digest != "" {
		lines = append(lines, "digest "+printable(r.Facts.Digest))
	}
	if !r.Facts.Reproducible {
		lines = append(lines, "Not reproducible: time limits or lost connections decided matches, and need not do so again.")
	}
	return lines
}

// wrap breaks a line between words where it would exceed the width; 0 is no
// limit. Lines that follow are indented.
func wrap(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(line) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+n <= width:
			b.WriteByte(' ')
			used++
		default:
			b.WriteString("\n  ")
			used = 2
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// decimals is how many places show two digits of the widest interval of a
// column, at least two and at most six.
func decimals(e *analysis.Estimates, of func(*analysis.Player) analysis.Estimate) int {
	widest := 0.0
	for i := range e.Players {
		widest = max(widest, half(of(&e.Players[i])))
	}
	places := 2
	for scaled := widest * 100; places < 6 && scaled < 9.5; places++ {
		scaled *= 10
	}
	return places
}

// half is the longer of the interval's two sides.
func half(e analysis.Estimate) float64 {
	if !e.Defined() {
		return 0
	}
	return max(e.Estimate-e.Low, e.High-e.Estimate)
}

func withInterval(e analysis.Estimate, places int) string {
	if !e.Defined() {
		return "-"
	}
	return fmt.Sprintf("%.*f ±%.*f", places, e.Estimate, places, half(e))
}

func fixed(e analysis.Estimate, scale float64, places int) string {
	if !e.Defined() {
		return "-"
	}
	return strconv.FormatFloat(scale*e.Estimate, 'f', places, 64)
}

// plural counts things: "1 league", "1,000 leagues".
func plural(n int64, thing string) string {
	if n != 1 {
		switch head, tail, of := strings.Cut(thing, " of "); {
		case of:
			thing = head + "s of " + tail
		case strings.HasSuffix(thing, "s"), strings.HasSuffix(thing, "ch"):
			thing += "es"
		case strings.HasSuffix(thing, "y"):
			thing = strings.TrimSuffix(thing, "y") + "ies"
		default:
			thing += "s"
		}
	}
	return grouped(n) + " " + thing
}

// grouped writes thousands with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
