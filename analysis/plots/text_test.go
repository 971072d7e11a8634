package plots_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/plots"
)

var (
	textElement = regexp.MustCompile(`(?s)<text\b([^>]*)>(.*?)</text>`)
	textLength  = regexp.MustCompile(`\btextLength="([0-9.]+)"`)
)

// oneOfEachKind has one of each kind, with names of one letter and of many.
func oneOfEachKind() map[string]*plots.Figure {
	estimate := func(x float64) analysis.Estimate { return analysis.Estimate{Estimate: x, Low: x - 0.1, High: x + 0.1} }
	return map[string]*plots.Figure{
		"intervals": plots.Intervals([]plots.Row{
			{Name: "i", Value: estimate(1.3), Behind: estimate(1.2)},
			{Name: "a-strategy-with-a-very-long-name", Value: estimate(1.1), Behind: estimate(1.2), Group: "tier 1"},
		}, "points per match"),
		"curves": plots.Curves([]plots.Curve{
			{Name: "i", Y: []float64{50, 60}}, {Name: "WWW", Y: []float64{40, math.NaN()}, Low: []float64{30, 30}, High: []float64{50, 50}},
		}, plots.Axes{X: []float64{1, 2}, XLabel: "leg", YLabel: "%", Height: 200}),
		"heat map": plots.Heatmap(plots.Matrix{
			Rows: []string{"i", "WWW & <co>"}, Columns: []string{"i", "WWW & <co>"}, Cells: [][]float64{{0.1, 0.9}, {0.5, math.NaN()}},
			RowAxis: "strategy", Axis: "opponent", Scale: "share", High: 1, Mid: 0.5, Percent: true, Numbers: true,
		}),
	}
}

// TestEveryTextHasItsLength: a browser without the font stretches or squeezes each
// text to the width of the layout, so every text must say that width, and a longer
// text a larger one.
func TestEveryTextHasItsLength(t *testing.T) {
	t.Parallel()
	for name, figure := range oneOfEachKind() {
		for _, width := range []float64{plots.Wide, plots.Narrow} {
			svg, err := figure.SVG(width, name)
			if err != nil {
				t.Fatal(err)
			}
			texts := textElement.FindAllStringSubmatch(svg, -1)
			if len(texts) < 5 || len(texts) != strings.Count(svg, "<text") {
				t.Errorf("%s, width %v: %d texts of %d", name, width, len(texts), strings.Count(svg, "<text"))
			}
			lengths := map[string]float64{}
			for _, text := range texts {
				found := textLength.FindAllStringSubmatch(text[1], -1)
				if len(found) != 1 || !strings.Contains(text[1], `lengthAdjust="spacingAndGlyphs"`) {
					t.Errorf("%s, width %v: text %q bears %q, want one textLength", name, width, text[2], text[1])
					continue
				}
				length, err := strconv.ParseFloat(found[0][1], 64)
				if err != nil || !(length > 0 && length < width) {
					t.Errorf("%s, width %v: text %q is %q long, error %v", name, width, text[2], found[0][1], err)
				}
				lengths[strings.TrimSpace(text[2])] = length
			}
			for longer := range lengths {
				if strings.HasPrefix(longer, "WWW") && !(lengths[longer] > 4*lengths["i"] && lengths["i"] > 0) {
					t.Errorf("%s, width %v: %q is %v long, and \"i\" %v", name, width, longer, lengths[longer], lengths["i"])
				}
			}
		}
	}
}

// TestTextOfPages: names are text, never markup, and the label is an attribute.
func TestTextOfPages(t *testing.T) {
	t.Parallel()
	svg, err := oneOfEachKind()["heat map"].SVG(plots.Wide, `a "label" <&>`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(svg, `aria-label="a &#34;label&#34; &lt;&amp;&gt;"`) {
		t.Errorf("label: %.300s", svg)
	}
	if strings.Contains(svg, "<co>") || !strings.Contains(svg, "WWW &amp; &lt;co&gt;") {
		t.Errorf("a name is not escaped:\n%s", svg)
	}
}
