package wall_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/web/wall"
	"github.com/strategylab/strategylab/host/web/webtest"
)

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
	order("[data-pace]", `document.getElementById("pacing").innerText === "now 0.5 s; paused: no further round begins"`)
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
