package page_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
)

// skeleton returns the tags of a page with the names of their attributes, without
// plots, whose marks depend on the widths of names.
func skeleton(html string) string {
	html = unplotted(html)
	tags := regexp.MustCompile(`<[^>]*>`).FindAllString(html, -1)
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(strings.Join(tags, "\n"), `""`)
}

func unplotted(html string) string {
	return regexp.MustCompile(`(?s)<style>.*?</style>|<svg.*?</svg>`).ReplaceAllString(html, "")
}

// table is the screen of a run without a limit of width.
func table(t testing.TB, in page.Input) string {
	t.Helper()
	var b bytes.Buffer
	attest.OK(t, report.WriteTable(&b, in.Document, report.Screen{Details: true}))
	return b.String()
}

// svgTags returns the elements and attributes that the plots of a page may have.
func svgTags(html string) map[string]bool {
	found := make(map[string]bool)
	for _, plot := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1) {
		for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(plot, -1) {
			found[regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)] = true
		}
	}
	return found
}

// Whatever strategies, scripts and plugins are called, and whatever a fault says, the
// page has the same tags, and nothing on it or in a table moves a cursor or turns text
// around. Data for machines keeps the names.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"x<b>y.js", `q"r.js`, "right\u202eto left", "line\nbreak", "tab\tcr\r", `'><script>alert(1)</script>`, `" onload="x`, "</title>", "</style>", "]]>",
		"{{.}}", "javascript:alert(1)", "\x1b[31mred", "\u2066isolate", "zero\u200bwidth", "\ufeffmark", "=1+1", "a,b", "\xff", "&lt;", "", "-->", "`${x}`",
	} {
		f.Add(seed, seed)
	}
	in := played(f, "", 2, 12, bot{"one", 0, 0.2, 0.05}, bot{"two", 1, 0.4, 0}, bot{"three", 0.5, 0.9, 0})
	harmless := renamed(in, "plain", "plain")
	plain := written(f, harmless)
	tags, plots, lines := skeleton(plain), svgTags(plain), strings.Count(table(f, harmless), "\n")
	f.Fuzz(func(t *testing.T, name, other string) {
		if name == "" || other == "" || name == "two" || name == "three" || !utf8.ValidString(name) {
			return // a plan.json has no such names, and what is empty is left out
		}
		if len(name) > 100 || len(other) > 100 {
			return // nothing new, and slow to lay out
		}
		named := renamed(in, name, other)
		html := written(t, named)
		if got := skeleton(html); got != tags {
			t.Fatalf("the tags of the page depend on the names %q and %q:\n%s", name, other, firstDifference(tags, got))
		}
		for tag := range svgTags(html) {
			if !plots[tag] {
				t.Fatalf("the names %q and %q make a tag in a plot: %s", name, other, tag)
			}
		}
		shown := table(t, named)
		if n := strings.Count(shown, "\n"); n != lines {
			t.Fatalf("the table has %d lines with the names %q and %q, want %d", n, name, other, lines)
		}
		printable(t, strings.ReplaceAll(html, "\"\tstyle=", "\" style=")+shown) // as the SVG writer separates attributes
		wantName(t, named, name)
	})
}

// renamed gives the first player of a run another name, and other texts besides.
func renamed(in page.Input, name, other string) page.Input {
	in.Run.Plan.Field, in.Mirrors = slices.Clone(in.Run.Plan.Field), slices.Clone(in.Mirrors)
	e := &in.Run.Plan.Field[0]
	kind := "kind " + other // never one that means something
	e.Name, e.Kind, e.Ref, e.Source, e.Fingerprint = name, kind, other, other, other
	in.Run.Estimates.Players = slices.Clone(in.Run.Estimates.Players)
	p := &in.Run.Estimates.Players[0]
	p.Name, p.Kind, p.Faults = name, kind, slices.Clone(p.Faults)
	for i := range p.Faults {
		p.Faults[i].Where = "at " + other // tables show the first line, if there is one
	}
	in.Mirrors[0].Strategy, in.Run.Facts.Digest = name, other
	in.Run.Facts.Processes = []report.Process{{Name: other, Kind: kind, Players: []string{name}, Failures: 3, PutAside: true}}
	return in
}

// wantName finds a name in the JSON of a run.
func wantName(t *testing.T, in page.Input, name string) {
	t.Helper()
	var b bytes.Buffer
	attest.OK(t, report.WriteJSON(&b, report.New(in.Run)))
	var got struct{ Players []struct{ Name string } }
	attest.OK(t, json.Unmarshal(b.Bytes(), &got))
	for _, p := range got.Players {
		if p.Name == name {
			return
		}
	}
	t.Errorf("JSON does not have the name %q", name)
}

func printable(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\u00a0' && !unicode.IsPrint(r) {
			t.Fatalf("%q is shown as it is: %q", r, text[max(0, i-60):min(len(text), i+60)])
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer"
}
