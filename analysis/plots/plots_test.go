package plots_test

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/plots"
)

func figures() map[string]*plots.Figure {
	estimate := func(x float64) analysis.Estimate {
		return analysis.Estimate{Estimate: x, Low: x - 0.01, High: x + 0.02}
	}
	none := analysis.Estimate{Estimate: math.NaN(), High: 1}
	square := func(n int) plots.Matrix {
		m := plots.Matrix{RowAxis: "row", Axis: "column", Scale: "share", High: 1, Mid: 0.5, Percent: true, Numbers: true}
		for i := range n {
			m.Rows = append(m.Rows, strings.Repeat("x", i%30+1))
			m.Cells = append(m.Cells, make([]float64, n))
			m.Cells[i][i] = math.NaN()
		}
		m.Columns = m.Rows
		return m
	}
	return map[string]*plots.Figure{
		"intervals":     plots.Intervals([]plots.Row{{Name: "a<b>&\"c\x00", Value: estimate(1.3), Behind: estimate(1.31)}, {Name: "b", Value: none, Behind: none, Group: "9"}}, "points"),
		"one":           plots.Intervals([]plots.Row{{Name: "a", Value: analysis.Estimate{Estimate: 1, Low: 1, High: 1}}}, "points"),
		"no rows":       plots.Intervals(nil, "points"),
		"curves":        plots.Curves([]plots.Curve{{Name: "a", Y: []float64{1, math.NaN(), 3}, Low: []float64{0, 0, 2}, High: []float64{2, 3, 4}}, {Name: "b", Y: []float64{1, 1, 1}, Faint: true}}, plots.Axes{X: []float64{1, 2, 3}, XLabel: "leg", YLabel: "%", Height: 300}),
		"one point":     plots.Curves([]plots.Curve{{Name: "a", Y: []float64{2}}}, plots.Axes{X: []float64{1}, XLabel: "leg", YLabel: "%", Height: 300}),
		"nothing known": plots.Curves([]plots.Curve{{Name: "a", Y: []float64{math.NaN(), math.NaN()}, Low: []float64{math.NaN(), math.NaN()}, High: []float64{math.NaN(), math.NaN()}}}, plots.Axes{X: []float64{0, 5000}, LogX: true, XLabel: "leg", YLabel: "%", Height: 300}),
		"matrix":        plots.Heatmap(square(5)),
		"large matrix":  plots.Heatmap(square(80)),
	}
}

// TestSVG holds that every plot, however little there is to draw, is sound XML, has
// its colours from variables, and says what it is.
func TestSVG(t *testing.T) {
	t.Parallel()
	bare := regexp.MustCompile(`(?:fill|stroke):#`)
	for name, f := range figures() {
		for _, width := range []float64{plots.Narrow, plots.Wide} {
			svg, err := f.SVG(width, `what "it" <shows>`)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, `aria-label="what &#34;it&#34; &lt;shows&gt;"`) {
				t.Errorf("%s begins with %.200s", name, svg)
			}
			if strings.Contains(svg, `d="Z`) {
				t.Errorf("%s has an area without a corner, which browsers report as an error", name)
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s has a number that does not exist", name)
			}
			if strings.Contains(svg, "<image") != (name == "large matrix") ||
				strings.Count(svg, "<image") != strings.Count(svg, `preserveAspectRatio="none"`) {
				t.Errorf("%s: a picture does not fill its frame, or there is one where there should be none", name)
			}
			if m := bare.FindStringIndex(svg); m != nil {
				t.Errorf("%s has a colour that no page can change: %.60s", name, svg[m[0]:])
			}
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestColours holds that colours tell roles apart and can be read on their ground.
func TestColours(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	list := plots.Variables()
	for _, v := range list {
		if other, twice := seen[v.Light]; twice {
			t.Errorf("%s and %s have one colour, so one would get the variable of the other", v.Name, other)
		}
		seen[v.Light] = v.Name
	}
	// By the order of the roles: ink, muted; paper is the fifth from there, and bands follow it.
	paper := list[5]
	if paper.Light != "#ffffff" {
		t.Fatalf("paper is %s", paper.Light)
	}
	for _, text := range list[:2] {
		if c := contrast(t, text.Light, paper.Light); c < 4.5 {
			t.Errorf("%s has a contrast of %.1f in the light", text.Name, c)
		}
		if c := contrast(t, text.Dark, paper.Dark); c < 4.5 {
			t.Errorf("%s has a contrast of %.1f in the dark", text.Name, c)
		}
	}
	if c := contrast(t, list[0].Light, list[6].Light); c < 4.5 {
		t.Errorf("text on a band has a contrast of %.1f in the light", c)
	}
	if c := contrast(t, list[0].Dark, list[6].Dark); c < 4.5 {
		t.Errorf("text on a band has a contrast of %.1f in the dark", c)
	}
	for _, line := range list[7:14] {
		if c := contrast(t, line.Light, paper.Light); c < 3 {
			t.Errorf("%s has a contrast of %.1f in the light", line.Name, c)
		}
		if c := contrast(t, line.Dark, paper.Dark); c < 3 {
			t.Errorf("%s has a contrast of %.1f in the dark", line.Name, c)
		}
	}
}

// contrast is that of two colours by the Web Content Accessibility Guidelines 2.1.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(hex string) float64 {
		var sum float64
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n := strings.Index("0123456789abcdef", hex[1+2*i:2+2*i])*16 + strings.Index("0123456789abcdef", hex[2+2*i:3+2*i])
			v := float64(n) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
