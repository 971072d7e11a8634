package page_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// bot says even with one chance in the first leg of a meeting and with another in the
// last; it fails with a third.
type bot struct {
	name               string
	first, last, fault float64
}

// played is the input of a report on leagues among bots.
func played(t testing.TB, draw string, legs, leagues int, bots ...bot) page.Input {
	t.Helper()
	plan := results.Plan{Schema: results.PlanSchema, Runs: leagues, Legs: legs, Seed: 7, Draw: draw, Transport: "direct"}
	for _, b := range bots {
		plan.Field = append(plan.Field, results.Entrant{Name: b.name, Kind: "lua", Ref: "scripts/" + b.name, Fingerprint: b.name})
	}
	collector := attest.Must(explain.NewCollector(plan, explain.Options{}))
	var records []*results.League
	estimates := analysistest.Analyze(plan, leagues, func(plan results.Plan, i int) *results.League {
		l := league(plan, bots, i)
		attest.OK(t, collector.Add(l))
		if i == 0 || len(l.Notes) > 0 && len(records) < 4 {
			records = append(records, l)
		}
		return l
	})
	run := report.Run{
		Plan: plan, Estimates: estimates, Facts: report.Facts{Digest: "5eed", Seconds: 1, Reproducible: true},
	}
	run.Robustness = robust.Of(&run.Estimates, plan.Seed)
	in := page.Input{
		Document:     report.New(run),
		Explanations: collector.Explanations(&run.Estimates), Records: records,
	}
	for _, b := range bots {
		in.Mirrors = append(in.Mirrors, population.Mirror{
			Strategy: b.name, Leagues: 100, Differ: analysis.Estimate{Estimate: 0.45, Low: 0.4, High: 0.5},
		})
	}
	return in
}

func league(plan results.Plan, bots []bot, index int) *results.League {
	plan.Seed = 3
	source := rand.NewPCG(11, uint64(index))
	r := rand.New(source)
	perLeg := len(bots) * (len(bots) - 1) / 2
	return analysistest.Play(plan, index, func(l *results.League, k, field int) game.Side {
		b, t := bots[field], float64(k/perLeg)/float64(max(1, plan.Legs-1))
		s := game.Side{Choice: game.Odd}
		if r.Float64() < b.first+(b.last-b.first)*t {
			s.Choice = game.Even
		}
		if r.Float64() < b.fault {
			s = game.Side{Fault: game.FaultError}
			l.Notes = append(l.Notes, results.Note{Field: field, Fault: game.FaultError, Text: "scripts/x.lua:3: <b>broke</b>"})
		}
		return s
	}, source)
}

// field is a number of bots whose chances differ.
func field(n int) []bot {
	bots := make([]bot, n)
	for i := range bots {
		bots[i] = bot{name: fmt.Sprintf("bot-%02d", i+1), first: 0.5, last: float64(i%11) / 10}
	}
	return bots
}

func written(t testing.TB, in page.Input) string {
	t.Helper()
	var buf bytes.Buffer
	attest.OK(t, page.Write(&buf, in))
	return buf.String()
}

// The page of a league lists its matches; that of a match shows choices, number, points,
// what was printed and the standings, with links to its neighbours. Names and output of
// others are text.
func TestReplay(t *testing.T) {
	bots := []bot{{name: "<b>bold</b>", first: 0, last: 0}, {name: "b\u202e", first: 1, last: 1}, {name: "c", first: 1, last: 1, fault: 1}}
	in := played(t, "", 2, 3, bots...)
	schedule := attest.Must(game.NewSchedule(len(bots), 2))
	l := league(in.Run.Plan, bots, 1)
	write := func(r page.Replay) string {
		t.Helper()
		r.Plan, r.League, r.Leagues = in.Run.Plan, l, 3
		var b bytes.Buffer
		attest.OK(t, page.WriteReplay(&b, r))
		return b.String()
	}
	html := write(page.Replay{})
	if want := `<a href="../0/">previous league</a> <a href="../2/">next league</a>`; !strings.Contains(html, want) {
		t.Errorf("the page of the league lacks %s", want)
	}
	for _, m := range schedule.Matches() {
		attest.Has(t, html, fmt.Sprintf(`<a href="%s">`, m.ID))
	}
	last := schedule.Matches()[len(schedule.Matches())-1]
	html = write(page.Replay{Match: last.ID, Said: []page.Said{{"P01", "<script>alert(1)</script>"}}, Differs: "It differs."})
	got := text(html)
	attest.Has(t, got, "Move by move", "P01: &lt;script&gt;alert(1)", "It differs.", fmt.Sprintf("Standings after round %d", last.Round), "previous match")
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
	if err := page.WriteReplay(&bytes.Buffer{}, page.Replay{Plan: in.Run.Plan, League: l, Leagues: 3, Match: "R9M9"}); err == nil {
		t.Error("a match that is not there was shown")
	}
}

// The report links to matches where they are served and, from a file, to those that it lists.
func TestReportLinksToReplays(t *testing.T) {
	in := played(t, "", 4, 60, bot{"bad", 0.5, 0.5, 0.1}, bot{"b", 1, 1, 0})
	f := in.Run.Estimates.Players[0].Faults[0]
	row := fmt.Sprintf("m-%d-0-%s", f.League, f.Match)
	if html := written(t, in); strings.Contains(html, `href="leagues`) || !strings.Contains(html, `href="#`+row+`"`) || !strings.Contains(html, `id="`+row+`"`) {
		t.Errorf("the file links to pages that nobody serves, or not to %s", row)
	}
	in.Replays = true
	html := written(t, in)
	attest.Has(t, html, fmt.Sprintf(`<a href="leagues/%d/%s">`, f.League, f.Match), `<a href="leagues/0/">`, `<a href="leagues/59/">`)
}
