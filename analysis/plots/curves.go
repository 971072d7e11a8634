package plots

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Curve is one line of a line plot.
type Curve struct {
	Name string    // at the end of the line; empty for none
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
}

// dashes distinguish curves without their colours.
var dashes = []string{"none", "7 3", "2 2.5", "9 3 2 3", "4 2"}

const sampleLength = 18.0

// Curves draws lines over a common axis; at their ends are their names, beside a sample
// of each line.
func Curves(curves []Curve, a Axes) *Figure {
	return &Figure{func(c *canvas) float64 {
		p := plane{Axes: a, y: axis{a.YMin, a.YMax, a.Height - bottomMargin, topMargin, false}}
		if a.YMin == 0 && a.YMax == 0 {
			p.y.low, p.y.high = span(curves)
		}
		yTicks := roundTicks(p.y.low, p.y.high, int(a.Height/35), 0)
		p.x = axis{a.X[0], a.X[len(a.X)-1], sideMargin, c.width - sideMargin, a.LogX}
		if p.x.low == p.x.high {
			p.x.low, p.x.high = p.x.low-0.5, p.x.high+0.5
		}
		for _, t := range yTicks {
			p.x.from = max(p.x.from, 30+widest(smallFont, t.label))
		}
		named := p.named(curves, 20+c.width/6)
		for _, n := range named {
			if n.label != "" {
				p.x.to = min(p.x.to, c.width-sampleLength-14-widest(smallFont, n.label))
			}
		}
		c.yAxis(p.x, p.y, yTicks, a.YLabel)
		c.xAxis(p.x, p.y, p.x.ticks(1), a.XLabel)
		p.draw(c, curves, named)
		return a.Height
	}}
}

// span is the range of all curves and bands, with a margin.
func span(curves []Curve) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, k := range curves {
		for _, v := range slices.Concat(k.Y, k.Low, k.High) {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		return 0, 1
	}
	air := max(0.04*(high-low), 1e-3)
	return low - air, high + air
}

// plane is where curves are drawn.
type plane struct {
	Axes
	x, y axis
}

// points are the places of the defined values of a curve or of a bound of its band.
func (p plane) points(k Curve, values []float64) (list []string) {
	for i, v := range values {
		if !math.IsNaN(k.Y[i]) {
			list = append(list, number(p.x.at(p.X[i]))+" "+number(p.y.at(v)))
		}
	}
	return list
}

// draw draws curves, the faint ones behind the others.
func (p plane) draw(c *canvas, curves []Curve, named []namedCurve) {
	for _, k := range curves {
		if k.Faint {
			c.stroke(p.points(k, k.Y), faint, 1.3, dashes[0])
		}
	}
	for _, n := range named {
		if around := p.points(n.Curve, n.High); len(around) > 1 {
			below := p.points(n.Curve, n.Low)
			slices.Reverse(below)
			c.put(`<path d="M%vZ" fill="%v" fill-opacity=".19"/>`, strings.Join(append(around, below...), "L"), n.role)
		}
		c.stroke(p.points(n.Curve, n.Y), n.role, 2, n.dash)
		if at := number(n.y); n.label != "" {
			c.stroke([]string{number(p.x.to+6) + " " + at, number(p.x.to+6+sampleLength) + " " + at}, n.role, 2, n.dash)
			c.text(n.role, smallFont, p.x.to+10+sampleLength, n.y, "start", n.label)
		}
	}
}

// stroke draws a line, or the only point of a curve.
func (c *canvas) stroke(points []string, r role, width float64, dash string) {
	if len(points) == 1 {
		c.put(`<path d="M%vh0" stroke="%v" stroke-width="6" stroke-linecap="round"/>`, points[0], r)
	} else if len(points) > 1 {
		c.put(`<path d="M%v" fill="none" stroke="%v" stroke-width="%v" stroke-dasharray="%v"/>`, strings.Join(points, "L"), r, width, dash)
	}
}

// namedCurve is a curve with its name, which is at the height y.
type namedCurve struct {
	Curve
	label string // empty for none
	role  role
	dash  string
	y     float64
}

// named returns the curves that are not faint, and places their names so that they do not
// overlap.
func (p plane) named(curves []Curve, width float64) (list []namedCurve) {
	for _, k := range curves {
		if k.Faint {
			continue
		}
		i := len(list)
		list = append(list, namedCurve{k, shorten(k.Name, smallFont, width), series + role(i%seriesColours), dashes[i%len(dashes)], p.y.from})
		for _, v := range k.Y {
			if !math.IsNaN(v) {
				list[i].y = p.y.at(v)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b namedCurve) int { return cmp.Compare(a.y, b.y) })
	const gap = 14
	for i := 1; i < len(list); i++ {
		list[i].y = max(list[i].y, list[i-1].y+gap)
	}
	lowest := p.y.from
	for i := len(list) - 1; i >= 0; i-- {
		list[i].y = min(list[i].y, lowest)
		lowest = list[i].y - gap
	}
	return list
}
