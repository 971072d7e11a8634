package runs

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/plots"
	"github.com/strategylab/strategylab/analysis/tune"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies/params"
)

// tuned is what a tune has found.
type tuned struct {
	run     *tuneRun
	search  *tune.Search
	values  string       // the best
	verdict tune.Verdict // of the confirmation
	gains   [][]float64  // by field and opponent, in points per match; nil without a confirmation
	digest  string
}

// against adds what a block of fresh leagues shows by opponents.
func (f *tuned) against(fresh, before evaluation) {
	if f.gains == nil {
		for _, list := range fresh.Against {
			f.gains = append(f.gains, make([]float64, len(list)))
		}
	}
	for i, list := range fresh.Against {
		for k := range list {
			f.gains[i][k] += float64(list[k]-before.Against[i][k]) * float64(len(list)) / float64(f.run.scales[i])
		}
	}
}

func (f *tuned) better() bool { return f.search.Best() > 0 && f.verdict.Better }

// lines are the answer, and what the search has seen.
func (f *tuned) lines() []string {
	return append([]string{f.answer(), f.seen()}, append(f.flat(), "digest "+f.digest)...)
}

// answer is the sentence that a tune ends with.
func (f *tuned) answer() string {
	if !f.better() {
		leagues := f.search.Spent() + 2*f.verdict.Leagues*len(f.run.plans)
		return fmt.Sprintf("No value is better than the present one, as far as %s leagues can show.", words.Plain.Count(int64(leagues)))
	}
	list, _ := params.Read(f.run.entry.Params, f.values) // they have been played
	var now, before []string
	for i, p := range f.run.entry.Params {
		if list[i].Text != p.Default {
			now, before = append(now, p.Name+" = "+list[i].Text), append(before, p.Name+" = "+p.Default)
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
		f.verdict.Estimate, strings.Join(before, ", "), f.verdict.Low, f.verdict.High, words.Plain.Count(int64(f.verdict.Leagues)))
	var shares float64
	for _, gains := range f.gains {
		shares += shareAhead(gains, f.run.spec.Seed) / float64(len(f.gains))
	}
	if math.IsNaN(shares) {
		return text + "."
	}
	return fmt.Sprintf("%s; in other fields of such opponents it leads in %.0f %%.", text, 100*shares)
}

// seen is the estimate of the search, and why it is no answer.
func (f *tuned) seen() string {
	n := int64(len(f.search.Candidates()))
	if f.search.Best() == 0 {
		return fmt.Sprintf("The search compared %s in %s leagues and kept the present one.", words.Plain.Plural(n, "candidate"), words.Plain.Count(int64(f.search.Spent())))
	}
	gain := f.search.Gain(f.search.Best(), 0)
	text := fmt.Sprintf("The search saw %+.3f points for %s, which tends to be too good: it is the best of %s in %s leagues.", gain, f.values,
		words.Plain.Plural(n, "candidate"), words.Plain.Count(int64(f.search.Spent())))
	if !f.verdict.Better {
		text += fmt.Sprintf(" Fresh leagues show %+.3f (95 %% interval %.3f to %.3f).", f.verdict.Estimate, f.verdict.Low, f.verdict.High)
	}
	return text
}

// tolerance is what counts as flat, in points per match.
const tolerance = 0.002

// flat says how flat the top is, by parameters.
func (f *tuned) flat() (lines []string) {
	best := f.search.Candidates()[f.search.Best()].Point
	for i, a := range f.search.Config().Space {
		if a.Words > 0 {
			continue
		}
		low, high := f.search.Flat(i, tolerance)
		lines = append(lines, fmt.Sprintf("%s from %.4g to %.4g is within %.3f points of %.4g, as the model of the search has it.", a.Name, low, high, tolerance, best[i]))
	}
	return lines
}

// surface returns the plots of the surface: a slice by each number, the others being the
// best, and a map of two numbers.
func (f *tuned) surface() (figures []figure) {
	predict := f.search.Surface()
	best := f.search.Candidates()[f.search.Best()].Point
	var numbers []int
	for i, a := range f.search.Config().Space {
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
func (f *tuned) heat(row, column int) figure {
	const cells = 12
	space, predict := f.search.Config().Space, f.search.Surface()
	p := slices.Clone(f.search.Candidates()[f.search.Best()].Point)
	m := plots.Matrix{RowAxis: space[row].Name, Axis: space[column].Name, High: 1, Mid: 0.5}
	low, high := math.Inf(1), math.Inf(-1)
	at := func(a tune.Axis, k int) float64 { return a.Low + (a.High-a.Low)*float64(k)/(cells-1) }
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
func (f *tuned) path() figure {
	curve, x := plots.Curve{Name: "best so far"}, []float64{}
	for i, c := range f.search.Path() {
		x = append(x, float64((i+1)*f.search.Config().Block*len(f.run.plans)))
		curve.Y = append(curve.Y, f.search.Candidates()[c].Mean())
	}
	return draw("The path of the search", plots.Curves([]plots.Curve{curve}, plots.Axes{X: x, XLabel: "leagues", YLabel: "points per match, as the search saw them", Height: 260}))
}

// ranked is the plot of the best candidates.
func (f *tuned) ranked() figure {
	const most = 20
	var rows []plots.Row
	for _, c := range f.search.Candidates() {
		if n := c.Leagues(); n > 1 {
			half := 1.96 * c.Error()
			rows = append(rows, plots.Row{Name: f.run.values(c.Point), Value: analysis.Estimate{Estimate: c.Mean(), Low: c.Mean() - half, High: c.Mean() + half}, Behind: analysis.Estimate{Estimate: math.NaN(), Low: math.NaN(), High: math.NaN()}})
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

const tunePage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tuning {{.Strategy}}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}svg{max-width:100%;height:auto}</style></head>
<body><h1>Tuning {{.Strategy}}</h1>
{{range .Lines}}<p>{{.}}</p>
{{end}}{{range .Figures}}<h2>{{.Title}}</h2>
{{.SVG}}
{{end}}</body></html>
`

// writePage writes the report.
func (f *tuned) writePage(path string) error {
	t, err := template.New("tune").Parse(tunePage)
	var page strings.Builder
	if err == nil {
		err = t.Execute(&page, struct {
			Strategy string
			Lines    []string
			Figures  []figure
		}{f.run.entry.Info.Name, f.lines(), append(f.surface(), f.path(), f.ranked())})
	}
	if err == nil {
		err = disk.WriteFile(path, []byte(page.String()), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
