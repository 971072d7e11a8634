package page

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis/plots"
)

// figure is a plot with what is to be seen in it. Narrow is empty where the wide plot
// is to be moved about on a small screen.
type figure struct {
	name         string
	plot         *plots.Figure
	Wide, Narrow template.HTML
	Caption      string
}

func newFigure(name string, plot *plots.Figure, label, caption string, narrow bool) (*figure, error) {
	f := &figure{name: name, plot: plot, Caption: caption}
	wide, err := plot.SVG(plots.Wide, label)
	if err != nil {
		return nil, fmt.Errorf("plot %s: %w", name, err)
	}
	f.Wide = template.HTML(wide)
	if narrow {
		small, err := plot.SVG(plots.Narrow, label)
		if err != nil {
			return nil, fmt.Errorf("plot %s: %w", name, err)
		}
		f.Narrow = template.HTML(small)
	}
	return f, nil
}

// draw makes the plots.
func (s *source) draw(c *content) error {
	for _, part := range []struct {
		to   **figure
		make func() (*figure, error)
	}{
		{&c.Ranking, s.rankingPlot}, {&c.Matrix, s.matrixPlot}, {&c.Places, s.placesPlot},
		{&c.Learning, s.learningPlot}, {&c.Trajectory, s.trajectoryPlot},
	} {
		f, err := part.make()
		if err != nil {
			return err
		}
		*part.to = f
	}
	return nil
}

func (s *source) rankingPlot() (*figure, error) {
	var rows []plots.Row
	for _, i := range s.e.Order {
		p := &s.e.Players[i]
		rows = append(rows, plots.Row{Name: p.Name, Value: p.Adjusted, Behind: p.Points, Group: max(0, s.tierOf[i]-1)})
	}
	return newFigure("ranking", plots.Intervals(rows, "points per match"),
		"Adjusted points per match of every strategy, with intervals, best first",
		"Points per match, best first. The dot and its bar are adjusted points with their interval; the pale bar behind is the interval of raw "+
			"points, which hold the luck of the draw as well. Colours change from tier to tier. Random play gives 1.25 under a fair draw.", true)
}

func (s *source) matrixPlot() (*figure, error) {
	cells := s.differs()
	m := plots.Matrix{
		RowAxis: "strategy", Axis: "opponent", Scale: "share of matches in which the choices differ",
		Low: 0, Mid: 0.5, High: 1, Percent: true, Numbers: true,
	}
	for _, i := range s.e.Order {
		m.Rows = append(m.Rows, s.name(i))
		var row []float64
		for _, j := range s.e.Order {
			row = append(row, cells[i][j].Estimate)
		}
		m.Cells = append(m.Cells, row)
	}
	m.Columns = m.Rows
	caption := "How often the choices of two strategies differ, in the order of the ranking. Blue pairs differ more than by chance (50 %) and both gain " +
		"from it; orange pairs differ less and both lose. The table is its own mirror image: nobody beats anybody."
	if len(s.Mirrors) == 0 {
		caption += " The diagonal is blank where a strategy never met a copy of itself."
	} else {
		caption += " The diagonal is each strategy against a copy of itself."
	}
	return newFigure("matrix", plots.Heatmap(m), "Heat map of how often the choices of each two strategies differ", caption, false)
}

// mostCurves is how many learning curves have a name.
const mostCurves = 5

func (s *source) learningPlot() (*figure, error) {
	x := &s.Explanations
	if len(x.Players) != len(s.e.Players) || len(x.Legs) < 2 {
		return nil, nil
	}
	axes := plots.Axes{XLabel: "leg of the league", YLabel: "choices differ, % of matches", Height: 360}
	for _, legs := range x.Legs {
		axes.X = append(axes.X, float64(legs[0]+legs[1])/2)
	}
	var curves []plots.Curve
	for k, i := range s.e.Order {
		c := plots.Curve{Name: s.name(i), Faint: k >= mostCurves}
		for _, e := range x.Players[i].Learning {
			c.Y = append(c.Y, 100*e.Estimate)
			if !c.Faint {
				c.Low, c.High = append(c.Low, 100*e.Low), append(c.High, 100*e.High)
			}
		}
		curves = append(curves, c)
	}
	caption := "How often choices differ, leg by leg. A curve that rises shows a strategy, or its opponents, learning in the course of a league; a flat one that " +
		"nothing is learnt. Bands are " + s.level() + " intervals of single points."
	if len(s.e.Order) > mostCurves {
		caption += fmt.Sprintf(" The first %d of the ranking are named, the others grey; each has its own curve further down.", mostCurves)
	}
	return newFigure("learning", plots.Curves(curves, axes), "Learning curves: how often choices differ, by leg of the league", caption, true)
}

func (s *source) trajectoryPlot() (*figure, error) {
	if s.view == nil || s.view.Trajectory == nil || len(s.view.Trajectory.Steps) < 2 {
		return nil, nil
	}
	steps := s.view.Trajectory.Steps
	axes := plots.Axes{XLabel: "generation", YLabel: "share of the population, %", LogX: true, Height: 360}
	curves := make([]plots.Curve, len(s.view.Members))
	for i, m := range s.view.Members {
		curves[i] = plots.Curve{Name: m.Name, Faint: true}
	}
	for _, step := range steps {
		axes.X = append(axes.X, float64(step.Generation))
		for i, share := range step.Share {
			curves[i].Y = append(curves[i].Y, 100*share)
		}
	}
	for _, i := range s.byShare(mostCurves) {
		curves[i].Faint = false
	}
	return newFigure("population", plots.Curves(curves, axes), "Shares of the strategies in a population under replicator dynamics",
		"A population that starts with equal shares: from generation to generation those grow that differ more often from the others present. "+
			"Those that end with the largest shares are named.", true)
}

// byShare returns the members with the largest final shares, largest first; those
// with equal or unknown shares by their Borda scores.
func (s *source) byShare(most int) []int {
	list := make([]int, len(s.view.Members))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(i, j int) int {
		a, b := s.view.Members[i], s.view.Members[j]
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Borda, a.Borda))
	})
	return list[:min(most, len(list))]
}

// curve is the learning curve of one strategy for its card.
func (s *source) curve(i int) (template.HTML, error) {
	x := &s.Explanations
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range x.Players {
		for _, e := range p.Learning {
			if e.Defined() {
				low, high = min(low, 100*e.Low), max(high, 100*e.High)
			}
		}
	}
	if low > high {
		return "", nil
	}
	axes := plots.Axes{XLabel: "leg", YLabel: "differ, %", Height: 150, Bare: true, YMin: max(0, low-1), YMax: min(100, high+1)}
	var c plots.Curve
	for b, e := range x.Players[i].Learning {
		axes.X = append(axes.X, float64(x.Legs[b][0]+x.Legs[b][1])/2)
		c.Y, c.Low, c.High = append(c.Y, 100*e.Estimate), append(c.Low, 100*e.Low), append(c.High, 100*e.High)
	}
	svg, err := plots.Curves([]plots.Curve{c}, axes).SVG(plots.Narrow, "Learning curve of "+s.name(i)+": how often choices differ, by leg")
	return template.HTML(svg), err
}
