package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/page"
)

// screens are the widths and heights of a desktop window and of a telephone, in CSS
// pixels. Pages are shown in frames of these sizes, because a headless window is never
// as narrow as a telephone.
var screens = [][2]int{{1400, 900}, {400, 844}}

// framed is a page that shows others in frames of all sizes, and writes down the
// messages that they send, after the name of the sender.
func framed(names []string) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html><head><title>frames</title></head><body><script>
addEventListener("message", e => {
  const pre = document.createElement("pre");
  pre.textContent = [...document.querySelectorAll("iframe")].find(f => f.contentWindow === e.source).name + " " + e.data;
  document.body.append(pre);
});</script>`)
	for _, name := range names {
		for _, s := range screens {
			fmt.Fprintf(&b, `<iframe name="%s" src="%s" style="border:0;width:%dpx;height:%dpx"></iframe>`, name, fileOf(name), s[0], s[1])
		}
	}
	b.WriteString("</body></html>")
	return b.String()
}

func fileOf(name string) string { return name + "-" + page.File }

// browse opens pages by name in headless Chromium at all sizes in one theme, and
// returns the messages of each and what was written to the console. All share a
// browser, which takes longer to start than to show them.
func browse(t *testing.T, pages map[string]string, dark bool) (messages map[string][]string, console string) {
	t.Helper()
	if os.Getenv("WHOLE_TESTS") == "" {
		t.Skip("a browser costs seconds; WHOLE_TESTS=1 opens the report in it")
	}
	var binary string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			binary = p
			break
		}
	}
	if binary == "" {
		t.Skip("no Chromium here: install the package chromium to see the report opened")
	}
	dir := t.TempDir()
	frames := filepath.Join(dir, "frames.html")
	names := slices.Sorted(maps.Keys(pages))
	err := os.WriteFile(frames, []byte(framed(names)), 0o644)
	for name, html := range pages {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, fileOf(name)), []byte(html), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--user-data-dir=" + filepath.Join(dir, "profile"),
		fmt.Sprintf("--window-size=1400,%d", 2000*len(pages)), "--virtual-time-budget=5000", "--dump-dom", "file://" + frames,
	}
	scheme := map[bool]string{true: "0", false: "1"}[dark]
	cmd := exec.CommandContext(ctx, binary, append(args, "--blink-settings=preferredColorScheme="+scheme)...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", binary, err, errs.String())
	}
	if !strings.Contains(out.String(), "</html>") {
		t.Fatalf("Chromium shows no document:\n%.500s\n%s", out.String(), errs.String())
	}
	for _, line := range strings.Split(errs.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			console += line + "\n"
		}
	}
	messages = make(map[string][]string)
	for _, m := range message.FindAllStringSubmatch(out.String(), -1) {
		name, said, _ := strings.Cut(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(m[1]), " ")
		messages[name] = append(messages[name], said)
	}
	return messages, console
}

// TestConsoleIsHeard makes sure that a silent console means something.
func TestConsoleIsHeard(t *testing.T) {
	t.Parallel()
	_, console := browse(t, map[string]string{"loud": `<!DOCTYPE html><html><script>console.error("here I am")</script></html>`}, false)
	if !strings.Contains(console, "here I am") {
		t.Fatalf("an error on the console was not heard: %q", console)
	}
}

// probe measures a page from inside: how far it is wider than the window, labels that
// are cut off by the edge of their plot, and labels that lie on one another.
const probe = `<script>
addEventListener("load", () => {
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
    if (!(e.parentElement.closest(".scroll, nav ul") || e.matches(".skip")) && (e.getBoundingClientRect().right > innerWidth + 0.5 || e.scrollWidth > innerWidth))
      found.out.push(e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 30));
  // A link of the ranking opens the card that it leads to.
  const link = document.querySelector("th a[href^='#s-']");
  found.linked = !link;
  for (const folded of document.querySelectorAll(".rest")) folded.open = false;
  if (link) link.click();
  setTimeout(() => {
    if (link) found.linked = !document.querySelector(link.getAttribute("href")).closest("details:not([open])");
    parent.postMessage(JSON.stringify(found), "*");
  }, 100);
});
</script>`

var (
	policy  = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	message = regexp.MustCompile(`(?s)<pre>(.*?)</pre>`)
)

// TestReportInChromium opens reports as they are and listens to the console, and
// opens them again with a probe that looks for labels that cannot be read.
func TestReportInChromium(t *testing.T) {
	t.Parallel()
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
	asIs, measured := make(map[string]string), make(map[string]string)
	for name, in := range inputs {
		html := written(t, in)
		if !policy.MatchString(html) {
			t.Fatal("the page does not forbid scripts")
		}
		asIs["plain-"+name] = html
		// Without the policy, so that a name that is not escaped would run.
		measured[name] = strings.Replace(policy.ReplaceAllString(html, ""), "</body>", probe+"</body>", 1)
	}
	for theme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(theme, func(t *testing.T) {
			t.Parallel()
			pages := maps.Clone(measured)
			if !dark {
				maps.Copy(pages, asIs)
			}
			messages, console := browse(t, pages, dark)
			if console != "" {
				t.Errorf("the console says:\n%s", console)
			}
			for name, in := range inputs {
				if len(messages[name]) != len(screens) {
					t.Errorf("%s: measured at %d of %d sizes", name, len(messages[name]), len(screens))
				}
				for _, m := range messages[name] {
					look(t, m, dark, len(in.Run.Plan.Field))
				}
			}
		})
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
	if err := json.Unmarshal([]byte(measured), &seen); err != nil {
		t.Fatalf("%v: %s", err, measured)
	}
	if seen.Width != screens[0][0] && seen.Width != screens[1][0] {
		t.Errorf("the page is shown %d pixels wide", seen.Width)
	}
	if !strings.HasPrefix(seen.Title, "strategylab: ") {
		t.Errorf("the title is %q: the name of a strategy ran as a script", seen.Title)
	}
	if seen.Dark != dark {
		t.Errorf("the page is shown in the dark: %v", seen.Dark)
	}
	if seen.Width == screens[0][0] && seen.Height > tallest {
		t.Errorf("the page of %d strategies is %d pixels high, want at most %d", players, seen.Height, tallest)
	}
	t.Logf("%d strategies at a width of %d: %d pixels high", players, seen.Width, seen.Height)
	if seen.Hints > 0 {
		t.Errorf("%d parts scroll sideways at a width of %d and do not say so", seen.Hints, seen.Width)
	}
	if seen.Hidden > 0 || !seen.Linked {
		t.Errorf("%d links lead nowhere; that of a row opens its card: %v", seen.Hidden, seen.Linked)
	}
	if players > 2 && (seen.Plots < 5 || seen.Labels < 50) || seen.Plots < 2 {
		t.Errorf("%d plots with %d labels are too few to be the report", seen.Plots, seen.Labels)
	}
	if seen.Wider > 0 {
		t.Errorf("at a width of %d the page is %d pixels wider than the window: %q", seen.Width, seen.Wider, seen.Out)
	}
	if len(seen.Cut) > 0 {
		t.Errorf("at a width of %d labels are cut off by the edge of their plot: %q", seen.Width, seen.Cut)
	}
	if len(seen.Overlap) > 0 {
		t.Errorf("at a width of %d labels lie on one another: %q", seen.Width, seen.Overlap)
	}
}
