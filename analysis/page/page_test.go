package page_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
)

// text is a page without tags, style and plots, with single spaces.
func text(html string) string {
	html = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>`).ReplaceAllString(html, " ")
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	return strings.Join(strings.Fields(strings.NewReplacer("&nbsp;", " ", "\u00a0", " ").Replace(html)), " ")
}

// TestSays holds the page to what the leagues have shown: the first sentence, and what holds
// for some runs only.
func TestSays(t *testing.T) {
	t.Parallel()
	best := []bot{{name: "mine", first: 0, last: 0}, {name: "b", first: 1, last: 1}, {name: "c", first: 1, last: 1}, {name: "d", first: 1, last: 1}}
	equal := []bot{{name: "a", first: 0.5, last: 0.5}, {name: "b", first: 0.5, last: 0.5}, {name: "c", first: 0.5, last: 0.5}}
	changed := func(in page.Input, change func(in *page.Input)) page.Input {
		change(&in)
		return in
	}
	const biased = "weights:1=1,2=3"
	stopping := func(why string, rule sequential.Kind, g sequential.Guarantee) func(in *page.Input) {
		return func(in *page.Input) {
			in.Run.Plan.Runs = 1000
			in.Run.Stopping = report.Stopping{Why: why, Options: &sequential.Options{Rule: sequential.Rule{Kind: rule}, Guarantee: g, Level: 0.95}}
		}
	}
	const random, nobody, student = "Choosing at random gives 1.25.", "nobody beats anybody", "by Student&#39;s t or, near a bound"
	for name, test := range map[string]struct {
		in       page.Input
		has, not []string
	}{
		"one is best":   {played(t, "", 4, 60, best...), []string{"mine scores most against these opponents", "(95 % interval 1.47 to 1.50), ahead of all 3 others", "Tier 1 mine", student}, []string{"Stopping ", "off the scale"}},
		"nobody is":     {played(t, "", 4, 60, equal...), []string{"These leagues do not tell the strategies apart", "no difference is significant; more leagues may show one", random, nobody}, []string{"yours", "Yours", "Processes", "quarantined"}},
		"several lead":  {played(t, "", 4, 60, bot{"x", 0, 0, 0}, bot{"y", 1, 1, 0}, bot{"z", 0.5, 0.5, 0}), []string{"x scores most against these opponents", "with no evidence of a difference from y."}, nil},
		"one league":    {played(t, "", 4, 1, equal...), []string{"Too few leagues to compare strategies"}, nil},
		"biased draw":   {played(t, biased, 4, 60, equal...), []string{"The draw is biased: choosing the likelier parity pays", "the game has no potential", "adjusted wins"}, []string{random, nobody}},
		"fair weights":  {played(t, "weights:1=1,2=3,3=2", 2, 60, field(4)...), []string{random, nobody}, []string{"The draw is biased"}},
		"unexplained":   {changed(played(t, "", 4, 60, equal...), func(in *page.Input) { in.Explanations, in.Mirrors = explain.Explanations{}, nil }), []string{"These leagues do not"}, nil},
		"no mirrors":    {changed(played(t, "", 4, 60, field(4)...), func(in *page.Input) { in.Mirrors = in.Mirrors[:2] }), []string{"How the population evolves is unknown: bot-03 and bot-04 never met copies of themselves."}, []string{"alpha-rank"}},
		"faults":        {played(t, "", 4, 60, bot{"bad", 0.5, 0.5, 0.1}, equal[1], equal[2]), []string{"scripts/x.lua:3: &lt;b&gt;broke&lt;/b&gt;", "bad error", nobody}, []string{random}},
		"far off":       {played(t, "", 4, 60, append(field(8), bot{name: "broken", fault: 0.9})...), []string{"An arrow stands for broken: far from the others, and off the scale."}, nil},
		"another level": {changed(played(t, "", 4, 60, field(4)...), func(in *page.Input) { in.Run.Estimates.Level = 0.9 }), []string{"Small figures are 90 % intervals", "Bands are 90 % intervals"}, nil},
		"stopped early": {changed(played(t, "", 2, 60, field(3)...), func(in *page.Input) { in.Run.Plan.Runs = 1000 }), []string{"The run was stopped after 60 of 1,000 leagues; this page shows those."}, []string{"Stopped after"}},
		"not reproducible": {changed(played(t, "", 2, 60, field(3)...), func(in *page.Input) { in.Run.Facts.Reproducible = false }),
			[]string{"Not reproducible: time limits or lost connections decided matches, and a rerun may differ."}, []string{"The run was stopped"}},
		"stopping rule": {changed(played(t, "", 2, 60, field(3)...), stopping("best", sequential.Best, sequential.Asymptotic)), []string{"Stopped after 60 leagues of at most 1,000: bot-"}, []string{"The run was stopped", student}},
		"finite":        {changed(played(t, "", 2, 60, field(3)...), stopping(report.MaxRuns, sequential.Ranked, sequential.Finite)), []string{"Stopping Ended after the maximum of 60 leagues; --until ranked is not reached", "betting against bounded means"}, []string{"Student"}},
		"two players": {played(t, "uniform:1-10", 10, 60, bot{name: "x"}, bot{name: "y", first: 1, last: 1}),
			[]string{"there is nothing to rank", "Their choices differ in", "The pair Choices differ in 100.0 %", "Matches 600", "Won by x", "Won by y", "Tied"}, []string{"Tiers", "Places in single leagues", "Who differs"}},
		"one leg": {played(t, "", 1, 60, field(4)...), []string{"Strategy by strategy"}, []string{"Learning curves", "leg by leg"}},
		"processes": {changed(played(t, "", 4, 60, field(3)...), func(in *page.Input) {
			in.Run.Facts.Processes = []report.Process{
				{Name: "<b>x", Kind: "lua", Players: []string{"bot-01", "bot-02"}, CPUSeconds: 1234.5, PeakBytes: new(uint64(3 << 19)), Starts: 1},
				{Name: "y", Kind: "plugin", Players: []string{"bot-03"}, Starts: 6, Failures: 7, PutAside: true},
			}
		}), []string{"y was quarantined after its processes had failed 7 times: from then on bot-03 lost every match.",
			"&lt;b&gt;x lua bot-01, bot-02 1,234.50 s 1.5 MiB 1 0", "y plugin bot-03 0.00 s - 6 7 quarantined"}, nil},
		"repeated": {changed(played(t, "uniform:1-10", 4, 60, field(3)...), func(in *page.Input) {
			in.Version, in.Begun = "v1.2.3", time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
			in.Run.Plan.Field = []results.Entrant{{Name: "random#1", Ref: "random"}, {Name: "random#2", Ref: "random"}, {Name: "it's", Ref: "it's.lua", Kind: "lua", Fingerprint: "finger"}}
		}), []string{`strategylab experiment --runs 60 --legs 4 --seed 7 --draw uniform:1-10 --field &#39;random*2,it&#39;\&#39;&#39;s.lua&#39;`,
			"it&#39;s lua finger", "Begun on 2026-02-28", "Written by strategylab v1.2.3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html := written(t, test.in)
			got := text(html)
			attest.Has(t, got, test.has...)
			for _, no := range append(test.not, "NaN", "ZgotmplZ") {
				if strings.Contains(got, no) {
					t.Errorf("the page says %q", no)
				}
			}
			if strings.Contains(html, "NaN") || regexp.MustCompile(`<th[^>]*></th>`).MatchString(html) {
				t.Error("the page shows a number that does not exist, or a heading without words")
			}
		})
	}
}

