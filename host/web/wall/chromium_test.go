package wall_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/web/wall"
	"github.com/strategylab/strategylab/host/web/webtest"
)

// The wall of a class of thirty fits a projector by pages: each player is in the table and
// in the crosstable of some page, with the heads of the columns, and nothing is below the
// window.
func TestWallOfAClassInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("Player %d of a class", i+1))
	}
	h := hangWith(wall.Config{Theme: page.Theme()}, names...)
	h.Manager.Pace = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	began, ended := make(chan string, 1), make(chan struct{})
	h.Started = func(at string, _ bool) { began <- strings.TrimSuffix(at, "mcp") }
	go func() {
		defer close(ended)
		_, _ = h.Play(ctx) // is stopped
	}()
	b.Window(1920, 1080)
	b.Open(<-began + "?wall")
	b.Until(`document.querySelectorAll(".cards .over").length === 15`)
	seen := map[string]bool{}
	for range 20 {
		b.Press("ArrowRight")
		for _, row := range b.Eval(`[...document.querySelectorAll("#table tr, #cross tr")].filter(row => {
			const r = row.getBoundingClientRect(), f = row.closest("section").getBoundingClientRect();
			return r.width && r.left >= f.left && r.right <= f.right && r.top >= 0 && r.bottom <= innerHeight;
		}).map(row => row.closest("section").id + " " + row.querySelector("th.name").innerText)`).([]any) {
			seen[row.(string)] = true
		}
		if high := b.Eval(`document.documentElement.scrollHeight`); high != 1080.0 {
			t.Errorf("the page is %v pixels high", high)
		}
	}
	if len(seen) != 2*31 {
		t.Errorf("%d rows of 62 are seen: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
	b.Fits("class")
	stop()
	<-ended
}

// A league of six, from the free seats to the podium, in a browser: its organiser starts
// it from the page and withdraws a player while the choices are face down.
func TestWallInChromium(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	h := hangWith(wall.Config{Theme: page.Theme(), Organised: true}, append([]string{"sixth"}, hostile...)...)
	h.Manager.Players = 0
	listening, draw, leave := make(chan string, 1), make(chan struct{}), make(chan struct{})
	h.Referees[0].Draw = func(referee.Match) (int, error) { // nothing is over before the test says so
		<-draw
		return 4, nil
	}
	h.Manager.Draw = game.FairDraw()
	h.Referees[0].Name = hostile[0] + hostile[2]
	h.Started = func(at string, _ bool) {
		h.wall.Open(wall.Join{URL: at, Command: "strategylab player --strategy NAME --manager " + at, Page: strings.TrimSuffix(at, "mcp")})
		listening <- strings.TrimSuffix(at, "mcp")
	}
	h.Stay = func(*host.Played) { <-leave }
	ended := make(chan error, 1)
	go func() {
		_, err := h.Play(t.Context())
		ended <- err
	}()
	var once bool
	release := func() {
		if !once {
			once = true
			close(draw)
		}
	}
	defer func() {
		release()
		close(leave)
		if err := <-ended; err != nil && !t.Failed() {
			t.Error(err)
		}
	}()

	url := <-listening
	b.Open(url)
	b.Until(`document.querySelectorAll(".seats .taken").length === 6 && document.querySelector("svg path")`)
	b.Fits("seats")
	order := func(control string, shows string) {
		t.Helper()
		b.Eval(`document.querySelector("` + control + `").click()`)
		b.Until(shows)
	}
	b.Eval(`document.getElementById("token").value = "wrong"; document.querySelector("[data-type=START_LEAGUE]").click()`)
	b.Until(`/token/i.test(document.getElementById("outcome").textContent)`)
	b.Eval(`document.getElementById("token").value = "` + admin + `"; document.getElementById("pace").value = "0.5"`)
	order("[data-paused=true]", `document.querySelector("h1+.sub .paused")`)
	order("[data-pace]", `document.getElementById("pacing").innerText === "now 0.5 s; paused: the first round waits"`)
	order("[data-type=START_LEAGUE]", `document.querySelectorAll(".choice.idle").length === 6`)
	b.Fits("paused")
	order("[data-paused=false]", `!document.querySelector(".paused")`)
	b.Until(`document.querySelectorAll(".choice.in").length === 6`)
	if seen := b.Eval(`/\b(even|odd)\b/.test(document.getElementById("matches").innerText)`); seen != false {
		t.Error("a choice is shown before its match is over")
	}
	for _, text := range []string{strings.Repeat("long", 2500), strings.Join(hostile, " ") + strings.Repeat(" \u202e", 3000)} {
		h.wall.Refereed(referee.Event{Kind: referee.Forfeited, Player: "P02"}, text)
		b.Until(`document.getElementById("troubles").innerText.includes("…")`)
		b.Fits("round")
	}
	b.Eval(`document.getElementById("player").value = "P03"; document.querySelector("[data-status=WITHDRAWN]").click()`)
	b.Until(`document.getElementById("table").innerText.includes("withdrawn")`)
	release()
	b.Until(`document.querySelectorAll(".podium li").length === 3`)
	b.Fits("podium")
	if title := b.Eval(`document.title`); title != "strategylab: league" {
		t.Errorf("the title is %q: the name of a player ran as a script", title)
	}
}
