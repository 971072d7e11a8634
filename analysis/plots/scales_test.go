package plots

import (
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
	light, dark, _ := strings.Cut(Style(), "@media")
	for _, want := range []string{"--plot-5:#ffffff;", (scale + 0).variable() + ":#b35806;", (scale + halfScale).variable() + ":#e4e7eb;", (onScale - 1).variable() + ":#054f96;"} {
		if !strings.Contains(light, want) {
			t.Errorf("no %s in %s", want, light)
		}
	}
	if n := strings.Count(light, "--plot-"); n != int(roles) || strings.Count(dark, "--plot-") != n || !strings.Contains(dark, "--plot-5:#161a1f;") {
		t.Errorf("variables: %s", Style())
	}
}

// TestScale: the colour follows the value, the middle is the middle, and values beyond
// the ends have the colour of the end.
func TestScale(t *testing.T) {
	t.Parallel()
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
