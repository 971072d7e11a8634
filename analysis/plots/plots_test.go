package plots

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
)

var undefined = math.NaN()

func figures() map[string]*Figure {
	estimate := func(x float64) analysis.Estimate {
		return analysis.Estimate{Estimate: x, Low: x - 0.01, High: x + 0.02}
	}
	none := analysis.Estimate{Estimate: undefined, High: 1}
	square := func(n int, names string) Matrix {
		m := Matrix{RowAxis: "row", Axis: "column", Scale: "share", High: 1, Mid: 0.5, Numbers: true}
		m.Title = func(i, j int) string { return fmt.Sprintf("<%d> against %d", i, j) }
		for i := range n {
			m.Rows = append(m.Rows, strings.Repeat(names, i%30+1))
			m.Cells = append(m.Cells, make([]float64, n))
			m.Cells[i][i] = undefined
		}
		m.Columns = m.Rows
		return m
	}
	places := square(12, "x")
	places.Mid, places.Columns = 0, strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12")
	rows := []Row{{Name: strings.Repeat("W", 40), Value: estimate(1.25), Group: "tier 9"}}
	for _, x := range []float64{1.31, 1.32, 1.33, 1.34, 1.35, 0.2, 7} {
		rows = append(rows, Row{Name: "short", Value: estimate(x), Behind: estimate(x), Group: "tier 10"})
	}
	var named []Curve
	for range 7 {
		named = append(named, Curve{Name: strings.Repeat("long name ", 5), Y: []float64{0, 100}})
	}
	return map[string]*Figure{
		"intervals":     Intervals([]Row{{Name: "a<b>&\"c\x00", Value: estimate(1.3), Behind: estimate(1.31)}, {Name: "b", Value: none, Behind: none, Group: "9"}}, "points"),
		"one":           Intervals([]Row{{Name: "a", Value: analysis.Estimate{Estimate: 1, Low: 1, High: 1}}}, "points"),
		"no rows":       Intervals(nil, "points"),
		"off the scale": Intervals(rows, "points per match"),
		"curves":        Curves([]Curve{{Name: "a", Y: []float64{1, undefined, 3}, Low: []float64{0, 0, 2}, High: []float64{2, 3, 4}}, {Name: "b", Y: []float64{1, 1, 1}, Faint: true}}, Axes{X: []float64{1, 2, 3}, XLabel: "leg", YLabel: "%", Height: 300}),
		"many names":    Curves(named, Axes{X: []float64{0, 1e6}, LogX: true, XLabel: "generation", YLabel: "%", Height: 300}),
		"no names":      Curves([]Curve{{Y: []float64{0, 100}}}, Axes{X: []float64{1, 1000}, XLabel: "leg", YLabel: "%", Height: 150, YMin: 1, YMax: 99}),
		"one point":     Curves([]Curve{{Name: "a", Y: []float64{2}}}, Axes{X: []float64{1}, XLabel: "leg", YLabel: "%", Height: 300}),
		"nothing known": Curves([]Curve{{Name: "a", Y: []float64{undefined, undefined}, Low: []float64{undefined, undefined}, High: []float64{undefined, undefined}}}, Axes{X: []float64{0, 5000}, LogX: true, XLabel: "leg", YLabel: "%", Height: 300}),
		"matrix":        Heatmap(square(5, "x")),
		"wide matrix":   Heatmap(square(45, "W")),
		"large matrix":  Heatmap(square(130, "x")),
		"places":        Heatmap(places),
		"no cells":      Heatmap(Matrix{RowAxis: "i", Axis: "column", Scale: "share", High: 1}),
	}
}

// box is where a text is, by the estimate of its width.
type box struct {
	text                     string
	left, top, right, bottom float64
}

