package page_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host/web/webtest"
)

// screens are the widths and heights of a desktop window and of a telephone, in CSS
// pixels.
var screens = [][2]int{{1400, 900}, {400, 844}}

// probe measures a page from inside: how far it is wider than the window, labels that
// are cut off by the edge of their plot, and labels that lie on one another.
const probe = `(async () => {
  const height = document.documentElement.scrollHeight;
  for (const folded of document.querySelectorAll(".rest")) folded.open = true;
  const found = {wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    width: innerWidth, height, dark: matchMedia("(prefers-color-scheme: dark)").matches,
    hints: [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth + 1 && innerWidth <= 600 &&
      !getComputedStyle(e, "::before").content.includes("scrolls")).length,
    hidden: [...document.querySelectorAll("a[href^='#']")].filter(a => !document.querySelector(a.getAttribute("href"))).length, title: document.title, out: [], cut: [], overlap: [], plots: 0, labels: 0};
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width == 0) continue;
    found.plots++;
    const boxes = [];
    for (const text of svg.querySelectorAll("text")) {
      const b = text.getBoundingClientRect();
      if (b.width == 0) continue;
      found.labels++;
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 2 || b.bottom > frame.bottom + 2)
        found.cut.push(text.textContent);
      for (const o of boxes)
        if (Math.min(b.right, o.b.right) - Math.max(b.left, o.b.left) > 1.5 && Math.min(b.bottom, o.b.bottom) - Math.max(b.top, o.b.top) > 4)
          found.overlap.push(o.t + " / " + text.textContent);
      boxes.push({b, t: text.textContent});
    }
  }
  for (const e of document.querySelectorAll("body *"))
    if (!(e.parentElement.closest(".scroll, .strip") || e.matches(".skip")) && (e.getBoundingClientRect().right > innerWidth + 0.5 || e.scrollWidth > innerWidth))
      found.out.push(e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 30));
  // A link of the ranking opens the card that it leads to.
  const link = document.querySelector("th a[href^='#s-']");
  for (const folded of document.querySelectorAll(".rest")) folded.open = false;
  if (link) link.click();
  await new Promise(done => setTimeout(done, 100));
  found.linked = !link || !document.querySelector(link.getAttribute("href")).closest("details:not([open])");
  return JSON.stringify(found);
})()`

var policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)

// TestReportInChromium opens reports as they are and listens to the console, and
// opens them again with a probe that looks for labels that cannot be read.
func TestReportInChromium(t *testing.T) {
	t.Parallel()
	b, dir := webtest.Start(t), t.TempDir() // which listens to the console
	hostile := []bot{
		{name: `<script>document.title="owned";console.error("owned")</script>`, first: 0.5, last: 0.9, fault: 0.02},
		{name: `"quoted' & <b>bold</b>`, first: 0.5, last: 0.1},
		{name: strings.Repeat("a-very-long-name-", 6), first: 0.2, last: 0.2},
		{name: "短い名前", first: 0.7, last: 0.4},
		{name: "plain", first: 0.5, last: 0.5},
	}
	many := append(field(28), bot{name: "broken", first: 0.5, last: 0.5, fault: 0.9})
	inputs := map[string]page.Input{
		"hostile": played(t, "", 10, 150, hostile...),
		"large":   played(t, "", 6, 120, many...),
		"pair":    played(t, "", 10, 60, hostile[:2]...),
	}
	open := func(html string) {
		t.Helper()
		file := filepath.Join(dir, page.File)
		attest.OK(t, os.WriteFile(file, []byte(html), 0o644))
		b.Open("file://" + file)
	}
	for _, in := range inputs {
		html := written(t, in)
		if !policy.MatchString(html) {
			t.Fatal("the page does not forbid scripts")
		}
		open(html)
		// Without the policy, so that a name that is not escaped would run.
		open(policy.ReplaceAllString(html, ""))
		for _, scheme := range []string{"light", "dark"} {
			for _, s := range screens {
				b.Window(s[0], s[1])
				b.Prefer(scheme, true)
				look(t, b.Eval(probe).(string), scheme == "dark", len(in.Run.Plan.Field))
			}
		}
	}
}

// tallest is the largest height of the page of 29 strategies on a desktop, in CSS
// pixels.
const tallest = 8000

// look judges what the probe has measured.
func look(t *testing.T, measured string, dark bool, players int) {
	t.Helper()
	var seen struct {
		Wider, Width, Height, Plots, Labels, Hints, Hidden int
		Dark, Linked                                       bool
		Title                                              string
		Out, Cut, Overlap                                  []string
	}
	attest.OK(t, json.Unmarshal([]byte(measured), &seen))
	t.Logf("%d strategies at a width of %d: %d pixels high", players, seen.Width, seen.Height)
	for what, wrong := range map[string]bool{
		"the page has another width":                      seen.Width != screens[0][0] && seen.Width != screens[1][0],
		"the name of a strategy ran as a script":          !strings.HasPrefix(seen.Title, "strategylab: "),
		"the page is shown in the wrong theme":            seen.Dark != dark,
		"the page is too high":                            seen.Width == screens[0][0] && seen.Height > tallest,
		"parts scroll sideways and do not say so":         seen.Hints > 0,
		"links lead nowhere, or that of a row to no card": seen.Hidden > 0 || !seen.Linked,
		"there are too few plots or labels for a report":  players > 2 && (seen.Plots < 5 || seen.Labels < 50) || seen.Plots < 2,
		"the page is wider than the window":               seen.Wider > 0,
		"labels are cut off by the edge of their plot":    len(seen.Cut) > 0,
		"labels lie on one another":                       len(seen.Overlap) > 0,
	} {
		if wrong {
			t.Errorf("%s: %+v", what, seen)
		}
	}
}
