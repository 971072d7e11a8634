package page_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
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
			above, _, found := strings.Cut(text(written(t, in)), "Ranking Tiers")
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

// TestWorths: the column of a placings model is there if it was asked for.
func TestWorths(t *testing.T) {
	t.Parallel()
	in := played(t, "", 2, 60, field(3)...)
	if got := text(written(t, in)); strings.Contains(got, "Plackett") {
		t.Error("the page speaks of a model that nobody asked for")
	}
	in.Worths, in.WorthLeagues = &population.Worths{Worth: []float64{0.125, 0.25, 0.625}}, 60
	got := text(written(t, in))
	for _, want := range []string{"Worth is from the Plackett-Luce model with ties, fitted to the placings in 60 leagues", "12.5 %", "25.0 %", "62.5 %", "mean place worth technical losses"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestPairTable: pairs stand in a table as long as it can be read.
func TestPairTable(t *testing.T) {
	t.Parallel()
	for players, want := range map[int]bool{20: true, 21: false} {
		if got := strings.Contains(written(t, played(t, "", 1, 4, field(players)...)), "As a table, with intervals"); got != want {
			t.Errorf("%d players: a table of pairs is %v, want %v", players, got, want)
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
	if got := strings.Count(html, `<article class="card">`); got != 4 {
		t.Errorf("%d cards of 4 strategies", got)
	}
}
