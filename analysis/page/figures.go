package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/analysis/plots"
	"github.com/strategylab/strategylab/analysis/words"
)

// figure is a plot with its label for readers who do not see it.
type figure struct {
	Name, label string
	plot        *plots.Figure
	scrolls     bool // on a small screen; else there is a narrow plot
}

// Wide and Narrow draw the plot for a page.
func (f *figure) Wide() template.HTML { return template.HTML(f.plot.SVG(plots.Wide, f.label)) }
func (f *figure) Narrow() template.HTML {
	if f.scrolls {
		return ""
	}
	return template.HTML(f.plot.SVG(plots.Narrow, f.label))
}

// label is the name of a player in a plot, in which a star marks the user's.
func (s *source) label(i int) string {
	if s.Mine(i) {
		return "* " + s.name(i)
	}
	return s.name(i)
}

func (s *source) rankingPlot() *figure {
	if s.E.NothingToRank() {
		return nil
	}
	var rows []plots.Row
	for _, i := range s.E.Order {
		p := &s.E.Players[i]
		r := plots.Row{Name: s.label(i), Value: p.Adjusted, Behind: p.Points, Marked: s.Mine(i)}
		if tier := s.TierOf[i]; tier > 0 {
			r.Group = fmt.Sprintf("tier %d", tier)
		}
		rows = append(rows, r)
	}
	if off := plots.OffScale(rows); len(off) > 0 {
		s.OffScale = words.List(off, "and", 4)
	}
	return &figure{"ranking", "Adjusted points per match of every strategy, with intervals, best first", plots.Intervals(rows, "points per match"), false}
}

// heat draws a matrix whose rows are the strategies, best first.
func (s *source) heat(name, label string, m plots.Matrix, row func(i int) []float64) *figure {
	m.RowAxis = "strategy"
	for _, i := range s.E.Order {
		m.Rows, m.Cells = append(m.Rows, s.label(i)), append(m.Cells, row(i))
	}
	if m.Columns == nil {
		m.Columns = m.Rows
	}
	return &figure{name, label, plots.Heatmap(m), true}
}

func (s *source) matrixPlot() *figure {
	if s.Pair {
		return nil
	}
	cells := s.Differs()
	return s.heat("matrix", "Heat map of how often the choices of each two strategies differ; a table below has the numbers", plots.Matrix{
		Axis: "opponent", Scale: "share of matches in which the choices differ", Mid: 0.5, High: 1, Numbers: true,
		Title: func(row, column int) string {
			i, j := s.E.Order[row], s.E.Order[column]
			return s.name(i) + " against " + s.name(j) + ": choices differ in " + s.Style.Share(cells[i][j])
		},
	}, func(i int) (list []float64) {
		for _, j := range s.E.Order {
			list = append(list, cells[i][j].Estimate)
		}
		return list
	})
}

func (s *source) placesPlot() *figure {
	shares := s.PlaceShares()
	if shares == nil {
		return nil
	}
	m := plots.Matrix{
		Axis: "place in the league, by points", Scale: "share of leagues", Numbers: len(shares) <= 16,
		Title: func(row, column int) string {
			i := s.E.Order[row]
			return fmt.Sprintf("%s: place %d in %s of leagues", s.name(i), column+1, s.Style.Percent(shares[i][column]))
		},
	}
	for i := range shares {
		m.Columns = append(m.Columns, strconv.Itoa(i+1))
		m.High = max(m.High, slices.Max(shares[i]))
	}
	return s.heat("places", "Heat map of how often each strategy had each place in a league; a table below has the numbers", m, func(i int) []float64 { return shares[i] })
}

// mostCurves is the number of learning curves with a name.
const mostCurves = 5

// learning makes curves of chances to differ by leg, and axes for them.
func (s *source) learning(players []int, faint func(k, i int) bool, axes plots.Axes) ([]plots.Curve, plots.Axes) {
	for _, legs := range s.Explanations.Legs {
		axes.X = append(axes.X, float64(legs[0]+legs[1])/2)
	}
	var curves []plots.Curve
	for k, i := range players {
		c := plots.Curve{Name: s.label(i), Faint: faint(k, i)}
		for _, e := range s.Explanations.Players[i].Learning {
			c.Y = append(c.Y, 100*e.Estimate)
			if !c.Faint {
				c.Low, c.High = append(c.Low, 100*e.Low), append(c.High, 100*e.High)
			}
		}
		curves = append(curves, c)
	}
	return curves, axes
}

func (s *source) learningPlot() *figure {
	if !s.Explained || len(s.Explanations.Legs) < 2 {
		return nil
	}
	curves, axes := s.learning(s.E.Order, func(k, i int) bool { return k >= mostCurves && !s.Mine(i) },
		plots.Axes{XLabel: "leg of the league", YLabel: "choices differ, % of matches", Height: 360})
	return &figure{"learning", "Learning curves: how often choices differ, by leg of the league", plots.Curves(curves, axes), false}
}

// mostCardCurves bounds the size of the page for large fields.
const mostCardCurves = 60

// Curve is the learning curve of one strategy for its card; empty for none. All cards have
// the same scale.
func (s *source) Curve(i int) template.HTML {
	x := &s.Explanations
	if len(s.E.Players) > mostCardCurves || len(x.Legs) < 2 {
		return ""
	}
	axes := plots.Axes{XLabel: "leg", YLabel: "differ, %", Height: 150, YMin: math.Inf(1)}
	for _, p := range x.Players {
		for _, e := range p.Learning {
			if e.Defined() {
				axes.YMin, axes.YMax = min(axes.YMin, 100*e.Low-1), max(axes.YMax, 100*e.High+1)
			}
		}
	}
	if math.IsInf(axes.YMin, 1) {
		return ""
	}
	axes.YMin, axes.YMax = max(0, axes.YMin), min(100, axes.YMax)
	curves, axes := s.learning([]int{i}, func(int, int) bool { return false }, axes)
	curves[0].Name = ""
	return template.HTML(plots.Curves(curves, axes).SVG(plots.Narrow, "Learning curve of "+s.name(i)+": how often choices differ, by leg"))
}

func (s *source) trajectoryPlot() *figure {
	if s.View == nil || s.View.Trajectory == nil || len(s.View.Trajectory.Steps) < 2 {
		return nil
	}
	order := words.BySize(s.View)
	axes := plots.Axes{XLabel: "generation", YLabel: "share of the population, %", LogX: true, Height: 360}
	curves := make([]plots.Curve, len(s.View.Members))
	for k, i := range order {
		curves[i] = plots.Curve{Name: s.View.Members[i].Name, Faint: k >= mostCurves}
		if slices.ContainsFunc(s.View.Game.Copies[i], s.Mine) {
			curves[i].Name, curves[i].Faint = "* "+curves[i].Name, false
		}
	}
	for _, step := range s.View.Trajectory.Steps {
		axes.X = append(axes.X, float64(step.Generation))
		for i, share := range step.Share {
			curves[i].Y = append(curves[i].Y, 100*share)
		}
	}
	return &figure{"population", "Shares of the strategies in a population under replicator dynamics", plots.Curves(curves, axes), false}
}
