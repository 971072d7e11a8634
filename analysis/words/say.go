package words

import (
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/strategylab/strategylab/analysis"
)

//go:embed sentences.txt
var sentences string

// tables.txt has the rows of tables: a line HEAD|KEEP|CELL for each column.
//
//go:embed tables.txt
var tables string

// Say returns the lines of a passage of sentences.txt or tables.txt about a value, without
// empty ones. It panics if the passage does not fit the value: both are part of the program.
func (s Style) Say(passage string, about any) []string {
	var b strings.Builder
	if err := passages()[s].ExecuteTemplate(&b, passage, about); err != nil {
		panic(err)
	}
	var lines []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// passages are the templates by style.
var passages = sync.OnceValue(func() (list [2]*template.Template) {
	for s := range list {
		list[s] = template.Must(template.New("").Funcs(Style(s).Functions()).Parse(sentences + tables))
	}
	return list
})

// Functions are what passages and pages call. Numbers may be of any kind of integer, and estimates
// intervals of one.
func (s Style) Functions() template.FuncMap {
	whole := func(n any) int64 { return reflect.ValueOf(n).Int() }
	hundred := func(x float64) string { return s.Number(100*x, 1) }
	estimate := func(e any) analysis.Estimate {
		return reflect.ValueOf(e).Convert(reflect.TypeFor[analysis.Estimate]()).Interface().(analysis.Estimate)
	}
	return template.FuncMap{
		"name": Printable, "list": List, "join": strings.Join, "quote": s.Quote, "memory": memory, "ordinal": Ordinal, "places": placeRange, "placed": s.Places,
		"around": s.around, "about": s.About, "pvalue": PValue, "cause": Cause, "replay": ReplayCommand,
		"signed": s.Signed, "percent": s.Percent, "level": s.Level, "times": s.Times, "hundred": hundred, "root": math.Sqrt,
		"number":   func(x any, decimals int) string { return s.Number(reflect.ValueOf(x).Float(), decimals) },
		"count":    func(n any) string { return s.Count(whole(n)) },
		"plural":   func(n any, thing string) string { return s.Plural(whole(n), thing) },
		"add":      func(a, b any) int64 { return whole(a) + whole(b) },
		"over":     func(x, y float64) float64 { return x / y },
		"tally":    tally,
		"mark":     Mark,
		"change":   s.Change,
		"minus":    func(x float64) float64 { return -x },
		"tail":     func(list []string, n int) []string { return list[max(0, len(list)-n):] },
		"mebibyte": func(n uint64) uint64 { return (n + 1<<20 - 1) >> 20 }, // rounded up: nothing takes 0 MiB
		"exact":    func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) },
		"first": func(text string, width int) string { // line
			line, _, _ := strings.Cut(text, "\n")
			return Shorten(Printable(line), width)
		},
		"none": func() []string { return nil }, "append": func(list []string, text string) []string { return append(list, text) },
		"has": slices.Contains[[]string], "method": method, "standard": func() float64 { return analysis.DefaultLevel },
		"shell": ShellWord, "digits": RowDecimals, "looked": analysis.ErrorOfLooks, "unseen": unseen, "roughly": Roughly,
		"errors":     func(level float64) float64 { return 1 - level },
		"ratio":      func(chance float64) string { return s.Number(1/chance, 0) },
		"plain":      func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) },
		"confidence": func(level float64) string { return fmt.Sprintf("%.4g", 100*level) },
		"rate":       func(level float64) string { return fmt.Sprintf("%.3g", 100*(1-level)) },
		"brief":      func(e analysis.Estimate) string { return s.Number(e.Estimate, brief(e)) },
		"decimals":   func(e analysis.Estimate) int { return Decimals(1, e) },
		"interval": func(x, low, high float64) analysis.Estimate {
			return analysis.Estimate{Estimate: x, Low: low, High: high}
		},
		"span": s.Range, "bysize": BySize,
		"share":     func(e any) string { return s.Share(estimate(e)) },
		"plusminus": func(e any, scale float64, decimals int) string { return PlusMinus(estimate(e), scale, decimals) },
		"ranged":    s.WithRange, "sign": Sign,
		"next": func(k int) int { return k + 1 },
	}
}

// unseen is the largest percentage of leagues, in two digits, that as many leagues as were
// played may all miss.
func unseen(level float64, leagues int) string {
	share := -100 * math.Expm1(math.Log1p(-level)/float64(leagues)) // log(1-level) is that of the chance to see nothing
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(share, 'f', max(0, 1-int(math.Floor(math.Log10(share)))), 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Roughly rounds a number, at least 1, up to some digits.
func Roughly(n, digits int) int {
	unit := int(math.Pow10(max(0, int(math.Log10(float64(n)))+1-digits)))
	return (n + unit - 1) / unit * unit
}

// tally counts comparisons by their marks.
func tally(list []analysis.Comparison) map[string]int {
	n := make(map[string]int)
	for _, c := range list {
		n[Mark(c.Verdict)]++
	}
	return n
}
