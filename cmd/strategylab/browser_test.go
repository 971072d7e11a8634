package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/web/webtest"
)

// ready is the condition that the check has found the script of the editor ready.
const ready = `document.querySelector("#verdict[aria-busy=false] .good")`

// A strategy is written, broken, mended, tried, looked at match by match and saved in a
// browser, by mouse and by keyboard.
func TestStudioInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	dir := t.TempDir()
	s := openStudio(t, dir, "strategies")
	b.Open(s.url)
	b.Until(`document.querySelector(".empty")`)
	b.Type("#new-name", "mine")
	b.Click("#new button")
	b.Until(ready)
	file := filepath.Join(dir, "strategies", "mine.lua")
	first, err := os.ReadFile(file)
	if err != nil || b.Eval(`document.getElementById("source").value`) != string(first) {
		t.Fatalf("the editor does not show the new file, %v", err)
	}
	if n, _ := b.Eval(`document.querySelectorAll(".paint .keyword").length`).(float64); n < 10 {
		t.Errorf("%v keywords are coloured", n)
	}
	highlighted(t, b)

	if stale := b.Eval(`(() => {
		source.value += " ";
		source.dispatchEvent(new Event("input"));
		return getComputedStyle(verdict, "::before").content + message.textContent;
	})()`); stale != `"checking..."` {
		t.Errorf("after a change the verdict is still shown as that of the text: %v", stale)
	}

	broken := strings.Replace(string(first), "return 0.5", "return nothing.here", 1)
	line := strings.Count(broken[:strings.Index(broken, "nothing.here")], "\n") + 1
	b.Type("#source", broken)
	b.Until(fmt.Sprintf(`document.querySelector(".gutter b.error")?.textContent === "%d" && document.getElementById("state").textContent === "not saved"`, line))
	b.Fits("studio-broken")
	b.Click("#verdict .goto")
	if at := b.Eval(`source.value.slice(0, source.selectionStart).split("\n").length`); at != float64(line) {
		t.Errorf("the cursor is in line %v, want %d", at, line)
	}

	const print = `print("<script>alert(1)</script> \"><img src=x onerror=alert(2)>") return 0.5`
	mended := strings.Replace(string(first), "return 0.5", print, 1)
	b.Type("#source", mended)
	b.Until(`!document.querySelector(".gutter .error") && ` + ready)
	b.Eval(`document.getElementById("leagues").value = "100"`)
	b.Press("Control+Enter")
	b.Until(`document.querySelectorAll("#outcome table").length === 2`)
	if shown := b.Eval(`document.getElementById("outcome").innerText`).(string); !strings.Contains(shown, "mine-before") || !strings.Contains(shown, "Compared with the version before") {
		t.Errorf("the trial shows %s", shown)
	}
	b.Click("#outcome .watch")
	b.Until(`document.querySelector("#league .said")`)
	if said := b.Eval(`document.querySelector("#league .said").textContent`); said != `<script>alert(1)</script> "><img src=x onerror=alert(2)>` {
		t.Errorf("the script printed %q", said)
	}
	if b.Eval(`document.querySelector("[data-stale]")`) != nil {
		t.Error("the trial is about an earlier version")
	}
	b.Fits("studio-tried")
	b.Illustrate("studio", 1200, 900)
	b.Press("Control+S") // with Caps Lock
	b.Until(`document.getElementById("message").textContent === "Saved mine.lua." && document.getElementById("state").textContent === ""`)
	if text, err := os.ReadFile(file); err != nil || string(text) != mended {
		t.Errorf("saved %q, %v", text, err)
	}

	b.Allow("409") // the browser reports the refusal
	b.Type("#source", "-- "+strings.Repeat("long", 2500)+" left\u202eright\nfunction choose(turn) return 'odd' end")
	if n := b.Eval(`document.querySelectorAll("[data-stale]").length`); n != 2.0 {
		t.Errorf("%v results are about an earlier version, want the trial and the league", n)
	}
	save := func(text string) {
		t.Helper()
		write(t, dir, "strategies/mine.lua", text)
	}
	save("-- of another editor")
	b.Until(`!document.getElementById("disk").hidden && document.getElementById("source").value.includes("longlong")`)
	b.Click(`[value="save"]`)
	b.Until(`!document.getElementById("error").hidden`)
	if text, err := os.ReadFile(file); err != nil || string(text) != "-- of another editor" {
		t.Errorf("the file is %q, %v", text, err)
	}
	b.Until(`document.querySelector(".turning") && ` + ready)
	if b.Eval(`document.getElementById("error").hidden`) != false {
		t.Error("a check that nobody asked for hides why the script was not saved")
	}
	b.Fits("studio-conflict")
	reloads(b, save, mended)
	if title := b.Eval(`document.title`); title != "strategylab: studio" {
		t.Errorf("the title is %q: what a script printed ran", title)
	}
	b.Allow("/api/look") // the page may ask once more while the studio ends
	s.end()
}

