package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/web/webtest"
)

// onPage starts an experiment with a page, and returns the address of that.
func onPage(t *testing.T, dir string, args ...string) (e *process, url string) {
	t.Helper()
	e = launch(t, dir, append([]string{"experiment", "--web"}, args...)...)
	return e, e.err.until(`watch at (http://127\.0\.0\.1:\d+/)\n`)[1]
}

// With --web a page follows the experiment and becomes its report, which stays until
// Ctrl-C; then the command succeeds.
func TestExperimentInTheBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, url := onPage(t, dir, "--runs", "200", "--legs", "2", "--seed", "1", "--field", "random,role,markov-1", "--out", "out")
	e.err.until("the report stays at ")
	get := func(path string) (status int, body string) {
		t.Helper()
		status, body, err := fetch(t.Context(), http.MethodGet, url+path, "")
		if err != nil {
			t.Fatal(err)
		}
		return status, body
	}
	report, err := os.ReadFile(filepath.Join(dir, "out", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, body := get("")
	tags := regexp.MustCompile(`<[^>]*>`) // links lead to the pages of matches
	shown := tags.ReplaceAllString(body, "")
	for _, line := range strings.Split(tags.ReplaceAllString(string(report), ""), "\n") {
		if !strings.Contains(shown, line) && !strings.Contains(line, "To replay a match") {
			t.Errorf("at the end the page is not the report: it lacks %.300s", line)
		}
	}
	if status, body := get("leagues/7/R2M1"); status != http.StatusOK || !strings.Contains(body, "Standings after round 2") || strings.Contains(body, "The record has") {
		t.Errorf("a match is replayed with status %d: %s", status, body)
	}
	for path, want := range map[string]string{"leagues/200/": "the run has leagues 0 to 199", "leagues/7/R99M1": "this run has R1M1 to R6M1", "leagues?number=x": "not a number"} {
		if status, body := get(path); status < 400 || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, %s", path, status, body)
		}
	}
	e.interrupt(exitOK)
	run1(t, dir, exitUsage, "experiment", "--web", "--confirm")
}

// An experiment in a browser, from its first standings to its report: it is interrupted,
// resumed at the same address, and a match of it replayed from the report, whose numbers are
// those of the summary.
func TestExperimentInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	b.Allow("ERR_CONNECTION_REFUSED") // between the two pages
	dir := t.TempDir()
	script := "scripts/mine.lua"
	write(t, dir, script, `local rounds = 0
function choose(turn)
  rounds = rounds + 1
  print("turn " .. rounds)
  if rounds == 3 and turn.role == "PLAYER_A" then error("<b>third time</b> unlucky") end
  return "even"
end`)
	address := jsonrpctest.Address(t) // of the second run too
	out := ""
	for runs := 4000; out == ""; runs *= 4 { // until one takes long enough to be interrupted
		name := "out" + strconv.Itoa(runs)
		e, url := onPage(t, dir, "--runs", strconv.Itoa(runs), "--legs", "4", "--seed", "1", "--field", "random,role,markov-1,"+script, "--out", name, "--listen", address)
		b.Open(url)
		b.Until(`document.querySelector("#ranking tbody tr")`)
		e.signal(os.Interrupt)
		if e.code() != exitOK {
			out = name
			e.err.until("continue with: strategylab experiment --resume " + name + " --web --listen " + address + "\n")
		}
	}
	e, _ := onPage(t, dir, "--resume", out, "--listen", address) // the open page finds it by itself
	e.err.until("the report stays at ")
	b.Until(`document.title.includes("leagues of 4 strategies")`)
	b.Fits("report")
	b.Click("#copy")
	b.Until(`document.getElementById("copy").textContent === "Copied"`)
	b.Click(`nav a[href="#in-faults"]`)
	b.Until(`document.querySelector("#faults details").open`)
	var summary struct {
		Players []struct {
			Name     string
			Adjusted struct{ Estimate float64 }
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, out, results.SummaryFile))
	if err == nil {
		err = json.Unmarshal(text, &summary)
	}
	if err != nil || len(summary.Players) != 4 {
		t.Fatalf("%+v: %v", summary, err)
	}
	for _, p := range summary.Players {
		row := b.Eval(`[...document.querySelectorAll("#ranking tbody tr")].find(r => r.querySelector("th").textContent.includes(` + strconv.Quote(p.Name) + `)).innerText`).(string)
		number := regexp.MustCompile(`\d\.(\d{3,})`).FindStringSubmatch(row)
		if number == nil || number[0] != strconv.FormatFloat(p.Adjusted.Estimate, 'f', len(number[1]), 64) {
			t.Errorf("%s has %v adjusted points, but the page shows %q", p.Name, p.Adjusted.Estimate, row)
		}
	}
	b.Click(`#faults a[href^="leagues/"]`)
	b.Until(`location.pathname.startsWith("/leagues/") && document.querySelector(".said")?.innerText.includes("<b>third time</b> unlucky")`)
	if shown := b.Eval(`document.body.innerText`).(string); !strings.Contains(shown, "turn 3") || !strings.Contains(shown, "fails: error") {
		t.Errorf("the replay shows\n%s", shown)
	}
	b.Fits("match")
	b.Click(`section a[href^="R"]`)
	b.Until(`document.readyState === "complete" && document.querySelector(".moves")`)
	b.Click(`a[href="./"]`)
	b.Until(`document.querySelectorAll("tbody tr").length === 4 + 24`)
	b.Fits("league")
	e.interrupt(exitOK)
}

