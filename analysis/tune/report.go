package tune

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/plots"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
)

//go:embed report.html
var reportHTML string

// Report is what a tune has found.
type Report struct {
	Strategy string
	Params   []Param
	Search   *Search
	Texts    func(Point) []string // values as the user writes them, by parameter
	Format   func(Point) string   // all of them in one text
	Verdict  Verdict              // of the confirmation
	Gains    [][]float64          // by field and opponent, in points per match; nil without a confirmation
	Seed     uint64
	Digest   string
}

// Param is a parameter with its present value.
type Param struct{ Name, Default string }

// Best returns the best values.
func (f *Report) Best() Point { return f.Search.Candidates()[f.Search.Best()].Point }

// Better reports whether fresh leagues have shown that the best values are better.
func (f *Report) Better() bool { return f.Search.Best() > 0 && f.Verdict.Better }

// Lines are the answer, and what the search has seen.
func (f *Report) Lines() []string {
	return append([]string{f.answer(), f.seen()}, append(f.flat(), "digest "+f.Digest)...)
}

// answer is the sentence that a tune ends with.
func (f *Report) answer() string {
	if !f.Better() {
		leagues := f.Search.Spent() + 2*f.Verdict.Leagues*f.Search.Config().Fields
		return fmt.Sprintf("No value is better than the present one, as far as %s leagues can show.", words.Plain.Count(int64(leagues)))
	}
	texts := f.Texts(f.Best())
	var now, before []string
	for i, p := range f.Params {
		if texts[i] != p.Default {
			now, before = append(now, p.Name+" = "+texts[i]), append(before, p.Name+" = "+p.Default)
		}
	}
	if len(before) == 1 {
		_, before[0], _ = strings.Cut(before[0], " = ")
	}
	scores := "scores"
	if len(now) > 1 {
		scores = "together score"
	}
	text := fmt.Sprintf("%s %s %.3f points more than %s, 95 %% interval %.3f to %.3f, on %s fresh leagues", strings.Join(now, ", "), scores,
		f.Verdict.Estimate, strings.Join(before, ", "), f.Verdict.Low, f.Verdict.High, words.Plain.Count(int64(f.Verdict.Leagues)))
	var shares float64
	for _, gains := range f.Gains {
		shares += shareAhead(gains, f.Seed) / float64(len(f.Gains))
	}
	if math.IsNaN(shares) {
		return text + "."
	}
	return fmt.Sprintf("%s; in other fields of such opponents it leads in %s.", text, words.Plain.About(shares))
}

// seen is the estimate of the search, and why it is no answer.
func (f *Report) seen() string {
	n := int64(len(f.Search.Candidates()))
	if f.Search.Best() == 0 {
		return fmt.Sprintf("The search compared %s in %s leagues and kept the present one.", words.Plain.Plural(n, "candidate"), words.Plain.Count(int64(f.Search.Spent())))
	}
	gain := f.Search.Gain(f.Search.Best(), 0)
	text := fmt.Sprintf("The search saw %+.3f points for %s, which tends to be too good: it is the best of %s in %s leagues.", gain, f.Format(f.Best()),
		words.Plain.Plural(n, "candidate"), words.Plain.Count(int64(f.Search.Spent())))
	if !f.Verdict.Better {
		text += fmt.Sprintf(" Fresh leagues show %+.3f (95 %% interval %.3f to %.3f).", f.Verdict.Estimate, f.Verdict.Low, f.Verdict.High)
	}
	return text
}

// tolerance is what counts as flat, in points per match.
const tolerance = 0.002

// flat says how flat the top is, by parameters.
func (f *Report) flat() (lines []string) {
	best := f.Best()
	for i, a := range f.Search.Config().Space {
		if a.Words > 0 {
			continue
		}
		low, high := f.Search.Flat(i, tolerance)
		lines = append(lines, fmt.Sprintf("%s from %.4g to %.4g is within %.3f points of %.4g, as the model of the search has it.", a.Name, low, high, tolerance, best[i]))
	}
	return lines
}

// surface returns the plots of the surface: a slice by each number, the others being the
// best, and a map of two numbers.
func (f *Report) surface() (figures []figure) {
	predict := f.Search.Surface()
	best := f.Best()
	var numbers []int
	for i, a := range f.Search.Config().Space {
		if a.Words > 0 {
			continue
		}
		numbers = append(numbers, i)
		const steps = 60
		curve, x := plots.Curve{Name: "expected"}, []float64{}
		p := slices.Clone(best)
		for k := range steps + 1 {
			p[i] = a.Low + (a.High-a.Low)*float64(k)/steps
			mean, deviation := predict(p)
			x, curve.Y = append(x, p[i]), append(curve.Y, mean)
			curve.Low, curve.High = append(curve.Low, mean-1.96*deviation), append(curve.High, mean+1.96*deviation)
		}
		figures = append(figures, draw("Expected points by "+a.Name, plots.Curves([]plots.Curve{curve}, plots.Axes{X: x, XLabel: a.Name, YLabel: "points per match", Height: 260})))
	}
	if len(numbers) == 2 {
		figures = append(figures, f.heat(numbers[0], numbers[1]))
	}
	return figures
}

