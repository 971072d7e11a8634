package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/host/game"
)

// The page of a league lists its matches; that of a match shows choices, number, points,
// what was printed and the standings, with links to its neighbours. Names and output of
// others are text.
func TestReplay(t *testing.T) {
	t.Parallel()
	bots := []bot{{name: "<b>bold</b>", first: 0, last: 0}, {name: "b\u202e", first: 1, last: 1}, {name: "c", first: 1, last: 1, fault: 1}}
	in := played(t, "", 2, 3, bots...)
	schedule := attest.Must(game.NewSchedule(len(bots), 2))
	d := attest.Must(game.ParseDraw(""))
	l := league(bots, schedule, d, 1)
	write := func(r page.Replay) string {
		t.Helper()
		r.Plan, r.League, r.Leagues = in.Run.Plan, &l, 3
		var b bytes.Buffer
		attest.OK(t, page.WriteReplay(&b, r))
		return b.String()
	}
	html := write(page.Replay{})
	if want := `<a href="../0/">previous league</a> <a href="../2/">next league</a>`; !strings.Contains(html, want) {
		t.Errorf("the page of the league lacks %s", want)
	}
	for _, m := range schedule.Matches() {
		if !strings.Contains(html, fmt.Sprintf(`<a href="%s">`, m.ID)) {
			t.Errorf("the page of the league does not lead to %s", m.ID)
		}
	}
	last := schedule.Matches()[len(schedule.Matches())-1]
	html = write(page.Replay{Match: last.ID, Said: []page.Said{{"P01", "<script>alert(1)</script>"}}, Differs: "It differs."})
	got := text(html)
	for _, want := range []string{"Move by move", "P01: &lt;script&gt;alert(1)", "It differs.", fmt.Sprintf("Standings after round %d", last.Round), "previous match"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page of the match lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(html, "<b>bold") || strings.Contains(html, "\u202e") || strings.Contains(got, "next match") {
		t.Errorf("the page of the last match shows\n%s", html)
	}
	for _, m := range schedule.Matches() {
		if bots[l.Seats[m.A]].name != "c" {
			continue
		}
		if got := text(write(page.Replay{Match: m.ID})); !strings.Contains(got, "c P0") || !strings.Contains(got, "fails: error") || !strings.Contains(got, "No number is drawn") {
			t.Errorf("the page of a match that c fails in shows\n%s", got)
		}
	}
	if err := page.WriteReplay(&bytes.Buffer{}, page.Replay{Plan: in.Run.Plan, League: &l, Leagues: 3, Match: "R9M9"}); err == nil {
		t.Error("a match that is not there was shown")
	}
}

// The report links to matches where they are served and, from a file, to those that it lists.
func TestReportLinksToReplays(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, bot{"bad", 0.5, 0.5, 0.1}, bot{"b", 1, 1, 0})
	f := in.Run.Estimates.Players[0].Faults[0]
	row := fmt.Sprintf("m-%d-0-%s", f.League, f.Match)
	if html := written(t, in); strings.Contains(html, `href="leagues`) || !strings.Contains(html, `href="#`+row+`"`) || !strings.Contains(html, `id="`+row+`"`) {
		t.Errorf("the file links to pages that nobody serves, or not to %s", row)
	}
	in.Replays = true
	html := written(t, in)
	for _, want := range []string{fmt.Sprintf(`<a href="leagues/%d/%s">`, f.League, f.Match), `<a href="leagues/0/">`, `<a href="leagues/59/">`} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %s", want)
		}
	}
}
