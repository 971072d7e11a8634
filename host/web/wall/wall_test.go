package wall_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/web/wall"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// hostile are names of players that a page could take for something else.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, "left\u202eright", strings.Repeat("long", 25), "plain"}

const admin = "admin-0123456789abcdef"

// hung is a league with its wall.
type hung struct {
	host.League
	wall    *wall.Wall
	handler http.Handler
}

// hang returns a league of players with these names, who choose odd and even in turn.
// The referee draws 4.
func hang(names ...string) *hung {
	return hangWith(wall.Config{Judge: func(m []league.Match, _ league.Draws) string { return fmt.Sprintf("%d were judged.", len(m)) }}, names...)
}

func hangWith(cfg wall.Config, names ...string) *hung {
	h := &hung{wall: wall.New(cfg)}
	h.Network = host.NewSockets()
	h.Web = func(m *manager.Manager) http.Handler {
		h.handler = h.wall.Serve(m)
		return h.handler
	}
	h.Manager = manager.Config{LeagueID: "cup", Players: len(names), AllowHosts: []string{"*"}, Events: h.wall.Managed, AdminToken: admin}
	h.Referees = []referee.Config{{
		Events: func(e referee.Event) { h.wall.Refereed(e, e.Error) },
		Draw:   func(referee.Match) (int, error) { return 4, nil },
	}}
	for i, name := range names {
		f, _ := builtin.Find([]string{"always-odd", "always-even"}[i%2])
		h.Seats = append(h.Seats, player.Config{Config: agent.Config{Name: name}, Factory: f})
	}
	return h
}

// shown returns the page as it is.
func (h *hung) shown() string {
	answer := httptest.NewRecorder()
	h.handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	return answer.Body.String()
}

var (
	tags    = regexp.MustCompile(`<[^>]*>`)
	tableOf = regexp.MustCompile(`(?s)<h2>Table</h2>.*?</table>`)
)

// At the end of a league the page shows its standings, who stands on the podium, and
// what luck added; names are text; nothing that is secret or private is in it.
func TestPageOfAPlayedLeague(t *testing.T) {
	t.Parallel()
	h := hang(hostile...)
	var waiting, final string
	h.Started = func(at string, _ bool) {
		h.wall.Open(wall.Join{URL: at, Command: "strategylab player", Page: strings.TrimSuffix(at, "mcp")})
		waiting = h.shown()
	}
	h.Stay = func(*host.Played) {
		for _, version := range []string{"4c69b922", "<img>"} {
			h.wall.Managed(manager.Event{Kind: manager.StrategyEdited, Agent: "P01", Round: 5, Version: version})
		}
		final = h.shown()
	}
	played, err := h.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := tableOf.FindString(final)
	for _, s := range played.Standings {
		row := regexp.MustCompile(fmt.Sprintf(`<tr><td class="num">%d</td>.*<td class="num points">%d</td></tr>`, s.Rank, s.Points))
		found := ""
		for _, r := range strings.SplitAfter(table, "</tr>") {
			if row.MatchString(r) {
				found = html.UnescapeString(tags.ReplaceAllString(r, " "))
			}
		}
		if name := strings.ReplaceAll(s.DisplayName, "\u202e", "\uFFFD"); !strings.Contains(found, name) {
			t.Errorf("place %d of %q with %d points is not in the table:\n%s", s.Rank, s.DisplayName, s.Points, table)
		}
	}
	for _, want := range []string{"Podium", "luck: ", "10 were judged.", "Complete", "Crosstable", "edited in round 5: version 3 (&lt;img&gt;)"} {
		if !strings.Contains(final, want) {
			t.Errorf("the final page lacks %q:\n%s", want, final)
		}
	}
	for _, page := range []string{waiting, final} {
		for _, never := range []string{"<script>alert", "<img", "\u202e", "tok-", "mk-", admin} {
			if strings.Contains(page, never) {
				t.Errorf("the page contains %q:\n%s", never, page)
			}
		}
		if n := len(page); n > 100_000 {
			t.Errorf("the page has %d bytes", n)
		}
	}
	if addresses := regexp.MustCompile(`http://[^\s<"]+`).FindAllString(final, -1); len(addresses) > 0 {
		t.Errorf("the final page has addresses: %q", addresses)
	}
}

// While a match is played the page shows who has chosen, and what only when it is over.
// In the pause after a round its results stay.
func TestChoicesAreFaceDown(t *testing.T) {
	t.Parallel()
	h := hang("one", "two")
	h.Manager.Legs, h.Manager.Pace = 2, time.Hour
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var first sync.Once
	var chosen, paused string
	h.Referees[0].Events = func(e referee.Event) {
		h.wall.Refereed(e, "")
		if e.Kind == referee.Chose {
			first.Do(func() { chosen = h.shown() })
		}
	}
	h.Manager.Events = func(e manager.Event) {
		h.wall.Managed(e)
		if e.Kind == manager.RoundCompleted {
			paused = h.shown()
			stop()
		}
	}
	if _, err := h.Play(ctx); err == nil {
		t.Fatal("the league did not stop in the pause")
	}
	if !strings.Contains(chosen, `<span class="choice in">`) || strings.Contains(chosen, ">odd<") || strings.Contains(chosen, ">even<") {
		t.Errorf("while the match is played, the page is\n%s", chosen)
	}
	for _, want := range []string{"<h2>Round 1</h2>", `<span class="choice shown">odd</span>`, `<span class="choice shown">even</span>`, "drawn number </span>4"} {
		if !strings.Contains(paused, want) {
			t.Errorf("after the round the page lacks %s:\n%s", want, paused)
		}
	}
}

