package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/web/webtest"
)

// hostileText is what a page could take for something else, and longer than any line.
var hostileText = `<script>document.title = "ran"</script>"><img src=x onerror="document.title='ran'"> left` + "\u202e" + `right ` + strings.Repeat("long", 2500)

// harmless reports what of hostileText a page has taken for something else.
func harmless(t *testing.T, b *webtest.Browser) {
	t.Helper()
	if ran := b.Eval(`document.title === "ran" || document.querySelector("img") !== null || document.body.innerText.includes("\u202e")`); ran != false {
		t.Errorf("the text of a script is not shown as text: %v", b.Eval(`document.title + [...document.querySelectorAll("img")].map(e => e.outerHTML).join() + document.body.innerText.match(/.{0,60}\u202e.{0,60}/)`))
	}
	if shown := b.Eval(`document.body.innerText.includes("<script>document.title")`); shown != true {
		t.Error("the text of a script is not shown")
	}
}

// While leagues are played the page fits every window and says how far the run is, also
// one that stops by itself. What a script says is text, there and
// in the report.
func TestRunningExperimentInChromium(t *testing.T) {
	t.Parallel()
	const folder = "scripts<img src=x onerror=alert(1)>" // and so is where it stands
	for _, tt := range []struct {
		name  string
		args  []string
		shows string // in the heading
	}{
		{"runs", []string{"--runs", "9000000", "--field", "random,role,markov-1," + folder + "/mine.lua"}, `of 9,000,000 leagues`},
		{"until", []string{"--until", "precision=0.0001", "--max-runs", "9000000", "--field", "echo,council,rhythm,markov-2,random"}, `of at most 9,000,000 leagues`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := webtest.Start(t)
			b.Allow("ERR_CONNECTION_REFUSED") // when the run has been interrupted
			dir := t.TempDir()
			write(t, dir, folder+"/mine.lua", "-- "+hostileText+"\nfunction choose(turn) error([["+hostileText+"]]) end")
			for _, name := range []string{"echo.js", "council.lua", "rhythm.js"} {
				text, err := os.ReadFile(filepath.Join("..", "..", "scripts", name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, "scripts/"+name, string(text))
			}
			e, url := onPage(t, dir, append([]string{"--legs", "2", "--seed", "1", "--workers", "1", "--out", "out"}, tt.args...)...)
			b.Open(url)
			b.Until(`document.querySelector("#ranking tbody tr") && [...document.querySelectorAll(".facts dt")].some(e => e.innerText === "time left")`)
			if shown := b.Eval(`document.getElementById("heading").innerText.replace(/\s/g, " ")`).(string); !strings.Contains(shown, tt.shows) {
				t.Errorf("the heading lacks %q: %s", tt.shows, shown)
			}
			if tt.name == "runs" {
				harmless(t, b)
			}
			if tt.name == "until" {
				b.Illustrate("experiment", 1200, 900)
			}
			b.Fits("experiment-" + tt.name)
			e.interrupt(exitStopped)
			if tt.name == "runs" { // what it has played is a report, too
				run1(t, dir, 0, "report", "out")
				b.Open("file://" + filepath.Join(dir, "out", "report.html"))
				harmless(t, b)
				b.Fits("report-hostile")
			}
		})
	}
}
