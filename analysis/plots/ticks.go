package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// roundTicks labels multiples of 1, 2 or 5 times a power of ten, at most so many.
func roundTicks(most int) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		step, decimals := roundStep((high-low)/float64(max(2, most)), false)
		var ticks []plot.Tick
		for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
			v := k*step + 0 // not -0
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', decimals, 64)})
		}
		return ticks
	})
}

// roundStep returns the smallest round step that is not below another, and how many
// decimals its multiples have. A whole step is at least 1.
func roundStep(least float64, whole bool) (step float64, decimals int) {
	if !(least > 0) || math.IsInf(least, 0) {
		return 1, 0
	}
	for exponent := int(math.Floor(math.Log10(least))); ; exponent++ {
		for _, m := range []float64{1, 2, 5} {
			step = m * math.Pow10(exponent)
			if step >= least*(1-1e-9) && (!whole || step >= 1) {
				return step, max(0, -exponent)
			}
		}
	}
}

// wholeTicks labels whole numbers between the first and the last x, not more than
// there is room for.
func wholeTicks(first, last, width float64) plot.Ticker {
	step, _ := roundStep((last-first)/(width/45), true)
	var ticks plot.ConstantTicks
	for v := math.Ceil(first/step) * step; v <= last; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}

// logTicks labels 0 and powers of ten on an axis of log(1 + x).
func logTicks(most float64) plot.Ticker {
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}}
	for v := 1.0; v <= most; v *= 10 {
		ticks = append(ticks, plot.Tick{Value: math.Log1p(v), Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}
