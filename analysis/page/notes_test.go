package page_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
)

// TestNotes: every warning stands above the ranking, and only where it belongs.
func TestNotes(t *testing.T) {
	t.Parallel()
	warnings := map[string]string{
		"stopped early":    "The run was stopped after 60 of 1,000 leagues; this page shows those.",
		"biased":           "The draw is biased: choosing the likelier parity pays",
		"not reproducible": "Not reproducible: time limits or lost connections decided matches, and a rerun may differ.",
		"quarantined":      "x was quarantined after its processes had failed 3 times: from then on bot-01 lost every match.",
		"stopping rule":    "Stopped after 60 leagues of at most 1,000: bot-",
	}
	for name, change := range map[string]func(in *page.Input){
		"":                 func(*page.Input) {},
		"stopped early":    func(in *page.Input) { in.Run.Plan.Runs = 1000 },
		"not reproducible": func(in *page.Input) { in.Run.Facts.Reproducible = false },
		"quarantined": func(in *page.Input) {
			in.Run.Facts.Processes = []report.Process{{Name: "x", Kind: "plugin", Players: []string{"bot-01"}, Failures: 3, PutAside: true}}
		},
		"stopping rule": func(in *page.Input) {
			in.Run.Plan.Runs = 1000
			in.Run.Stopping = report.Stopping{Why: "best", Options: &sequential.Options{Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: sequential.Asymptotic, Level: 0.95}}
		},
		"biased": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw := ""
			if change == nil {
				draw = "weights:1=1,2=3"
			}
			in := played(t, draw, 2, 60, field(3)...)
			if change != nil {
				change(&in)
			}
			above, _, found := strings.Cut(text(written(t, in)), "Ranking Pairs Tiers")
			if !found {
				t.Fatal("the page has no navigation")
			}
			for warning, want := range warnings {
				if has := strings.Contains(above, want); has != (warning == name) {
					t.Errorf("warning %q: %v\n%s", warning, has, above)
				}
			}
		})
	}
}

// TestStoppingMethod: the method says how intervals of a run with a stopping rule were
// made, and does not name Student's t, which they are not from.
func TestStoppingMethod(t *testing.T) {
	t.Parallel()
	in := played(t, "", 2, 60, field(3)...)
	_, fixed, _ := strings.Cut(text(written(t, in)), "The unit is the league")
	if !strings.Contains(fixed, "by Student&#39;s t or, near a bound") || strings.Contains(fixed, "Stopping ") {
		t.Errorf("a fixed number of leagues: %s", fixed)
	}
	in.Run.Stopping = report.Stopping{Why: report.MaxRuns, Options: &sequential.Options{Guarantee: sequential.Finite, Level: 0.95, Rule: sequential.Rule{Kind: sequential.Ranked}}}
	_, rule, _ := strings.Cut(text(written(t, in)), "The unit is the league")
	if strings.Contains(rule, "Student") || !strings.Contains(rule, "Stopping Ended after the maximum of 60 leagues; --until ranked is not reached") ||
		!strings.Contains(rule, "betting against bounded means") {
		t.Errorf("with a stopping rule: %s", rule)
	}
}

// TestTableBesideMatrix: what the cells of a matrix say under the pointer stands in a
// table, too, whatever the size of the field.
func TestTableBesideMatrix(t *testing.T) {
	t.Parallel()
	for players, want := range map[int]string{20: "As a table, with intervals", 61: "As a table bot"} {
		html := written(t, played(t, "", 1, 4, field(players)...))
		if strings.Contains(text(html), "As a table, with intervals") != (players == 20) || !strings.Contains(strings.ReplaceAll(text(html), "strategy ", ""), want) {
			t.Errorf("%d players: the page has no %q", players, want)
		}
		if !strings.Contains(html, `aria-label="Table of places`) {
			t.Errorf("%d players: places have no table", players)
		}
	}
	html := written(t, played(t, "", 2, 30, field(29)...))
	if got := strings.Count(html, "<title>bot-"); got != 29*29*2 {
		t.Errorf("%d cells say what they are, want all %d of both matrices", got, 29*29*2)
	}
	if !regexp.MustCompile(`<title>bot-01 against bot-02: choices differ in [0-9.]+\x{a0}%`).MatchString(html) || !regexp.MustCompile(`<title>bot-01: place 3 in [0-9.]+\x{a0}% of leagues`).MatchString(html) {
		t.Error("a cell does not say which strategies it is about")
	}
}

