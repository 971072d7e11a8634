// Package experiment is the page of a run of many leagues: while it plays, the sections
// of its report as they fill, and then the report itself.
package experiment

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/web"
)

//go:embed page.html
var pageHTML string

//go:embed experiment.css
var pageCSS string

// State is a run while it plays.
type State struct {
	Progress  report.Progress
	Document  *report.Document // of the same leagues; robustness is not needed
	Workers   int              // leagues played in parallel
	Memory    uint64           // held by the program and its processes, in bytes
	Processes int              // that hold it
}

// Page is the page of a run. It is safe for concurrent use.
type Page struct {
	page *web.Page
	now  func() time.Time

	mu     sync.Mutex
	shown  *State // nil until the first league
	at     time.Time
	rest   time.Duration // until the next state
	from   int           // leagues that the first state had
	began  time.Time
	report http.Handler // once the run is complete

	playing context.Context // until then
	end     context.CancelFunc
}

const (
	// redrawn is the least time between two states of the page.
	redrawn = 500 * time.Millisecond
	// share is how much more time goes into playing than into computing states.
	share = 20
)

// New returns the page of a run.
func New(now func() time.Time) *Page {
	p := &Page{now: now}
	p.playing, p.end = context.WithCancel(context.Background())
	p.page = web.New(web.Config{
		Templates: template.Must(template.New("experiment").Parse(pageHTML)), Parts: []string{"heading", "ranking", "tiers", "pairs", "faults"},
		Data: func() any { return p.view() }, Assets: map[string][]byte{"experiment.css": []byte(page.Style() + pageCSS)},
		Interval: redrawn, Plots: true,
	})
	return p
}

// Follow shows the state that look returns. It is called after each league, calls look
// only when the page is due, and less often if look takes long: computing takes at most a
// twentieth of the time.
func (p *Page) Follow(look func() State) {
	now := p.now()
	p.mu.Lock()
	due := p.shown == nil || now.Sub(p.at) >= p.rest
	p.mu.Unlock()
	if !due {
		return
	}
	state := look()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown == nil {
		p.began, p.from = now, state.Progress.Leagues
	}
	p.shown, p.at, p.rest = &state, now, max(redrawn, share*p.now().Sub(now))
	p.page.Touch()
}

// Finish replaces the page by the report, which the handler serves except for /events and
// what is below /assets/: open pages of the run need those to load the report. It is
// called once.
func (p *Page) Finish(report http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report = report
	p.end()
}

// Finished reports whether the page is the report.
func (p *Page) Finished() bool { return p.finished() != nil }

func (p *Page) finished() http.Handler {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.report
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	report := p.finished()
	switch {
	case report == nil, strings.HasPrefix(r.URL.Path, "/assets/"): // a page of the run may still be loading
		// A stream ends with the run, and its page asks again.
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(p.playing, cancel)()
		p.page.ServeHTTP(w, r.WithContext(ctx))
	case r.URL.Path == "/events":
		web.Reload(w)
	default:
		web.Secure(w.Header())
		report.ServeHTTP(w, r)
	}
}

// view is what the templates show.
type view struct {
	Title, Decision, Validity string
	Played, Runs              int
	Facts                     []fact
	Sections                  page.Live
}

type fact struct{ Head, Text string }

// view returns the state of the run.
func (p *Page) view() view {
	p.mu.Lock()
	s, at, from, began := p.shown, p.at, p.from, p.began
	p.mu.Unlock()
	if s == nil {
		return view{Title: "The first leagues are being played"}
	}
	plan := s.Progress.Plan
	v := view{Played: s.Progress.Leagues, Runs: plan.Runs, Decision: s.Progress.Decision()}
	v.Title = words.Typeset.Count(int64(v.Played)) + " of " + words.Typeset.Plural(int64(v.Runs), "league")
	v.Validity = "The intervals and tiers hold for the planned number of leagues; before, they only show how precise the numbers are."
	if plan.Stop != nil {
		v.Title = words.Typeset.Count(int64(v.Played)) + " of at most " + words.Typeset.Plural(int64(v.Runs), "league")
		v.Validity = "The intervals of adjusted points, and the tiers, hold however often you look."
	}
	if n, took := v.Played-from, at.Sub(began).Seconds(); n > 0 && took > 0 {
		rate := float64(n) / took
		v.Facts = append(v.Facts, fact{"leagues per second", words.Typeset.Number(rate, 0)})
		left := time.Duration(float64(v.Runs-v.Played) / rate * float64(time.Second)).Round(time.Second)
		if plan.Stop == nil {
			v.Facts = append(v.Facts, fact{"time left", left.String()})
		} else {
			v.Facts = append(v.Facts, fact{"time left", "at most " + left.String()})
		}
	}
	v.Facts = append(v.Facts, fact{"leagues in parallel", fmt.Sprint(s.Workers)},
		fact{"memory", fmt.Sprintf("%s MiB in %s", words.Typeset.Number(float64(s.Memory)/(1<<20), 0), words.Typeset.Plural(int64(s.Processes), "process"))})
	var err error
	if v.Sections, err = page.NewLive(s.Document); err != nil {
		v.Decision = "The sections cannot be shown: " + err.Error()
	}
	return v
}
