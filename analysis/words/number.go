// Package words puts numbers, intervals, ties and verdicts into words. Tables, the
// report page, the answers of MCP tools and the screen of a player all say them with
// this package, so that one result reads the same everywhere.
//
// A [Style] chooses the characters; the words are the same in both styles. Numbers
// that do not exist (NaN or infinite) are written as "-".
package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// Style is the set of characters that numbers and quotations are written with.
type Style uint8

const (
	Plain   Style = iota // for terminals and programs
	Typeset              // for pages: no-break spaces, minus signs, en dashes, curly quotation marks
)

// Number writes x with a fixed number of decimals and commas between thousands.
func (s Style) Number(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	text := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	whole, fraction, point := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	if x < 0 && strings.ContainsAny(whole, "123456789") {
		return s.minus() + whole
	}
	return whole
}

// Signed is [Style.Number] with a sign in front of every number, as differences have it.
func (s Style) Signed(x float64, decimals int) string {
	text := s.Number(x, decimals)
	if text == "-" || strings.HasPrefix(text, s.minus()) {
		return text
	}
	return "+" + text
}

func (s Style) minus() string { return [...]string{"-", "\u2212"}[s] }
func (s Style) space() string { return [...]string{" ", "\u00a0"}[s] }

// Count writes a whole number with commas between thousands: "1,234".
func (s Style) Count(n int64) string { return s.Number(float64(n), 0) }

// Percent writes a share between 0 and 1 in percent: "29.3 %".
func (s Style) Percent(share float64) string {
	if text := s.Number(100*share, 1); text != "-" {
		return text + s.space() + "%"
	}
	return "-"
}

// Level writes a confidence level or an error rate with as many digits as it has, a level
// near 1 with two of its error: "95 %", "99.83 %".
func (s Style) Level(level float64) string {
	if math.IsNaN(level) {
		return "-"
	}
	text := strconv.FormatFloat(100*level, 'g', 6, 64)
	if level > 0.99 && level < 1 {
		text = s.Number(100*level, 1-int(math.Floor(math.Log10(100*(1-level)*(1+1e-9)))))
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text + s.space() + "%"
}

// Range writes the interval of an estimate, times scale: "1.299 to 1.315".
func (s Style) Range(e analysis.Estimate, scale float64, decimals int) string {
	return s.Number(scale*e.Low, decimals) + " to " + s.Number(scale*e.High, decimals)
}

// WithRange writes an estimate, times scale, and its interval: "1.307 (1.299 to 1.315)".
func (s Style) WithRange(e analysis.Estimate, scale float64, decimals int) string {
	if !e.Defined() {
		return "-"
	}
	return s.Number(scale*e.Estimate, decimals) + " (" + s.Range(e, scale, decimals) + ")"
}

// Share writes an estimated share and its interval in percent: "79.4 % (77.3 to 81.5)".
func (s Style) Share(e analysis.Estimate) string {
	if !e.Defined() {
		return "-"
	}
	return s.Percent(e.Estimate) + " (" + s.Range(e, 100, 1) + ")"
}

// Change writes a difference, times scale, and its interval with signs:
// "+0.012 adjusted points (+0.004 to +0.020)".
func (s Style) Change(e analysis.Estimate, scale float64, decimals int, unit string) string {
	return fmt.Sprintf("%s %s (%s to %s)", s.Signed(scale*e.Estimate, decimals), unit,
		s.Signed(scale*e.Low, decimals), s.Signed(scale*e.High, decimals))
}

// PlusMinus writes an estimate, times scale, and the longer half of its interval for a
// column of a table: "1.307 ±0.008".
func PlusMinus(e analysis.Estimate, scale float64, decimals int) string {
	if !e.Defined() {
		return "-"
	}
	return fmt.Sprintf("%.*f ±%.*f", decimals, scale*e.Estimate, decimals, scale*HalfWidth(e))
}

// PlusMinusColumn is [PlusMinus] for the cells of one column, each with the decimals
// that its own interval has, so that one wide interval does not hide the others; but no
// more than most of them have. The decimal points stand below each other.
func PlusMinusColumn(list []analysis.Estimate) []string {
	decimals, most := columnDecimals(list)
	cells := make([]string, len(list))
	for i, e := range list {
		pad := strings.Repeat(" ", most-decimals[i])
		if cells[i] = strings.Replace(PlusMinus(e, 1, decimals[i]), " ", pad+" ", 1) + pad; !e.Defined() {
			cells[i] = "-" + strings.Repeat(" ", 2*most+5)
		}
	}
	return cells
}

// NumberColumn writes estimates without their intervals, each with one decimal less than
// [PlusMinusColumn] gives it, but two at least.
func NumberColumn(list []analysis.Estimate) []string {
	decimals, most := columnDecimals(list)
	cells := make([]string, len(list))
	for i, e := range list {
		least := max(2, decimals[i]-1)
		if cells[i] = Plain.Number(e.Estimate, least); !e.Defined() {
			least = -1 // not even a point
		}
		cells[i] += strings.Repeat(" ", max(2, most-1)-least)
	}
	return cells
}

// columnDecimals returns the decimals of each row, at most their median, and the most of
// them. What is not defined does not count.
func columnDecimals(list []analysis.Estimate) (decimals []int, most int) {
	var known []int
	for _, e := range list {
		decimals = append(decimals, RowDecimals(e))
		if e.Defined() {
			known = append(known, RowDecimals(e))
		}
	}
	if slices.Sort(known); known != nil {
		most = known[len(known)/2]
	}
	for i := range decimals {
		decimals[i] = min(decimals[i], most)
	}
	return decimals, most
}

// RowDecimals is [Decimals] of one estimate; an interval without width gets four.
func RowDecimals(e analysis.Estimate) int {
	if HalfWidth(e) == 0 {
		return 4
	}
	return Decimals(1, e)
}

// HalfWidth is the longer side of an interval; 0 if there is no estimate.
func HalfWidth(e analysis.Estimate) float64 {
	if !e.Defined() {
		return 0
	}
	return max(e.Estimate-e.Low, e.High-e.Estimate)
}

// Decimals is how many decimals show two digits of the widest interval among
// estimates, which are multiplied by scale: at least two and at most six.
func Decimals(scale float64, estimates ...analysis.Estimate) int {
	widest := 0.0
	for _, e := range estimates {
		widest = max(widest, scale*HalfWidth(e))
	}
	decimals := 2
	for scaled := widest * 100; decimals < 6 && scaled < 9.5; decimals++ {
		scaled *= 10
	}
	return decimals
}

// PValue writes a p-value with four decimals, or "<0.0001".
func PValue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return Plain.Number(p, 4)
}

// Places writes a place range: "3" or "2-5".
func (s Style) Places(p [2]int) string {
	if p[0] == p[1] {
		return strconv.Itoa(p[0])
	}
	return strconv.Itoa(p[0]) + [...]string{"-", "\u2013"}[s] + strconv.Itoa(p[1])
}

// Plural counts things, named in the singular: "1 league", "1,000 leagues",
// "2 pairs of neighbours".
func (s Style) Plural(n int64, thing string) string {
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
	return s.Count(n) + " " + thing
}

// Times writes how often something happened: "once", "7 times".
func (s Style) Times(n int) string {
	if n == 1 {
		return "once"
	}
	return s.Count(int64(n)) + " times"
}
