package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// labels are those of the ticks between two values.
func labels(t plot.Ticker, low, high float64) string {
	var list []string
	for _, tick := range t.Ticks(low, high) {
		list = append(list, tick.Label)
	}
	return strings.Join(list, " ")
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ got, want string }{
		"tenths":        {labels(roundTicks(6), 1, 1.5), "1.0 1.1 1.2 1.3 1.4 1.5"},
		"about zero":    {labels(roundTicks(5), -0.05, 0.05), "-0.04 -0.02 0.00 0.02 0.04"},
		"thousandths":   {labels(roundTicks(4), 1.2494, 1.2506), "1.2495 1.2500 1.2505"},
		"large":         {labels(roundTicks(3), 0, 23000), "0 10000 20000"},
		"few":           {labels(wholeTicks(1, 3, 760), 0, 0), "1 2 3"},
		"many":          {labels(wholeTicks(1, 100, 340), 0, 0), "20 40 60 80 100"},
		"one":           {labels(wholeTicks(1, 1, 340), 0, 0), "1"},
		"generations":   {labels(logTicks(1500), 0, 0), "0 1 10 100 1000"},
		"no generation": {labels(logTicks(0), 0, 0), "0"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}

// TestRoundTicks: labels are exact, ascending, inside the range, and not too many.
func TestRoundTicks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		low := (r.Float64() - 0.5) * math.Pow10(r.IntN(8)-3)
		high, most := low+(r.Float64()+1e-3)*math.Pow10(r.IntN(8)-4), 2+r.IntN(10)
		ticks := roundTicks(most).Ticks(low, high)
		if len(ticks) > most+1 {
			t.Fatalf("%v to %v: %d ticks, want at most %d", low, high, len(ticks), most+1)
		}
		for i, tick := range ticks {
			v, err := strconv.ParseFloat(tick.Label, 64)
			if err != nil || math.Abs(v-tick.Value) > 1e-6*(high-low) {
				t.Fatalf("%v to %v: label %q at %v", low, high, tick.Label, tick.Value)
			}
			if slack := 1e-6 * (high - low); tick.Value < low-slack || tick.Value > high+slack {
				t.Fatalf("%v to %v: tick at %v", low, high, tick.Value)
			}
			if i > 0 && !(tick.Value > ticks[i-1].Value) || tick.Label == "-0" {
				t.Fatalf("%v to %v: ticks %v", low, high, ticks)
			}
		}
	}
}

// luminance is that of WCAG 2, relative luminance.
func luminance(c string) float64 {
	var v [3]uint8
	if _, err := fmt.Sscanf(c, "#%02x%02x%02x", &v[0], &v[1], &v[2]); err != nil {
		panic(err)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		x := float64(v[i]) / 255
		if x <= 0.04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		sum += weight * x
	}
	return sum
}

// contrast is the contrast ratio of WCAG 2, 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestNumbersOnCells: in both themes a number on a cell of a heat map is in the colour
// that is easier to read there, with the contrast that WCAG 2 asks for of large text.
func TestNumbersOnCells(t *testing.T) {
	t.Parallel()
	all := Variables()
	for theme, of := range map[string]func(role) string{
		"light": func(r role) string { return all[r].Light }, "dark": func(r role) string { return all[r].Dark },
	} {
		for i := range scaleSteps {
			r := scale + role(i)
			on := ink
			if strong(r) {
				on = paper
			}
			if c := contrast(of(on), of(r)); c < 3 {
				t.Errorf("%s: a number on step %d of the scale has contrast %.2f", theme, i, c)
			}
		}
	}
}

// TestRoles: no two roles share a colour, so that every colour in an SVG finds its
// variable again.
func TestRoles(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for k, v := range Variables() {
		if names[v.Name] || v.Name != fmt.Sprintf("--plot-%d", k) {
			t.Errorf("variable %d is %s", k, v.Name)
		}
		names[v.Name] = true
		if r, ok := roleOf(v.Light); !ok || r != role(k) {
			t.Errorf("%s is the colour of role %d, want %d", v.Light, r, k)
		}
	}
	if _, ok := roleOf("#123456"); ok {
		t.Error("a colour of no role has one")
	}
	if _, ok := roleOf("none"); ok {
		t.Error("a text is a colour")
	}
}

// TestScale: the colour follows the value, the middle is the middle, and values beyond
// the ends have the colour of the end.
func TestScale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v, low, mid, high float64
		want              int
	}{
		{0, 0, 0.5, 1, 0}, {0.5, 0, 0.5, 1, scaleSteps / 2}, {1, 0, 0.5, 1, scaleSteps - 1},
		{-3, 0, 0.5, 1, 0}, {7, 0, 0.5, 1, scaleSteps - 1}, {0.9, 0, 0.8, 1, 15}, {0, 0, 0, 1, scaleSteps / 2}, {1, 0, 0, 1, scaleSteps - 1},
	} {
		if got := scaleRole(tt.v, tt.low, tt.mid, tt.high); got != scale+role(tt.want) {
			t.Errorf("%v on %v, %v, %v: step %d, want %d", tt.v, tt.low, tt.mid, tt.high, got-scale, tt.want)
		}
	}
	last := role(-1)
	for v := -0.1; v < 1.1; v += 0.001 {
		r := scaleRole(v, 0, 0.3, 1)
		if r < last {
			t.Fatalf("the colour of %v is below that of less", v)
		}
		last = r
	}
}

// TestEndLabels: names at the ends of curves never overlap and never leave the plot,
// wherever the curves end.
func TestEndLabels(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		d := drawn{axes: Axes{Height: 360}, width: Wide}
		n := 1 + r.IntN(12)
		for i := range n {
			end := r.Float64()
			if r.IntN(3) == 0 {
				end = 0.5 // many end at one place
			}
			d.curves = append(d.curves, Curve{Name: strconv.Itoa(i), Y: []float64{0.2, end, math.NaN()}})
		}
		p := plot.New()
		p.Y.Min, p.Y.Max = 0, 1
		list := d.labels(p)
		if len(list) != n {
			t.Fatalf("%d names of %d curves", len(list), n)
		}
		gap := 14 / (d.axes.Height - 70)
		for i, l := range list {
			if l.y > 1 || i > 0 && l.y-list[i-1].y < gap*(1-1e-9) {
				t.Fatalf("name %d of %d at %v, the one below at %v", i, n, l.y, list[max(0, i-1)].y)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, tt := range map[string]struct {
		curves    []Curve
		low, high float64
	}{
		"nothing":   {nil, 0, 1},
		"undefined": {[]Curve{{Y: []float64{nan}}}, 0, 1},
		"lines":     {[]Curve{{Y: []float64{1, nan, 2}}, {Y: []float64{1.5}}}, 0.96, 2.04},
		"bands":     {[]Curve{{Y: []float64{1}, Low: []float64{0}, High: []float64{10}}}, -0.4, 10.4},
		"constant":  {[]Curve{{Y: []float64{5, 5}}}, 4.999, 5.001},
	} {
		if low, high := span(tt.curves); math.Abs(low-tt.low) > 1e-12 || math.Abs(high-tt.high) > 1e-12 {
			t.Errorf("%s: %v to %v, want %v to %v", name, low, high, tt.low, tt.high)
		}
	}
}

func TestShortenNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"short": "short", "a rather long name": "a rather …", "two\nlines\x7f": "two?lines?", "短い名前短い名前短い名前": "短い名前短い名前短…"} {
		if got := shorten(in, 10); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if nameLength(Narrow) >= nameLength(Wide) {
		t.Error("a phone has room for longer names than a desktop")
	}
}
