package page_test

import (
	"encoding/xml"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
)

// text is a page without tags, style and plots, with single spaces.
func text(html string) string {
	html = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>`).ReplaceAllString(html, " ")
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	return strings.Join(strings.Fields(strings.NewReplacer("&nbsp;", " ", "\u00a0", " ").Replace(html)), " ")
}

// TestAnswers holds the first sentence to what the leagues have shown.
func TestAnswers(t *testing.T) {
	t.Parallel()
	best := []bot{{name: "mine", first: 0, last: 0}, {name: "b", first: 1, last: 1}, {name: "c", first: 1, last: 1}, {name: "d", first: 1, last: 1}}
	equal := []bot{{name: "a", first: 0.5, last: 0.5}, {name: "b", first: 0.5, last: 0.5}, {name: "c", first: 0.5, last: 0.5}}
	for name, test := range map[string]struct {
		in   page.Input
		want []string
	}{
		"one is best":    {played(t, "", 4, 60, best...), []string{"mine scores most against these opponents", "(95 % interval 1.47 to 1.50), ahead of all 3 others", "Tier 1 mine"}},
		"nobody is":      {played(t, "", 4, 60, equal...), []string{"These leagues do not tell the strategies apart", "no difference is significant; more leagues may show one"}},
		"several lead":   {played(t, "", 4, 60, bot{"x", 0, 0, 0}, bot{"y", 1, 1, 0}, bot{"z", 0.5, 0.5, 0}), []string{"x scores most against these opponents", "with no evidence of a difference from y."}},
		"two players":    {played(t, "", 4, 60, equal[:2]...), []string{"there is nothing to rank", "Their choices differ in"}},
		"one league":     {played(t, "", 4, 1, equal...), []string{"Too few leagues to compare strategies"}},
		"biased draw":    {played(t, "weights:1=1,2=3", 4, 60, equal...), []string{"The draw is biased", "the game has no potential", "adjusted wins"}},
		"no explanation": {noExplanations(played(t, "", 4, 60, equal...)), []string{"These leagues do not"}},
		"faults":         {played(t, "", 4, 60, bot{"bad", 0.5, 0.5, 0.1}, equal[1], equal[2]), []string{"scripts/x.lua:3: &lt;b&gt;broke&lt;/b&gt;", "bad error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html := written(t, test.in)
			got := text(html)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the page does not say %q:\n%.1500s", want, got)
				}
			}
			if strings.Contains(got, "NaN") || strings.Contains(html, "NaN") {
				t.Error("the page shows a number that does not exist")
			}
			if strings.Contains(html, "ZgotmplZ") {
				t.Error("the template refused a value")
			}
		})
	}
}

// Yours have a sentence, a marked row and a named line in every plot.
func TestYours(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, field(9)...)
	last := in.Estimates.Order[8]
	in.Run.Yours = []int{last}
	html := written(t, in)
	name := in.Estimates.Players[last].Name
	rest := text(html) // in this order
	for _, want := range []string{"Yours, " + name + ", is 9th", "Place 9 of 9; possible: ", name + " lua, yours", "Whom you meet", "won tied lost a match bot-",
		"A star marks yours.", "Tier 1 is every", name + " in league 0"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the page does not say %q, or before what comes earlier:\n%s", want, rest)
			continue
		}
		rest = after
	}
	if n := strings.Count(html, `class="yours"`); n != 1 {
		t.Errorf("%d marked rows", n)
	}
	for _, p := range page.Plots(in) {
		if !strings.Contains(p.SVG, "* "+name+"<") {
			t.Errorf("no line of the plot %s is named", p.Name)
		}
	}
	if got := text(written(t, played(t, "", 4, 60, field(3)...))); strings.Contains(got, "yours") || strings.Contains(got, "Yours") {
		t.Error("nobody's strategies are marked")
	}
}

// TestProcesses shows what ran apart, and above all what was given up.
func TestProcesses(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, field(3)...)
	if got := text(written(t, in)); strings.Contains(got, "Processes") || strings.Contains(got, "quarantined") {
		t.Error("the page speaks of processes where there were none")
	}
	peak := uint64(3 << 19)
	in.Run.Facts.Processes = []report.Process{
		{Name: "<b>x", Kind: "lua", Players: []string{"bot-01", "bot-02"}, CPUSeconds: 1234.5, PeakBytes: &peak, Starts: 1},
		{Name: "y", Kind: "plugin", Players: []string{"bot-03"}, Starts: 6, Failures: 7, PutAside: true},
	}
	html := written(t, in)
	if regexp.MustCompile(`<th[^>]*></th>`).MatchString(html) {
		t.Error("a column or a row has no heading")
	}
	got := text(html)
	for _, want := range []string{
		"y was quarantined after its processes had failed 7 times: from then on bot-03 lost every match.",
		"&lt;b&gt;x lua bot-01, bot-02 1,234.50 s 1.5 MiB 1 0",
		"y plugin bot-03 0.00 s - 6 7 quarantined",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q:\n%s", want, got)
		}
	}
}

func noExplanations(in page.Input) page.Input {
	in.Explanations, in.Mirrors = explain.Explanations{}, nil
	return in
}

// TestWithoutMirrors holds that what rests on the diagonal is not made up.
func TestWithoutMirrors(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, field(4)...)
	in.Mirrors = in.Mirrors[:2]
	got := text(written(t, in))
	if want := "How the population evolves is unknown: bot-03 and bot-04 never met copies of themselves."; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
	if strings.Contains(got, "alpha-rank") {
		t.Error("the page has an alpha-rank without a diagonal")
	}
}

// TestSelfContained holds that the page needs nothing but itself.
func TestSelfContained(t *testing.T) {
	t.Parallel()
	html := written(t, played(t, "", 10, 60, field(6)...))
	if strings.Count(html, "<script") != 1 || strings.Contains(html, "@import") {
		t.Error("the page has another script than that of its button, or an import")
	}
	for _, m := range regexp.MustCompile(`(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
}

// TestStructure holds what readers with other means than eyes and a mouse need.
func TestStructure(t *testing.T) {
	t.Parallel()
	html := written(t, played(t, "", 10, 60, field(6)...))
	for _, want := range []string{`<html lang="en">`, `<main>`, `<h1>`, `scope="col"`, `scope="row"`, `<figcaption>`, `aria-label="Sections"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	svgs := regexp.MustCompile(`<svg[^>]*>`).FindAllString(html, -1)
	if len(svgs) < 8 {
		t.Fatalf("only %d plots", len(svgs))
	}
	for _, svg := range svgs {
		if !regexp.MustCompile(`role="img" aria-label="[^"]{20,}"`).MatchString(svg) {
			t.Errorf("a plot does not say what it shows: %s", svg)
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("a plot is not sound XML: %v\n%.300s", err, svg)
			}
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !ids[m[1]] {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
}

// TestUnitsAndCaptions holds that every plot says what its axes are.
func TestUnitsAndCaptions(t *testing.T) {
	t.Parallel()
	html := written(t, played(t, "", 10, 60, field(6)...))
	figures := regexp.MustCompile(`(?s)<figure>.*?</figure>`).FindAllString(html, -1)
	axes := []string{"points per match", "share of matches in which the choices differ", "share of leagues", "choices differ, % of matches", "share of the population, %"}
	if len(figures) != len(axes) {
		t.Fatalf("%d figures, want %d", len(figures), len(axes))
	}
	for i, f := range figures {
		if !strings.Contains(f, ">"+axes[i]+"<") {
			t.Errorf("figure %d does not name its unit %q", i+1, axes[i])
		}
		if len(text(f)) < 80 {
			t.Errorf("the caption of figure %d is %q", i+1, text(f))
		}
	}
}

// TestLevel holds that intervals are called what they are.
func TestLevel(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, field(4)...)
	in.Run.Estimates.Level = 0.9
	if got := text(written(t, in)); !strings.Contains(got, "Small figures are 90 % intervals") || !strings.Contains(got, "Bands are 90 % intervals") {
		t.Error("the page does not say that intervals are of 90 %")
	}
}

// TestSizeIsBounded holds that a large field makes a page that can still be opened.
func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	players, most := 70, 1<<20
	if os.Getenv("WHOLE_TESTS") != "" {
		players, most = 120, 2<<20
	}
	html := written(t, played(t, "", 2, 8, field(players)...))
	t.Logf("the page of %d players has %d bytes", players, len(html))
	if len(html) > most {
		t.Errorf("the page of %d players has %d bytes, want at most %d", players, len(html), most)
	}
}

// TestPlots holds that plots can be had as files that need no page.
func TestPlots(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range page.Plots(played(t, "", 10, 60, field(6)...)) {
		names = append(names, p.Name)
		if !strings.HasPrefix(p.SVG, "<svg xmlns=") || strings.Contains(p.SVG, "var(") {
			t.Errorf("%s needs a page: %.300s", p.Name, p.SVG)
		}
	}
	if got := strings.Join(names, " "); got != "ranking matrix places learning population" {
		t.Errorf("plots are %s", got)
	}
}
