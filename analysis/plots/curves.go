package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is one line of a line plot.
type Curve struct {
	Name string
	Y    []float64 // by x; NaN where there is none
	// Low and High bound a band around the line; nil for none.
	Low, High []float64
	// Faint curves are in the background and have no name.
	Faint bool
}

// Axes describes a line plot.
type Axes struct {
	X              []float64
	XLabel, YLabel string
	YMin, YMax     float64 // both 0: what the curves need
	LogX           bool    // x is drawn as log(1 + x)
	Height         float64
	Bare           bool // without names at the ends of the curves
}

// dashes distinguish curves that have different colours as well.
var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}}

// Curves draws lines over a common axis; their names are at their ends.
func Curves(curves []Curve, a Axes) *Figure {
	return &Figure{
		height: func(float64) float64 { return a.Height },
		paint: func(c draw.Canvas, width float64) error {
			p := newPlot(a.XLabel, a.YLabel)
			place := func(x float64) float64 { return x }
			p.X.Tick.Marker = wholeTicks(a.X[0], a.X[len(a.X)-1], width)
			if a.LogX {
				place = math.Log1p
				p.X.Tick.Marker = logTicks(a.X[len(a.X)-1])
			}
			p.X.Min, p.X.Max = place(a.X[0]), place(a.X[len(a.X)-1])
			if p.X.Min == p.X.Max {
				p.X.Min, p.X.Max = p.X.Min-0.5, p.X.Max+0.5
			}
			p.Y.Min, p.Y.Max = a.YMin, a.YMax
			p.Y.Tick.Marker = roundTicks(int(a.Height / 35))
			if a.YMin == 0 && a.YMax == 0 {
				p.Y.Min, p.Y.Max = span(curves)
			}
			p.Add(guides{}, drawn{curves, a, place, width})
			p.Draw(draw.Crop(c, 4, -10, 4, -6))
			return nil
		},
	}
}

// span is the range of all curves and bands, with a margin.
func span(curves []Curve) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, k := range curves {
		for _, list := range [][]float64{k.Y, k.Low, k.High} {
			for _, v := range list {
				if !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if low > high {
		return 0, 1
	}
	air := max(0.04*(high-low), 1e-3)
	return low - air, high + air
}

type drawn struct {
	curves []Curve
	axes   Axes
	place  func(float64) float64
	width  float64
}

func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i int, v float64) vg.Point {
		return vg.Point{X: x(d.place(d.axes.X[i])), Y: y(min(max(v, p.Y.Min), p.Y.Max))}
	}
	number := 0
	for _, k := range d.curves {
		if k.Faint {
			d.stroke(c, k, line(faint, 1.3), at)
		}
	}
	for _, k := range d.curves {
		if k.Faint {
			continue
		}
		r := seriesRole(number)
		if k.Low != nil {
			d.band(c, k, r, at)
		}
		s := line(r, 2)
		s.Dashes = dashes[number%len(dashes)]
		d.stroke(c, k, s, at)
		number++
	}
	if d.axes.Bare {
		return
	}
	for _, l := range d.labels(p) {
		s := style(l.role, smallFont)
		s.YAlign = draw.YCenter
		c.FillText(s, vg.Point{X: c.Max.X + 6, Y: c.Y(l.y)}, l.name)
	}
}

func (d drawn) stroke(c draw.Canvas, k Curve, s draw.LineStyle, at func(int, float64) vg.Point) {
	var pts []vg.Point
	for i, v := range k.Y {
		if !math.IsNaN(v) {
			pts = append(pts, at(i, v))
		}
	}
	if len(pts) == 1 {
		c.DrawGlyph(draw.GlyphStyle{Color: s.Color, Radius: 3, Shape: draw.CircleGlyph{}}, pts[0])
		return
	}
	c.StrokeLines(s, pts)
}

func (d drawn) band(c draw.Canvas, k Curve, r role, at func(int, float64) vg.Point) {
	var above, below []vg.Point
	for i := range k.Y {
		if !math.IsNaN(k.Y[i]) {
			above = append(above, at(i, k.High[i]))
			below = append(below, at(i, k.Low[i]))
		}
	}
	if len(above) == 0 {
		return // a curve without a single point, as of a player that never chose
	}
	slices.Reverse(below)
	fill := colour(r)
	c.Push()
	c.SetColor(translucent(fill))
	var path vg.Path
	for i, q := range append(above, below...) {
		if i == 0 {
			path.Move(q)
			continue
		}
		path.Line(q)
	}
	path.Close()
	c.Fill(path)
	c.Pop()
}

// endLabel is the name of a curve at its end; y is in normalised coordinates.
type endLabel struct {
	name string
	role role
	y    float64
}

// labels places the names so that they do not overlap.
func (d drawn) labels(p *plot.Plot) []endLabel {
	var list []endLabel
	for _, k := range d.curves {
		if k.Faint {
			continue
		}
		end := math.NaN()
		for _, v := range k.Y {
			if !math.IsNaN(v) {
				end = v
			}
		}
		l := endLabel{shorten(k.Name, nameLength(d.width)-4), seriesRole(len(list)), p.Y.Norm(end)}
		if math.IsNaN(end) {
			l.y = 0
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	gap := 14 / max(40, d.axes.Height-70)
	for i := 1; i < len(list); i++ {
		list[i].y = max(list[i].y, list[i-1].y+gap)
	}
	for i := len(list) - 1; i >= 0; i-- {
		most := 1.0
		if i < len(list)-1 {
			most = list[i+1].y - gap
		}
		list[i].y = min(list[i].y, most)
	}
	return list
}

// GlyphBoxes implements plot.GlyphBoxer: it reserves room for the names.
func (d drawn) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	if d.axes.Bare {
		return nil
	}
	var boxes []plot.GlyphBox
	for _, l := range d.labels(p) {
		s := style(l.role, smallFont)
		s.YAlign = draw.YCenter
		r := s.Rectangle(l.name)
		r.Max.X += 8
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: l.y, Rectangle: r})
	}
	return boxes
}