// TestStructure holds what readers with other means than eyes and a mouse need, that every
// plot says what its axes are, and that the page needs nothing but itself.
func TestStructure(t *testing.T) {
	t.Parallel()
	in := played(t, "", 10, 60, field(6)...)
	html := written(t, in)
	attest.Has(t, html, `<html lang="en">`, `<main>`, `<h1>`, `scope="col"`, `scope="row"`, `<figcaption>`, `aria-label="Sections"`)
	svgs := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1)
	if len(svgs) < 8 {
		t.Fatalf("only %d plots", len(svgs))
	}
	for _, svg := range svgs {
		if !regexp.MustCompile(`^<svg[^>]*role="img" aria-label="[^"]{20,}"`).MatchString(svg) {
			t.Errorf("a plot does not say what it shows: %.300s", svg)
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
	if strings.Count(html, "<script") != 1 || strings.Contains(html, "@import") {
		t.Error("the page has another script than that of its button, or an import")
	}
	for _, m := range regexp.MustCompile(`(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
	figures := regexp.MustCompile(`(?s)<figure>.*?</figure>`).FindAllString(html, -1)
	axes := []string{"points per match", "share of matches in which the choices differ", "share of leagues", "choices differ, % of matches", "share of the population, %"}
	plots := page.Plots(in)
	if len(figures) != len(axes) || len(plots) != len(axes) {
		t.Fatalf("%d figures and %d plots, want %d", len(figures), len(plots), len(axes))
	}
	for i, f := range figures {
		if !strings.Contains(f, ">"+axes[i]+"<") || len(text(f)) < 80 {
			t.Errorf("figure %d does not name its unit %q, or has a short caption: %q", i+1, axes[i], text(f))
		}
		if p := plots[i]; !strings.HasPrefix(p.SVG, "<svg xmlns=") || strings.Contains(p.SVG, "var(") || p.Name != []string{"ranking", "matrix", "places", "learning", "population"}[i] {
			t.Errorf("the file of %s needs a page: %.300s", p.Name, p.SVG)
		}
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
		attest.Has(t, p.SVG, "* "+name+"<")
	}
}

// TestTableBesideMatrix: what the cells of a matrix say under the pointer stands in a
// table, too, whatever the size of the field; and the page of a large one can still be opened.
func TestTableBesideMatrix(t *testing.T) {
	t.Parallel()
	players := attest.Repetitions(61, 120, 120)
	in := played(t, "", 2, 8, field(players)...)
	in.Mirrors = in.Mirrors[:attest.Repetitions(0, players, players)] // without them there is no population to simulate
	html := written(t, in)
	if got := text(html); strings.Contains(got, "As a table, with intervals") || !strings.Contains(html, `aria-label="Table of places`) {
		t.Errorf("%d players: tables have intervals, or places have none", players)
	}
	if most := attest.Repetitions(1, 2, 2) << 20; len(html) > most {
		t.Errorf("the page of %d players has %d bytes, want at most %d", players, len(html), most)
	}
	html = written(t, played(t, "", 2, 12, field(18)...))
	if got := strings.Count(html, "<title>bot-"); got != 18*18*2 || !strings.Contains(text(html), "As a table, with intervals") {
		t.Errorf("18 players: no table has intervals, or %d cells say what they are, want all %d of both matrices", got, 18*18*2)
	}
	if !regexp.MustCompile(`<title>bot-01 against bot-02: choices differ in [0-9.]+\x{a0}%`).MatchString(html) || !regexp.MustCompile(`<title>bot-01: place 3 in [0-9.]+\x{a0}% of leagues`).MatchString(html) {
		t.Error("a cell does not say which strategies it is about")
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds what a page says, one sentence a line, without its plots.
func TestGolden(t *testing.T) {
	t.Parallel()
	in := played(t, "", 6, 200, bot{"steady", 0, 0, 0}, bot{"turncoat", 0.1, 0.9, 0.01}, bot{"coin", 0.5, 0.5, 0}, bot{"mostly", 0.8, 0.8, 0})
	got := strings.ReplaceAll(text(written(t, in)), ". ", ".\n") + "\n"
	const file = "testdata/page.txt"
	if *update {
		attest.OK(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := attest.Must(os.ReadFile(file))
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the page says something else (-want +got; -update rewrites the file):\n%s", d)
	}
}
