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

// figure is a plot with its caption. Narrow is empty if the wide plot scrolls on a small
// screen.
type figure struct {
	name, label  string
	plot         *plots.Figure
	Wide, Narrow template.HTML
	Caption      string
}

// Name names the plot for readers who do not see it.
func (f *figure) Name() string { return f.name }

func newFigure(name string, plot *plots.Figure, label, caption string, narrow bool) *figure {
	f := &figure{name: name, label: label, plot: plot, Caption: caption, Wide: template.HTML(plot.SVG(plots.Wide, label))}
	if narrow {
		f.Narrow = template.HTML(plot.SVG(plots.Narrow, label))
	}
	return f
}

func (s *source) draw() {
	s.Ranking, s.Matrix, s.Places = s.rankingPlot(), s.matrixPlot(), s.placesPlot()
	s.Learning, s.Trajectory = s.learningPlot(), s.trajectoryPlot()
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
	caption := "Points per match, best first. The dot and its bar are adjusted points with their interval; the pale bar behind is the interval of raw " +
		"points, which include the luck of the draw."
	if len(s.E.Ranking.Tiers) > 1 {
		caption += " The background changes where the tier does."
	}
	if off := plots.OffScale(rows); len(off) > 0 {
		caption += fmt.Sprintf(" An arrow stands for %s: far from the others, and off the scale.", words.List(off, "and", 4))
	}
	if s.E.Fair && !s.Failed() {
		caption += " Choosing at random gives 1.25."
	}
	caption += s.starred()
	return newFigure("ranking", plots.Intervals(rows, "points per match"),
		"Adjusted points per match of every strategy, with intervals, best first", caption, true)
}

func (s *source) matrixPlot() *figure {
	if s.Pair() {
		return nil
	}
	cells := s.Differs()
	m := plots.Matrix{
		RowAxis: "strategy", Axis: "opponent", Scale: "share of matches in which the choices differ",
		Low: 0, Mid: 0.5, High: 1, Numbers: true,
		Title: func(row, column int) string {
			i, j := s.E.Order[row], s.E.Order[column]
			return s.name(i) + " against " + s.name(j) + ": choices differ in " + s.Style.Share(cells[i][j])
		},
	}
	for _, i := range s.E.Order {
		m.Rows = append(m.Rows, s.label(i))
		var row []float64
		for _, j := range s.E.Order {
			row = append(row, cells[i][j].Estimate)
		}
		m.Cells = append(m.Cells, row)
	}
	m.Columns = m.Rows
	caption := "How often the choices of two strategies differ, in the order of the ranking. Blue pairs differ more often than by chance (50 %), " +
		"orange pairs less often. The matrix is symmetric."
	if s.E.Fair {
		caption += " Under this fair draw a match with different choices is worth half a point more to both: nobody beats anybody."
	}
	if len(s.Mirrors) == 0 {
		caption += " The diagonal is blank if a strategy never met a copy of itself."
	} else {
		caption += " The diagonal is each strategy against a copy of itself."
	}
	caption += s.starred()
	return newFigure("matrix", plots.Heatmap(m), "Heat map of how often the choices of each two strategies differ; a table below has the numbers", caption, false)
}

// mostCurves is the number of learning curves with a name.
const mostCurves = 5

func (s *source) learningPlot() *figure {
	x := &s.Explanations
	if !s.Explained() || len(x.Legs) < 2 {
		return nil
	}
	axes := plots.Axes{XLabel: "leg of the league", YLabel: "choices differ, % of matches", Height: 360}
	for _, legs := range x.Legs {
		axes.X = append(axes.X, float64(legs[0]+legs[1])/2)
	}
	var curves []plots.Curve
	for k, i := range s.E.Order {
		c := plots.Curve{Name: s.label(i), Faint: k >= mostCurves && !s.Mine(i)}
		for _, e := range x.Players[i].Learning {
			c.Y = append(c.Y, 100*e.Estimate)
			if !c.Faint {
				c.Low, c.High = append(c.Low, 100*e.Low), append(c.High, 100*e.High)
			}
		}
		curves = append(curves, c)
	}
	caption := "How often choices differ, leg by leg. A rising curve shows that a strategy or its opponents learn during a league; a flat one " +
		"shows no sign of it. Bands are " + words.Typeset.Level(s.E.Level) + " intervals of single points."
	if len(s.E.Order) > mostCurves {
		caption += fmt.Sprintf(" The first %d of the ranking are named, the others grey; every strategy has its own curve below.", mostCurves)
	}
	caption += s.starred()
	return newFigure("learning", plots.Curves(curves, axes), "Learning curves: how often choices differ, by leg of the league", caption, true)
}