// reloads changes the file of a draft that is not saved, and of one that is.
func reloads(b *webtest.Browser, save func(string), script string) {
	b.Click("#keep")
	b.Until(`document.getElementById("disk").hidden && document.getElementById("state").textContent === "not saved" && document.getElementById("source").value.includes("longlong")`)
	save("-- again")
	b.Until(`!document.getElementById("disk").hidden`)
	b.Click("#load")
	b.Until(`document.getElementById("disk").hidden && document.getElementById("source").value === "-- again" && document.getElementById("state").textContent === ""`)
	b.Until(`document.querySelector(".gutter .error, #verdict .error")`) // it has no choose
	save(script)
	b.Until(`document.getElementById("source").value.includes("return 0.5") && document.getElementById("state").textContent === "" && ` + ready)
	// What was tried before is tried again, beside the version before.
	b.Until(`!document.querySelector("[data-stale]#outcome") && document.getElementById("outcome").innerText.includes("without it")`)
}

// highlighted compares the pieces that scripts are split into with the scripts.
func highlighted(t *testing.T, b *webtest.Browser) {
	t.Helper()
	files, err := filepath.Glob("../../scripts/*.*")
	if err != nil || len(files) < 8 {
		t.Fatalf("scripts: %q, %v", files, err)
	}
	sources := map[string]string{
		"js": "`a ${b} // c` /* d", "lua": "x = [==[ ]] ]==] --[[ long\n]] 'it\\'s' --[==[ open", "lua ": "\u202e\"open\n0x1F 1e5 a.b", "js ": "'\\", "lua  ": "--",
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[filepath.Ext(file)[1:]+file] = string(text)
	}
	list, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	wrong := b.Eval(fmt.Sprintf(`import("/assets/highlight.js").then(({tokens}) => Object.entries(%s).filter(([name, text]) =>
		tokens(text, name.startsWith("lua") ? "lua" : "js").map(([, part]) => part).join("") !== text).map(([name]) => name).join())`, list))
	if wrong != "" {
		t.Errorf("the pieces of %v are not the scripts", wrong)
	}
	kinds := b.Eval(`import("/assets/highlight.js").then(({tokens}) => tokens("local x = 'a' .. 1 -- b", "lua").filter(([k]) => k).map(([k]) => k).join())`)
	if kinds != "keyword,string,number,comment" {
		t.Errorf("a line is coloured %v", kinds)
	}
}

// A team opens its address: the token leaves the address, stays in the tab, and opens the
// folder of the team. Without it the page asks.
func TestClassInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	b.Allow("401")
	s := openStudio(t, t.TempDir(), "class", "--team", "Red", "--team", "Blue")
	b.Open(s.url)
	b.Until(`!document.getElementById("enter").hidden`)
	b.Fits("studio-enter")
	b.Type("#token", "wrong")
	b.Press("Enter")
	b.Until(`/token/.test(document.getElementById("error").textContent)`)
	b.Type("#token", s.tokens["Blue"])
	b.Press("Enter")
	b.Until(`/Scripts of Blue/.test(document.body.innerText)`)
	b.Open(s.url + "?team=red#token=" + s.tokens["Red"])
	b.Until(`/Scripts of Red/.test(document.body.innerText) && location.hash === ""`)
	b.Type("#new-name", "ours")
	b.Eval(`document.getElementById("new-ending").value = ".js"`)
	b.Click("#new button")
	b.Until(ready)
	b.Eval(`window.before = true`)
	b.Call("Page.reload", nil, nil)
	b.Until(`!window.before && document.querySelector("#scripts [aria-current]")?.textContent === "ours.js" && document.querySelector(".paint .keyword") && ` + ready)
	if kept := b.Eval(`JSON.stringify([localStorage.length, document.cookie, location.href.includes("token")])`); kept != `[0,"",false]` {
		t.Errorf("the page keeps %v", kept)
	}
	b.Allow("/api/look") // the page may ask once more while the studio ends
	s.end()
}

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
