package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// Row is one line of an interval plot.
type Row struct {
	Name   string
	Marked bool // by a bar at the left edge
	// Value is drawn strongly, Behind, if it is defined, faintly behind it.
	Value, Behind analysis.Estimate
	// Group is what the row belongs to, such as "tier 2"; rows next to each other with
	// the same group lie on one band.
	Group string
}

const rowHeight = 20.0

// Intervals draws one row per name, the first at the top, with a point and its
// interval. Bands with and without a shade alternate from group to group. A row that
// is so far from the others that they would be squeezed is off the scale: an arrow at
// the edge and its value stand for it.
func Intervals(rows []Row, unit string) *Figure {
	limit := scaled(rows)
	return &Figure{func(c *canvas) float64 {
		x := axis{from: sideMargin, to: c.width - sideMargin}
		x.low, x.high = limit.reach(rows)
		y := axis{high: float64(len(rows)), from: topMargin, to: topMargin + rowHeight*float64(len(rows))}
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = shorten(r.Name, fontSize, 50+c.width/6)
			x.from = max(x.from, 12+widest(fontSize, names[i]))
			if !c.small() {
				x.to = min(x.to, c.width-12-widest(smallFont, r.Group))
			}
		}
		c.bands(x, y, rows)
		c.xAxis(x, axis{from: y.to, to: y.from}, x.ticks(0), unit)
		for i, r := range rows {
			at := y.at(float64(i) + 0.5)
			if r.Marked {
				c.rect(series+1, 0, at-rowHeight/2+2, 3, rowHeight-4)
			}
			c.text(ink, fontSize, x.from-8, at, "end", names[i])
			if limit.off(r) {
				c.arrow(x, at, r.Value.Estimate, r.Value.Estimate > limit.high)
			} else {
				c.intervals(x, at, r)
			}
		}
		return y.to + bottomMargin
	}}
}

// limits are those of the values on the scale.
type limits struct{ low, high float64 }

// scaled chooses the scale of rows. Off it are values that are further from the
// quartiles than four times the distance between these, if the scale of all would be
// more than twice as long.
func scaled(rows []Row) limits {
	all := limits{math.Inf(-1), math.Inf(1)}
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
	most := limits{q1 - 4*(q3-q1), q3 + 4*(q3-q1)}
	from, to := all.reach(rows)
	if low, high := most.reach(rows); to-from > 2*(high-low) {
		return most
	}
	return all
}

// OffScale has the names of the rows that an interval plot cannot show on its scale.
func OffScale(rows []Row) (names []string) {
	limit := scaled(rows)
	for _, r := range rows {
		if limit.off(r) {
			names = append(names, r.Name)
		}
	}
	return names
}

func (l limits) off(r Row) bool {
	return r.Value.Defined() && (r.Value.Estimate < l.low || r.Value.Estimate > l.high)
}

// reach is the range of all intervals on the scale, with a margin.
func (l limits) reach(rows []Row) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, e := range []analysis.Estimate{r.Value, r.Behind} {
			if e.Defined() && !l.off(r) {
				low, high = min(low, e.Low), max(high, e.High)
			}
		}
	}
	switch room := (high - low) / 50; {
	case low > high:
		return 0, 1
	case low == high:
		return low - 0.5, high + 0.5
	default:
		return low - room, high + room
	}
}

// bands shades every other group of rows and names the groups at the right edge.
func (c *canvas) bands(x, y axis, rows []Row) {
	shade, other := paper, band
	for i, r := range rows {
		if i > 0 && r.Group == rows[i-1].Group {
			continue
		}
		top := y.at(float64(i)) // down to the end, to be covered by the next band
		c.rect(shade, x.from, top, x.to-x.from, y.to-top)
		shade, other = other, shade
		if r.Group != "" && !c.small() {
			c.text(muted, smallFont, x.to+6, top+rowHeight/2, "start", r.Group)
		}
	}
}

// intervals draws the intervals of a row.
func (c *canvas) intervals(x axis, y float64, r Row) {
	if r.Behind.Defined() {
		c.line(behind, 7, x.at(r.Behind.Low), y, x.at(r.Behind.High), y)
	}
	if !r.Value.Defined() {
		return
	}
	colour, radius, low, high := series, 2.4, x.at(r.Value.Low), x.at(r.Value.High)
	if r.Marked {
		colour++
	}
	c.line(colour, 1.8, low, y, high, y)
	if !c.small() {
		radius = 3.6
		c.line(colour, 1.8, low, y-3.5, low, y+3.5)
		c.line(colour, 1.8, high, y-3.5, high, y+3.5)
	}
	c.put(`<circle cx="%v" cy="%v" r="%v" fill="%v"/>`, x.at(r.Value.Estimate), y, radius, colour)
}

// arrow stands for a row that is off the scale, at the edge that it is beyond.
func (c *canvas) arrow(x axis, y, value float64, beyond bool) {
	edge, inward, anchor := x.from+3, 1.0, "start"
	if beyond {
		edge, inward, anchor = x.to-3, -1, "end"
	}
	c.put(`<path d="M%v %vl%v -5v10z" fill="%v"/>`, edge, y, 9*inward, series)
	c.text(ink, smallFont, edge+14*inward, y, anchor, fmt.Sprintf("%.3f, off the scale", value))
}
