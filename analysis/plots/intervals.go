package plots

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/strategylab/strategylab/analysis"
)

// Row is one line of an interval plot.
type Row struct {
	Name string
	// Value is drawn strongly, Behind, if it is defined, faintly behind it.
	Value, Behind analysis.Estimate
	Group         int // groups have different colours
}

// Intervals draws one row per name, the first at the top, with a point and its
// interval.
func Intervals(rows []Row, axis string) *Figure {
	return &Figure{
		height: func(float64) float64 { return float64(len(rows))*rowHeight + 62 },
		paint: func(c draw.Canvas, width float64) error {
			p := newPlot(axis, "")
			p.X.Min, p.X.Max = reach(rows)
			p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
			ticks := make(plot.ConstantTicks, len(rows))
			for i, r := range rows {
				ticks[i] = plot.Tick{Value: float64(len(rows) - 1 - i), Label: shorten(r.Name, nameLength(width))}
			}
			p.Y.Tick.Marker = ticks
			p.Y.Tick.Label = merge(p.Y.Tick.Label, style(ink, fontSize))
			p.Y.Tick.Length, p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0, 0
			p.X.Tick.Marker = roundTicks(int(width / 75))
			p.Add(guides{rows: len(rows)}, intervalRows{rows, width < 500})
			p.Draw(draw.Crop(c, 4, -14, 4, -6))
			return nil
		},
	}
}

// reach is the range of all intervals, with a margin.
func reach(rows []Row) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, e := range []analysis.Estimate{r.Value, r.Behind} {
			if e.Defined() {
				low, high = min(low, e.Low), max(high, e.High)
			}
		}
	}
	switch {
	case low > high:
		return 0, 1
	case low == high:
		return low - 0.5, high + 0.5
	}
	room := (high - low) / 50
	return low - room, high + room
}

type intervalRows struct {
	rows  []Row
	small bool
}

func (r intervalRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	radius, ends := vg.Length(3.6), vg.Length(3.5)
	if r.small {
		radius, ends = 2.4, 0
	}
	for i, row := range r.rows {
		at := y(float64(len(r.rows) - 1 - i))
		bar := func(e analysis.Estimate, s draw.LineStyle, ends vg.Length) {
			if !e.Defined() {
				return
			}
			c.StrokeLine2(s, x(e.Low), at, x(e.High), at)
			if ends > 0 {
				c.StrokeLine2(s, x(e.Low), at-ends, x(e.Low), at+ends)
				c.StrokeLine2(s, x(e.High), at-ends, x(e.High), at+ends)
			}
		}
		bar(row.Behind, line(behind, 7), 0)
		if !row.Value.Defined() {
			continue
		}
		own := seriesRole(row.Group)
		bar(row.Value, line(own, 1.8), ends)
		c.DrawGlyph(draw.GlyphStyle{Color: colour(own), Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: x(row.Value.Estimate), Y: at})
	}
}

// guides are faint lines at the labelled ticks.
type guides struct{ rows int }

func (g guides) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() && t.Value >= p.X.Min && t.Value <= p.X.Max {
			c.StrokeLine2(line(grid, 0.8), x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	if g.rows > 0 {
		return
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() && t.Value >= p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(line(grid, 0.8), c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
