package plots

import (
	"math"
	"strconv"
)

// axis maps values to places on the canvas.
type axis struct {
	low, high float64 // values
	from, to  float64 // their places
	log       bool    // of 1 + the value
}

// at is the place of a value; values off the axis are at its ends.
func (a axis) at(v float64) float64 {
	low, high, v := a.low, a.high, min(max(v, a.low), a.high)
	if a.log {
		low, high, v = math.Log1p(low), math.Log1p(high), math.Log1p(v)
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

func (a axis) middle() float64 { return (a.from + a.to) / 2 }

// tick is a labelled value of an axis.
type tick struct {
	value float64
	label string
}

const (
	topMargin    = 8.0
	bottomMargin = 46.0 // for the ticks and the name of the x axis
	sideMargin   = 24.0 // for half the label of a tick, at least
)

// xAxis draws an axis below a plot, and a line through the plot at each tick.
func (c *canvas) xAxis(x, y axis, ticks []tick, name string) {
	for _, t := range ticks {
		c.line(grid, 0.8, x.at(t.value), y.from, x.at(t.value), y.to)
		c.line(muted, 0.8, x.at(t.value), y.from, x.at(t.value), y.from+4)
		c.text(muted, smallFont, x.at(t.value), y.from+13, "middle", t.label)
	}
	c.line(muted, 0.8, x.from, y.from, x.to, y.from)
	c.text(muted, fontSize, x.middle(), y.from+32, "middle", name)
}

// yAxis draws an axis on the left of a plot, and a line through the plot at each tick.
func (c *canvas) yAxis(x, y axis, ticks []tick, name string) {
	for _, t := range ticks {
		c.line(grid, 0.8, x.from, y.at(t.value), x.to, y.at(t.value))
		c.line(muted, 0.8, x.from-4, y.at(t.value), x.from, y.at(t.value))
		c.text(muted, smallFont, x.from-7, y.at(t.value), "end", t.label)
	}
	c.line(muted, 0.8, x.from, y.from, x.from, y.to)
	c.upward(muted, fontSize, 10, y.middle(), "middle", name)
}

// ticks labels values of a horizontal axis, as many as there is room for: 0 and powers of
// ten, or round ones with no less than a step between them.
func (a axis) ticks(least float64) []tick {
	if a.log {
		return logTicks(a.high, int((a.to-a.from)/50))
	}
	for most := 10; ; most-- {
		ticks := roundTicks(a.low, a.high, most, least)
		if n := len(ticks); n < 2 || most <= 2 || a.at(ticks[1].value)-a.at(ticks[0].value) > 10+widest(smallFont, ticks[0].label, ticks[n-1].label) {
			return ticks
		}
	}
}

// roundTicks labels at most a number of multiples of 1, 2 or 5 times a power of ten, and
// of no less than a step.
func roundTicks(low, high float64, most int, least float64) (ticks []tick) {
	least = max(least, (high-low)/float64(max(2, most))) * (1 - 1e-9)
	exponent, step := int(math.Floor(math.Log10(least))), 0.0
	for _, m := range []float64{1, 2, 5, 10} {
		if step = m * math.Pow10(exponent); step >= least {
			break
		}
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
		v := k*step + 0 // not -0
		ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'f', decimals, 64)})
	}
	return ticks
}

// logTicks labels 0 and at most a number of powers of ten.
func logTicks(last float64, most int) []tick {
	every := math.Ceil(math.Log10(max(1, last)) / float64(max(2, most)))
	ticks := []tick{{0, "0"}}
	for v := 1.0; v <= last; v *= math.Pow10(max(1, int(every))) {
		ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}