// TestCaptions: a caption says nothing that does not hold for this run.
func TestCaptions(t *testing.T) {
	t.Parallel()
	faulty := append(field(3), bot{name: "broken", fault: 0.2})
	for name, test := range map[string]struct {
		draw       string
		bots       []bot
		chance     bool // at random 1.25 are expected
		nobodyWins bool
	}{
		"fair":              {"uniform:1-10", field(4), true, true},
		"fair with weights": {"weights:1=1,2=3,3=2", field(4), true, true},
		"odd is likelier":   {"uniform:1-9", field(4), false, false},
		"technical losses":  {"uniform:1-10", faulty, false, true},
	} {
		got := text(written(t, played(t, test.draw, 2, 60, test.bots...)))
		if has := strings.Contains(got, "Choosing at random gives 1.25."); has != test.chance {
			t.Errorf("%s: the page says that choosing at random gives 1.25: %v", name, has)
		}
		if has := strings.Contains(got, "nobody beats anybody"); has != test.nobodyWins {
			t.Errorf("%s: the page says that nobody beats anybody: %v", name, has)
		}
	}
}

// TestOffScale: a strategy that loses nearly everything by faults does not squeeze the
// others, and the plot says where it is.
func TestOffScale(t *testing.T) {
	t.Parallel()
	in := played(t, "", 4, 60, append(field(8), bot{name: "broken", fault: 0.9})...)
	html := written(t, in)
	if !regexp.MustCompile(`>0\.[0-9]{3}, off the scale</text>`).MatchString(html) || !strings.Contains(text(html), "An arrow stands for broken: far from the others, and off the scale.") {
		t.Error("the page does not say that broken is off the scale")
	}
	if html := written(t, played(t, "", 4, 60, field(9)...)); strings.Contains(html, "off the scale") {
		t.Error("a strategy like the others is off the scale")
	}
}

// TestTwoPlayers: the report on two players is about their matches, not about an order.
func TestTwoPlayers(t *testing.T) {
	t.Parallel()
	in := played(t, "uniform:1-10", 10, 60, bot{name: "x", first: 0, last: 0}, bot{name: "y", first: 1, last: 1})
	html := written(t, in)
	got := text(html)
	for _, want := range []string{"The pair Choices differ in 100.0 %", "Matches 600", "Won by x", "Won by y", "Tied"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q:\n%.1500s", want, got)
		}
	}
	for _, id := range []string{"pairs", "places", "tiers"} {
		if strings.Contains(html, `id="`+id+`"`) || strings.Contains(html, `href="#`+id+`"`) {
			t.Errorf("a page of two players has a section %s", id)
		}
	}
}

// TestRepeat: the page has the command that plays its leagues again, and the code that
// played them.
func TestRepeat(t *testing.T) {
	t.Parallel()
	in := played(t, "uniform:1-10", 4, 60, field(3)...)
	in.Version, in.Begun = "v1.2.3", time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
	for k, f := range []results.Entrant{{Name: "random#1", Ref: "random"}, {Name: "random#2", Ref: "random"}, {Name: "it's", Ref: "it's.lua"}} {
		f.Kind, f.Fingerprint = "lua", fmt.Sprintf("finger-%d", k)
		in.Run.Plan.Field[k] = f
	}
	got := html.UnescapeString(text(written(t, in)))
	for _, want := range []string{
		`strategylab experiment --runs 60 --legs 4 --seed 7 --draw uniform:1-10 --field 'random*2,it'\''s.lua'`,
		"random#1 lua finger-0", "it's lua finger-2", "Begun on 2026-02-28", "Written by strategylab v1.2.3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestOneLeg: without several legs there is no learning curve, neither for all nor on
// the cards.
func TestOneLeg(t *testing.T) {
	t.Parallel()
	html := written(t, played(t, "", 1, 60, field(4)...))
	if strings.Contains(html, `id="learning"`) || strings.Contains(html, `class="curve"`) {
		t.Error("a league of one leg has a learning curve")
	}
	if got := strings.Count(html, `<details class="card" open>`); got != 4 {
		t.Errorf("%d cards of 4 strategies", got)
	}
}
