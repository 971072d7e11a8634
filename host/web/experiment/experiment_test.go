package experiment_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/web/experiment"
)

// run has leagues of players of which the last fails in first matches.
type run struct {
	plan results.Plan
	acc  *analysis.Accumulator
}

// play adds leagues.
func (r *run) play(t *testing.T, leagues int) {
	t.Helper()
	s, err := game.NewSchedule(len(r.plan.Field), r.plan.Legs)
	if err != nil {
		t.Fatal(err)
	}
	for range leagues {
		l := analysistest.League(r.plan, r.acc.Leagues())
		if f := l.Seats[s.Matches()[0].A]; f == 2 {
			l.Matches[0].A, l.Matches[0].Number = game.Side{Fault: game.FaultError}, results.NoNumber
			l.Notes = append(l.Notes, results.Note{Field: f, Fault: game.FaultError, Text: `mine.lua:7: <b>broke</b>`})
		}
		if err := r.acc.Add(*l); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *run) state() experiment.State {
	return experiment.State{
		Progress: report.Progress{Plan: r.plan, Leagues: r.acc.Leagues()},
		Document: report.New(report.Run{Plan: r.plan, Estimates: r.acc.Estimates(analysis.DefaultLevel), Yours: []int{1}}),
		Workers:  3, Memory: 50 << 20, Processes: 4,
	}
}

var tag = regexp.MustCompile(`(?s)<svg.*?</svg>|<[^>]*>`)

// The page has the sections of the report with the numbers so far; names are text. What
// takes long to compute is computed seldom.
func TestPage(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := experiment.New(func() time.Time { return now })
	get := func(path string) (policy, text string) {
		answer := httptest.NewRecorder()
		p.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer.Header().Get("Content-Security-Policy"), strings.Join(strings.Fields(tag.ReplaceAllString(answer.Body.String(), " ")), " ")
	}
	if _, text := get("/"); !strings.Contains(text, "The first leagues are being played") {
		t.Errorf("before the first league the page is\n%s", text)
	}
	r := &run{plan: analysistest.Plan()}
	r.plan.Runs = 400
	for i, name := range []string{"<b>bold</b>", "b", "broken"} {
		r.plan.Field[i] = results.Entrant{Name: name, Kind: "lua"}
	}
	var err error
	if r.acc, err = analysis.NewAccumulator(r.plan); err != nil {
		t.Fatal(err)
	}
	r.play(t, 1)
	p.Follow(r.state)
	if _, text := get("/"); strings.Contains(text, "NaN") || !strings.Contains(text, "1 of 400 leagues") {
		t.Errorf("after one league the page is\n%s", text)
	}
	r.play(t, 100)
	now = now.Add(2 * time.Second)
	p.Follow(func() experiment.State {
		now = now.Add(100 * time.Millisecond) // it takes a while
		return r.state()
	})
	now = now.Add(1800 * time.Millisecond)
	p.Follow(func() experiment.State { t.Error("computed again though computing takes long"); return r.state() })
	policy, text := get("/")
	for _, want := range []string{
		"101 of 400 leagues", "leagues per second 50", "time left 6s", "leagues in parallel 3", "memory 50 MiB in 4 processes", "Ranking", "Tiers Tier 1",
		"Whom you meet", "broken error", "mine.lua:7: &lt;b&gt;broke&lt;/b&gt;", "only show how precise", "&lt;b&gt;bold&lt;/b&gt; scores most against these opponents: ", "Yours, b, is ", "b lua, yours",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "\u00a0", " "), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(policy, "script-src 'unsafe") || !strings.Contains(policy, "style-src 'self'; style-src-attr 'unsafe-inline'") {
		t.Errorf("the policy is %q", policy)
	}
	p.Finish(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the report")) }))
	if _, text := get("/"); text != "the report" || !p.Finished() {
		t.Errorf("at the end the page is %q", text)
	}
	if _, text := get("/assets/live.js"); !strings.Contains(text, `addEventListener("reload"`) {
		t.Errorf("a page that was being loaded when the run ended gets %q instead of its script", text)
	}
	if _, text := get("/events?since=earlier-1"); !strings.Contains(text, "event: reload") {
		t.Errorf("a page that showed the run gets %q", text)
	}
}