// heat is a map of two parameters.
func (f *Report) heat(row, column int) figure {
	const cells = 12
	space, predict := f.Search.Config().Space, f.Search.Surface()
	p := slices.Clone(f.Best())
	m := plots.Matrix{RowAxis: space[row].Name, Axis: space[column].Name, High: 1, Mid: 0.5}
	low, high := math.Inf(1), math.Inf(-1)
	at := func(a Axis, k int) float64 { return a.Low + (a.High-a.Low)*float64(k)/(cells-1) }
	for k := range cells {
		m.Rows, m.Columns = append(m.Rows, fmt.Sprintf("%.3g", at(space[row], k))), append(m.Columns, fmt.Sprintf("%.3g", at(space[column], k)))
		var line []float64
		for j := range cells {
			p[row], p[column] = at(space[row], k), at(space[column], j)
			mean, _ := predict(p)
			line = append(line, mean)
			low, high = min(low, mean), max(high, mean)
		}
		m.Cells = append(m.Cells, line)
	}
	m.Scale = fmt.Sprintf("from %.4f to %.4f points per match", low, high)
	m.Title = func(k, j int) string {
		return fmt.Sprintf("%s %s, %s %s: %.4f", m.RowAxis, m.Rows[k], m.Axis, m.Columns[j], low+m.Cells[k][j]*(high-low))
	}
	for _, line := range m.Cells { // the colours are of shares
		for j := range line {
			line[j] = (line[j] - low) / max(high-low, 1e-9)
		}
	}
	return draw("Expected points by "+space[row].Name+" and "+space[column].Name, plots.Heatmap(m))
}

// path is the plot of what the best values so far have scored.
func (f *Report) path() figure {
	curve, x := plots.Curve{Name: "best so far"}, []float64{}
	for i, c := range f.Search.Path() {
		x = append(x, float64((i+1)*f.Search.Config().Block*f.Search.Config().Fields))
		curve.Y = append(curve.Y, f.Search.Candidates()[c].Mean())
	}
	return draw("The path of the search", plots.Curves([]plots.Curve{curve}, plots.Axes{X: x, XLabel: "leagues", YLabel: "points per match, as the search saw them", Height: 260}))
}

// ranked is the plot of the best candidates.
func (f *Report) ranked() figure {
	const most = 20
	var rows []plots.Row
	for _, c := range f.Search.Candidates() {
		if n := c.Leagues(); n > 1 {
			half := 1.96 * c.Error()
			rows = append(rows, plots.Row{Name: f.Format(c.Point), Value: analysis.Estimate{Estimate: c.Mean(), Low: c.Mean() - half, High: c.Mean() + half}, Behind: analysis.Estimate{Estimate: math.NaN(), Low: math.NaN(), High: math.NaN()}})
		}
	}
	slices.SortStableFunc(rows, func(a, b plots.Row) int { return cmp.Compare(b.Value.Estimate, a.Value.Estimate) })
	return draw("The candidates that scored most", plots.Intervals(rows[:min(most, len(rows))], "points per match"))
}

type figure struct {
	Title string
	SVG   template.HTML
}

func draw(title string, f *plots.Figure) figure {
	return figure{title, template.HTML(f.SVG(plots.Wide, title))} // plots escapes what it writes
}

// HTML returns the report as a page.
func (f *Report) HTML() ([]byte, error) {
	t, err := template.New("tune").Parse(reportHTML)
	var page bytes.Buffer
	if err == nil {
		err = t.Execute(&page, struct {
			Strategy string
			Lines    []string
			Figures  []figure
		}{f.Strategy, f.Lines(), append(f.surface(), f.path(), f.ranked())})
	}
	return page.Bytes(), err
}

// Sofar says which values are best so far, and what they have cost.
func (f *Report) Sofar() string {
	line := fmt.Sprintf("after %s of %s leagues: ", words.Plain.Count(int64(f.Search.Spent())), words.Plain.Count(int64(f.Search.Config().Leagues)))
	if f.Search.Best() == 0 {
		return line + "nothing better than the present values"
	}
	return line + fmt.Sprintf("%s, %+.3f points as the search sees it", f.Format(f.Best()), f.Search.Gain(f.Search.Best(), 0))
}

// shareAhead is the share of other fields, with opponents drawn from those that played,
// in which some gains add up to more than zero; ties count half.
func shareAhead(gains []float64, seed uint64) float64 {
	if len(gains) < 2 {
		return math.NaN()
	}
	const fields = 2000
	rng := game.NewRand(game.Key{seed, 0x66696c64})
	ahead := 0.0
	for range fields {
		sum := 0.0
		for range gains {
			sum += gains[int(rng.Float64()*float64(len(gains)))]
		}
		switch {
		case sum > 0:
			ahead++
		case sum == 0:
			ahead += 0.5
		}
	}
	return ahead / fields
}