func (s *source) trajectoryPlot() *figure {
	if s.View == nil || s.View.Trajectory == nil || len(s.View.Trajectory.Steps) < 2 {
		return nil
	}
	steps, order := s.View.Trajectory.Steps, words.BySize(s.View)
	axes := plots.Axes{XLabel: "generation", YLabel: "share of the population, %", LogX: true, Height: 360}
	curves := make([]plots.Curve, len(s.View.Members))
	for i, m := range s.View.Members {
		curves[i] = plots.Curve{Name: m.Name, Faint: true}
		if slices.ContainsFunc(s.View.Game.Copies[i], s.Mine) {
			curves[i].Name, curves[i].Faint = "* "+m.Name, false
		}
	}
	for _, step := range steps {
		axes.X = append(axes.X, float64(step.Generation))
		for i, share := range step.Share {
			curves[i].Y = append(curves[i].Y, 100*share)
		}
	}
	for _, i := range order[:min(mostCurves, len(order))] {
		curves[i].Faint = false
	}
	return newFigure("population", plots.Curves(curves, axes), "Shares of the strategies in a population under replicator dynamics",
		"A population that starts with equal shares: from generation to generation, strategies that differ more often from the others grow. "+
			"The strategies with the largest final shares are named."+s.starred(), true)
}

// mostCardCurves bounds the size of the page for large fields.
const mostCardCurves = 60

// Curve is the learning curve of one strategy for its card; empty for none.
func (s *source) Curve(i int) template.HTML {
	x := &s.Explanations
	if len(s.E.Players) > mostCardCurves || len(x.Legs) < 2 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range x.Players {
		for _, e := range p.Learning {
			if e.Defined() {
				low, high = min(low, 100*e.Low), max(high, 100*e.High)
			}
		}
	}
	if low > high {
		return ""
	}
	axes := plots.Axes{XLabel: "leg", YLabel: "differ, %", Height: 150, YMin: max(0, low-1), YMax: min(100, high+1)}
	var c plots.Curve
	for b, e := range x.Players[i].Learning {
		axes.X = append(axes.X, float64(x.Legs[b][0]+x.Legs[b][1])/2)
		c.Y, c.Low, c.High = append(c.Y, 100*e.Estimate), append(c.Low, 100*e.Low), append(c.High, 100*e.High)
	}
	return template.HTML(plots.Curves([]plots.Curve{c}, axes).SVG(plots.Narrow, "Learning curve of "+s.name(i)+": how often choices differ, by leg"))
}

// PlaceShares has how often each strategy had each place in a league, by field index
// and place; nil for fewer than three strategies. Between two places, half of each.
func (s *source) PlaceShares() [][]float64 {
	n := len(s.E.Players)
	if s.E.Leagues == 0 || n < 3 {
		return nil
	}
	shares := make([][]float64, n)
	for i := range shares {
		shares[i] = make([]float64, n)
		for _, r := range s.E.Players[i].Ranks {
			below, above := math.Floor(r.Rank), math.Ceil(r.Rank)
			shares[i][int(below)-1] += r.Share.Estimate / 2
			shares[i][int(above)-1] += r.Share.Estimate / 2
		}
	}
	return shares
}

func (s *source) placesPlot() *figure {
	shares := s.PlaceShares()
	if shares == nil {
		return nil
	}
	m := plots.Matrix{
		RowAxis: "strategy", Axis: "place in the league, by points", Scale: "share of leagues", Numbers: len(shares) <= 16,
		Title: func(row, column int) string {
			i := s.E.Order[row]
			return fmt.Sprintf("%s: place %d in %s of leagues", s.name(i), column+1, s.Style.Percent(shares[i][column]))
		},
	}
	for k, i := range s.E.Order {
		m.Columns = append(m.Columns, strconv.Itoa(k+1))
		m.Rows = append(m.Rows, s.label(i))
		m.High = max(m.High, slices.Max(shares[i]))
		m.Cells = append(m.Cells, shares[i])
	}
	return newFigure("places", plots.Heatmap(m), "Heat map of how often each strategy had each place in a league; a table below has the numbers",
		"The stronger the colour, the more often the strategy had that place in a single league, by the referee's points. Wide rows show how much of a "+
			"league is luck; a clear diagonal shows how much is skill. Equal points share their places."+s.starred(), false)
}