// The luck of a player is its points less what its choices were worth: with half of the
// numbers even, 1.5 points each where the choices differ. An error of somebody else is
// shortened, and an address or a token in it is not shown. The endpoint keeps its path:
// only what is not for it goes to the page.
func TestLuckTroublesAndPaths(t *testing.T) {
	t.Parallel()
	h := hang("odd", "even")
	h.Manager.Draw, _ = game.ParseDraw("uniform:1-4")
	h.Started = func(at string, _ bool) {
		for path, want := range map[string]int{"": 200, "mcp": 405, "assets/wall.css": 200, "elsewhere": 404} {
			resp, err := http.Get(strings.TrimSuffix(at, "mcp") + path)
			if err != nil {
				t.Error(err)
				continue
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("GET /%s: %d, want %d", path, resp.StatusCode, want)
			}
		}
	}
	var final string
	h.Stay = func(*host.Played) {
		for range 2 {
			h.wall.Refereed(referee.Event{Kind: referee.Forfeited, Player: "P01"}, "connect: dial tcp 10.0.0.7:38173: connect: connection refused; "+
				"read tcp [fe80::1]:80->[::1]:81: reset; lookup secret.example: no such host; at [2001:db8::7]:9 and 10.0.0.8, mine.lua:3: a[1]")
			h.wall.Refereed(referee.Event{Kind: referee.Forfeited, Player: "P02"},
				`mine.lua:3: <b>bad</b> at http://10.0.0.7:8101/mcp with tok-P02-0123456789abcdef`+strings.Repeat("x", 10_000))
		}
		final = h.shown()
	}
	if _, err := h.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"luck: &#43;1.5 points", "luck: -1.5 points",
		"<bdi>connect: (address): connect: connection refused; (address): reset; (address): no such host; at (address) and (address), mine.lua:3: a[1]</bdi>",
		"(2 times): <bdi>mine.lua:3: &lt;b&gt;bad&lt;/b&gt; at (address) with (address)",
	} {
		if !strings.Contains(final, want) || len(final) > 20_000 {
			t.Errorf("the page lacks %q:\n%s", want, final)
		}
	}
}

// Matches of a referee that says nothing of them show when they are over, and the page
// says so, until it does tell. What it repeats is shown once, and no choice before the end.
func TestRefereesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	h := hang("one", "two")
	h.Manager.Legs, h.Manager.Pace = 2, time.Hour
	h.Referees[0].Events = nil
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const silent = "Some referees do not say"
	var pages []string
	h.Manager.Events = func(e manager.Event) {
		h.wall.Managed(e)
		switch e.Kind {
		case manager.LeagueStarted:
			told := manager.Progress{Match: "R1M1", Players: [2]string{"P01", "P02"}, Asked: [2]bool{true, true}, Chosen: [2]bool{true, false}, Deadline: time.UnixMilli(1_800_000_000_000)}
			h.wall.Managed(manager.Event{Kind: manager.MatchesProgressed, Agent: "REF09", Progress: []manager.Progress{told}})
			told.Retried[1], told.Faults[1] = true, "too <late>"
			for range 2 {
				h.wall.Managed(manager.Event{Kind: manager.MatchesProgressed, Agent: "REF09", Progress: []manager.Progress{told}})
			}
			pages = append(pages, h.shown())
		case manager.RoundCompleted:
			stop()
		case manager.MatchReported:
			h.wall.Managed(manager.Event{Kind: manager.MatchReported, Match: &league.Match{ID: "R2M1", Index: 1, RefereeID: "REF01"}})
			pages = append(pages, h.shown())
			h.wall.Managed(manager.Event{Kind: manager.MatchesProgressed, Agent: "REF01"})
			pages = append(pages, h.shown())
		}
	}
	if _, err := h.Play(ctx); err == nil {
		t.Fatal("the league did not stop in the pause")
	}
	if len(pages) != 3 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, want := range []string{`data-deadline="1800000000000"`, `<span class="choice in">`, `<span class="choice asked">`, `class="late"`, "<strong><bdi>two</bdi></strong>: <bdi>too &lt;late&gt;</bdi>"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("while the match is played the page lacks %s:\n%s", want, pages[0])
		}
	}
	if strings.Contains(pages[0], silent) || !strings.Contains(pages[1], silent) || strings.Contains(pages[2], silent) {
		t.Errorf("it should be said of the second page only that a referee is silent:\n%q", pages)
	}
}