// boxes reads a figure as XML and returns the places of its texts.
func boxes(t *testing.T, svg string) (list []box) {
	t.Helper()
	value := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "text" {
			continue
		}
		var text string
		attest.OK(t, d.DecodeElement(&text, &e))
		size, _ := strconv.ParseFloat(value(e, "font-size"), 64)
		x, _ := strconv.ParseFloat(value(e, "x"), 64)
		y, _ := strconv.ParseFloat(value(e, "y"), 64)
		width := widest(size, text)
		along := -width * map[string]float64{"start": 0, "middle": 0.5, "end": 1}[value(e, "text-anchor")]
		if n, _ := fmt.Sscanf(value(e, "transform"), "translate(%f %f) rotate(-90)", &x, &y); n == 2 {
			list = append(list, box{text, x - 0.76*size, y - along - width, x + 0.04*size, y - along})
		} else {
			list = append(list, box{text, x + along, y - 0.76*size, x + along + width, y + 0.04*size})
		}
	}
}

// TestTexts holds that in every plot, however little there is to draw, no text is cut off
// by the edge and none lies on another.
func TestTexts(t *testing.T) {
	for name, f := range figures() {
		for _, width := range []float64{Narrow, Wide} {
			svg := f.SVG(width, name)
			var w, h float64
			if _, err := fmt.Sscanf(svg[strings.Index(svg, "viewBox"):], `viewBox="0 0 %f %f"`, &w, &h); err != nil || w != width {
				t.Errorf("%s: width %v, want %v, error %v", name, w, width, err)
			}
			list := boxes(t, svg)
			for i, a := range list {
				if a.text == "" || a.left < 0 || a.top < 0 || a.right > w || a.bottom > h {
					t.Errorf("%s: text %q leaves the plot of %v x %v: %+v", name, a.text, w, h, a)
				}
				for _, b := range list[:i] {
					if min(a.right, b.right)-max(a.left, b.left) > 0.5 && min(a.bottom, b.bottom)-max(a.top, b.top) > 0.5 {
						t.Errorf("%s, width %v: texts lie on one another: %+v %+v", name, width, a, b)
					}
				}
			}
		}
	}
}

// TestSVG holds that a page can change every colour of a plot, and that a file needs no
// page.
func TestSVG(t *testing.T) {
	t.Parallel()
	fixed, size := regexp.MustCompile(`"#[0-9a-f]{6}"`), regexp.MustCompile(`^<svg [^>]*width="760" height="[0-9]+"`)
	for name, f := range figures() {
		svg, file := f.SVG(Wide, `what "it" <shows>`), f.File(Wide, name)
		if !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg" `) || !strings.Contains(svg, `aria-label="what &#34;it&#34; &lt;shows&gt;"`) {
			t.Errorf("%s begins with %.200s", name, svg)
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, "%!") {
			t.Errorf("%s has a number that does not exist:\n%s", name, svg)
		}
		if c := fixed.FindString(svg); c != "" {
			t.Errorf("%s has a colour that no page can change: %s", name, c)
		}
		if strings.Contains(file, "var(") || !size.MatchString(file) || len(boxes(t, file)) != len(boxes(t, svg)) {
			t.Errorf("the file of %s needs a page:\n%.300s", name, file)
		}
		if svg != f.SVG(Wide, `what "it" <shows>`) {
			t.Errorf("%s has other bytes when it is drawn again", name)
		}
	}
}

// TestNamedCurves: names at the ends of curves are in their order, whatever pushes them.
func TestNamedCurves(t *testing.T) {
	p := plane{y: axis{high: 1, from: 300}}
	var got []string
	for _, l := range p.named([]Curve{
		{Name: "low", Y: []float64{1, 0}}, {Name: "high", Y: []float64{0, 1}}, {Name: "grey", Y: []float64{1}, Faint: true},
		{Name: "middle", Y: []float64{0.5, undefined}}, {Name: "second", Y: []float64{0.5}}, {Name: "unknown", Y: []float64{undefined}},
	}, 100) {
		got = append(got, fmt.Sprintf("%s %v", l.label, l.y))
	}
	if want := "high 0, middle 150, second 164, low 286, unknown 300"; strings.Join(got, ", ") != want {
		t.Errorf("names are at %q, want %q", got, want)
	}
}