// A league of six processes in a browser, from the first free seat to the podium. One of
// them is killed in it: the page says so, and its table is that of the journal.
func TestLeagueInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	dir := t.TempDir()
	host := start(t, dir, "host", "--listen", "127.0.0.1:0", "--players", "6", "--legs", "4", "--data-dir", "data", "--admin-token", "secret", "--stay",
		"--pace", "3s", "--join-timeout", "2s", "--choice-timeout", "2s", "--timeout", "2s", "--retries", "1", "--retry-delay", "10ms")
	url := host.event("listening")["manager"].(string)
	b.Open(strings.TrimSuffix(url, "mcp"))
	b.Until(`document.querySelectorAll(".seats li").length === 6 && !document.querySelector(".seats .taken")`)
	players := make(map[string]*process)
	for _, name := range []string{"Ada", "Bob", "Cleo", "Dan", "Eve", "Fay"} {
		players[name] = start(t, dir, "player", "--strategy", "random", "--name", name, "--once", "--manager", url, "--listen", "127.0.0.1:0")
		players[name].event("registered")
		b.Until(`document.body.innerText.includes("` + name + `")`)
		if name == "Eve" {
			b.Illustrate("seats", 1200, 520)
		}
	}
	players["Ada"].event("chose")
	players["Ada"].kill()
	b.Until(`[...document.querySelectorAll("#troubles li")].some(e => e.textContent.includes("Ada"))`)
	b.Eval(`document.getElementById("token").value = "secret"; document.querySelector("[data-paused=true]").click()`)
	b.Until(`document.querySelector(".paused") && !document.querySelector("#matches li:not(.over)")`)
	b.Illustrate("organiser", 1200, 1000)
	b.Eval(`document.getElementById("pace").value = "0.2"; document.querySelector("[data-pace]").click()`)
	b.Until(`document.getElementById("pacing").innerText.includes("now 0.2 s")`)
	b.Eval(`document.querySelector("[data-paused=false]").click()`)
	b.Until(`!document.querySelector(".paused") && document.querySelector("#cross tbody td:not(:empty)") && /: (1[2-9]|[2-9][0-9]) of/.test(document.getElementById("heading").innerText)
		|| document.querySelectorAll(".podium li").length === 3`) // a busy machine may be shown no round between
	b.Illustrate("wall", 1200, 760)
	b.Until(`document.querySelectorAll(".podium li").length === 3`)
	b.Illustrate("podium", 1200, 700)
	if shown := b.Eval(`document.getElementById("stage").innerText`).(string); !regexp.MustCompile(`\d+ of \d+ draws verified by the players`).MatchString(shown) {
		t.Errorf("the podium does not say how many draws were verified:\n%s", shown)
	}
	host.event("draws") // it has summed up
	host.interrupt(exitOK)
	var want, got []string
	for _, s := range managertest.Table(t, filepath.Join(dir, "data"), manager.DefaultLeagueID) {
		want = append(want, fmt.Sprintf("%d %s %d", s.Rank, s.DisplayName, s.Points))
		if s.DisplayName == "Ada" && s.TechnicalLosses == 0 {
			t.Error("the killed player has no technical loss")
		}
	}
	for _, row := range b.Eval(`[...document.querySelectorAll("#table tbody tr")].map(r => r.cells[0].innerText + " " + r.querySelector("bdi").innerText + " " + r.querySelector(".points").innerText)`).([]any) {
		got = append(got, row.(string))
	}
	if !slices.Equal(got, want) {
		t.Errorf("after the host has ended the page shows %q, want %q as in the journal", got, want)
	}
}
