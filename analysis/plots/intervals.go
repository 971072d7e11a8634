package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/strategylab/strategylab/analysis"
)

// Row is one line of an interval plot.
type Row struct {
	Name string
	// Value is drawn strongly, Behind, if it is defined, faintly behind it.
	Value, Behind analysis.Estimate
	// Group is what the row belongs to, such as "tier 2"; rows next to each other with
	// the same group lie on one band.
	Group string
}

// Intervals draws one row per name, the first at the top, with a point and its
// interval. Bands with and without a shade alternate from group to group. A row that
// is so far from the others that they would be squeezed is off the scale: an arrow at
// the edge and its value stand for it.
func Intervals(rows []Row, axis string) *Figure {
	return &Figure{
		height: func(float64) float64 { return float64(len(rows))*rowHeight + 62 },
		paint: func(c draw.Canvas, width float64) error {
			p := newPlot(axis, "")
			drawn := scaled(rows)
			drawn.small = width < 500
			p.X.Min, p.X.Max = drawn.reach()
			p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
			ticks := make(plot.ConstantTicks, len(rows))
			for i, r := range rows {
				ticks[i] = plot.Tick{Value: float64(len(rows) - 1 - i), Label: shorten(r.Name, nameLength(width))}
			}
			p.Y.Tick.Marker = ticks
			p.Y.Tick.Label = merge(p.Y.Tick.Label, style(ink, fontSize))
			p.Y.Tick.Length, p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0, 0
			p.X.Tick.Marker = roundTicks(int(width / 75))
			p.Add(bands{rows, width >= 500}, guides{rows: len(rows)}, drawn)
			p.Draw(draw.Crop(c, 4, -14, 4, -6))
			return nil
		},
	}
}

// scaled chooses the scale of rows. Off it are values that are further from the
// quartiles than four times the distance between these, if the scale of all would be
// more than twice as long.
func scaled(rows []Row) intervalRows {
	all := intervalRows{rows: rows, low: math.Inf(-1), high: math.Inf(1)}
	var values []float64
	for _, r := range rows {
		if r.Value.Defined() {
			values = append(values, r.Value.Estimate)
		}
	}
	if len(values) < 5 {
		return all
	}
	slices.Sort(values)
	q1, q3 := values[len(values)/4], values[len(values)-1-len(values)/4]
	most := intervalRows{rows: rows, low: q1 - 4*(q3-q1), high: q3 + 4*(q3-q1)}
	from, to := all.reach()
	if low, high := most.reach(); to-from > 2*(high-low) {
		return most
	}
	return all
}

// OffScale has the names of the rows that an interval plot cannot show on its scale.
func OffScale(rows []Row) []string {
	var names []string
	r := scaled(rows)
	for _, row := range rows {
		if r.off(row) {
			names = append(names, row.Name)
		}
	}
	return names
}

type intervalRows struct {
	rows      []Row
	small     bool
	low, high float64 // of the values on the scale
}

func (r intervalRows) off(row Row) bool {
	return row.Value.Defined() && (row.Value.Estimate < r.low || row.Value.Estimate > r.high)
}

// reach is the range of all intervals on the scale, with a margin.
func (r intervalRows) reach() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range r.rows {
		for _, e := range []analysis.Estimate{row.Value, row.Behind} {
			if e.Defined() && !r.off(row) {
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

func (r intervalRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	radius, ends := vg.Length(3.6), vg.Length(3.5)
	if r.small {
		radius, ends = 2.4, 0
	}
	for i, row := range r.rows {
		at := y(float64(len(r.rows) - 1 - i))
		if r.off(row) {
			r.arrow(c, row, at)
			continue
		}
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
		bar(row.Value, line(series, 1.8), ends)
		c.DrawGlyph(draw.GlyphStyle{Color: colour(series), Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: x(row.Value.Estimate), Y: at})
	}
}

// arrow marks a row that is off the scale, at the edge that it is beyond.
func (r intervalRows) arrow(c draw.Canvas, row Row, at vg.Length) {
	edge, away := c.Min.X+3, vg.Length(1)
	s := style(ink, smallFont)
	s.YAlign = draw.YCenter
	if row.Value.Estimate > r.high {
		edge, away, s.XAlign = c.Max.X-3, -1, draw.XRight
	}
	var tip vg.Path
	tip.Move(vg.Point{X: edge, Y: at})
	tip.Line(vg.Point{X: edge + away*9, Y: at + 5})
	tip.Line(vg.Point{X: edge + away*9, Y: at - 5})
	tip.Close()
	c.SetColor(colour(series))
	c.Fill(tip)
	c.FillText(s, vg.Point{X: edge + away*14, Y: at}, fmt.Sprintf("%.3f, off the scale", row.Value.Estimate))
}

// bands shade every other group of rows and name the groups at the right edge.
type bands struct {
	rows  []Row
	named bool
}

func (b bands) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	n := len(b.rows)
	for start, k := 0, 0; start < n; k++ {
		end := start + 1
		for end < n && b.rows[end].Group == b.rows[start].Group {
			end++
		}
		if k%2 == 1 {
			c.SetColor(colour(band))
			c.Fill(vg.Rectangle{
				Min: vg.Point{X: c.Min.X, Y: y(float64(n-end) - 0.5)}, Max: vg.Point{X: c.Max.X, Y: y(float64(n-start) - 0.5)},
			}.Path())
		}
		if b.named && b.rows[start].Group != "" {
			c.FillText(b.style(), vg.Point{X: c.Max.X + 6, Y: y(float64(n - 1 - start))}, b.rows[start].Group)
		}
		start = end
	}
}

func (b bands) style() text.Style {
	s := style(muted, smallFont)
	s.YAlign = draw.YCenter
	return s
}

// GlyphBoxes implements plot.GlyphBoxer: it reserves room for the names of the groups.
func (b bands) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, r := range b.rows {
		if b.named && r.Group != "" {
			box := b.style().Rectangle(r.Group)
			box.Max.X += 8
			boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: box})
		}
	}
	return boxes
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