func TestShorten(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "a rather long name": "a rather l…", "短い名前短い名前": "短い名前短…", "WWWWWWW": "WWWWW…"} {
		got := shorten(in, 10, 66)
		if got != want || widest(10, got) > 66 {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := printable("5\u00a0%\n\x7f\u202e\xff"); got != "5\u00a0%???\ufffd" {
		t.Errorf("printable: %q", got)
	}
}

func TestTicks(t *testing.T) {
	across := func(low, high, width, least float64) []tick {
		return axis{low: low, high: high, to: width}.ticks(least)
	}
	for name, tt := range map[string]struct {
		got  []tick
		want string
	}{
		"tenths":        {roundTicks(1, 1.5, 6, 0), "1.0 1.1 1.2 1.3 1.4 1.5"},
		"about zero":    {roundTicks(-0.05, 0.05, 5, 0), "-0.04 -0.02 0.00 0.02 0.04"},
		"thousandths":   {roundTicks(1.2494, 1.2506, 4, 0), "1.2495 1.2500 1.2505"},
		"large":         {roundTicks(0, 23000, 3, 0), "0 10000 20000"},
		"few":           {across(1, 3, 600, 1), "1 2 3"},
		"many":          {across(1, 100, 200, 1), "20 40 60 80 100"},
		"one":           {across(0.5, 1.5, 200, 1), "1"},
		"narrow":        {across(1.36, 1.45, 180, 0), "1.36 1.38 1.40 1.42 1.44"},
		"narrower":      {across(1.36, 1.45, 120, 0), "1.40 1.45"},
		"generations":   {axis{high: 1500, to: 250, log: true}.ticks(1), "0 1 10 100 1000"},
		"many of them":  {logTicks(1e6, 4), "0 1 100 10000 1000000"},
		"no generation": {logTicks(0, 4), "0"},
	} {
		var labels []string
		for _, tick := range tt.got {
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// contrast is that of two colours by the Web Content Accessibility Guidelines 2.1.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast holds that texts, lines and the numbers on cells can be read on their
// ground in both themes.
func TestContrast(t *testing.T) {
	type pair struct {
		on, ground role
		least      float64
	}
	pairs := []pair{{ink, paper, 4.5}, {muted, paper, 4.5}, {ink, band, 4.5}}
	for r := series; r < scale; r++ {
		pairs = append(pairs, pair{r, paper, 3})
	}
	for r := scale; r < onScale; r++ {
		pairs = append(pairs, pair{r + scaleSteps, r, 4.5}, pair{r, paper, 1.2})
	}
	for _, p := range pairs {
		for theme := range 2 {
			if c := contrast(p.on.in(theme), p.ground.in(theme)); c < p.least {
				t.Errorf("theme %d: role %d on %d has a contrast of %.2f", theme, p.on, p.ground, c)
			}
		}
	}
}

// TestStyle: each role has a variable of its own, and the scale ends in its ends.
func TestStyle(t *testing.T) {
	light, dark, _ := strings.Cut(Style(), "@media")
	attest.Has(t, light, "--plot-5:#ffffff;", scale.variable()+":#b35806;", (scale+halfScale).variable()+":#e4e7eb;", (onScale-1).variable()+":#054f96;")
	if n := strings.Count(light, "--plot-"); n != int(roles) || strings.Count(dark, "--plot-") != n || !strings.Contains(dark, "--plot-5:#161a1f;") {
		t.Errorf("variables: %s", Style())
	}
}

// TestScale: the colour follows the value, the middle is the middle, and values beyond
// the ends have the colour of the end.
func TestScale(t *testing.T) {
	for _, tt := range []struct {
		v, low, mid, high float64
		want              role
	}{
		{0, 0, 0.5, 1, 0}, {0.5, 0, 0.5, 1, halfScale}, {1, 0, 0.5, 1, scaleSteps - 1}, {-3, 0, 0.5, 1, 0}, {7, 0, 0.5, 1, scaleSteps - 1},
		{0.9, 0, 0.8, 1, 15}, {0, 0, 0, 1, halfScale}, {1, 0, 0, 1, scaleSteps - 1}, {0, 0, 0, 0, halfScale},
	} {
		if got := scaleRole(tt.v, tt.low, tt.mid, tt.high); got != scale+tt.want {
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
