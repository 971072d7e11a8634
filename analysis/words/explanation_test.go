package words

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/population"
)

func around(x float64) analysis.Estimate {
	return analysis.Estimate{Estimate: x, Low: x - 0.02, High: x + 0.02}
}

// explained is what there is to say about the first of four players.
func explained(p explain.Player) (*analysis.Estimates, *explain.Explanations) {
	e := shown(100, []int{0, 1, 2, 3})
	e.Pairs = []analysis.Pair{
		{A: 0, B: 1, Differ: around(0.7)}, {A: 0, B: 2, Differ: around(0.69)}, {A: 0, B: 3, Differ: around(0.4)},
	}
	return e, &explain.Explanations{Level: 0.95, Leagues: 1000, Learnt: 501, Judged: 1, Players: []explain.Player{p}}
}

func TestExplanation(t *testing.T) {
	t.Parallel()
	p := explain.Player{
		Even: around(0.5), Studied: around(0.8), Order: 2, Bits: 0.72, Met: around(0.51), Exploit: 3,
		Hindsight: around(0.66), Regret: around(0.15), Follow: 4,
	}
	e, x := explained(p)
	var got []string
	for _, line := range Plain.Explanation(e, x, 0) {
		got = append(got, line.Head+": "+line.Text)
	}
	want := []string{
		"Says even: 50.0 % (48.0 to 52.0)",
		"From earlier leagues: predicted in 80.0 % (78.0 to 82.0) from the last 2 matches of both; a choice carries 0.72 bits (1 is a coin, 0 is certain)",
		`From this league only: no better than a coin: predicted in 51.0 % (49.0 to 53.0) by the rule "it repeats itself"`,
		`With hindsight: answering "it alternates" with the opposite would have differed in 66.0 % (64.0 to 68.0), 15.0 percentage points more than it did (13.0 to 17.0)`,
		"Best opponent: bert, differs in 70.0 % (68.0 to 72.0); the evidence also allows 1 other",
		"Worst opponent: dora, differs in 40.0 % (38.0 to 42.0)",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// TestExplanationDepends: every form of a sentence, by what was measured.
func TestExplanationDepends(t *testing.T) {
	t.Parallel()
	base := explain.Player{Even: around(0.5), Studied: around(0.3), Order: 0, Met: around(0.5), Hindsight: around(0.5), Regret: around(0)}
	for want, change := range map[string]func(p *explain.Player){
		"predicted in only 30.0 % (28.0 to 32.0), worse than a coin, from the role alone": func(*explain.Player) {},
		"from the last match of both":                                                                     func(p *explain.Player) { p.Order = 1 },
		"not significantly different from what it did (regret -2.0 to 2.0)":                               func(*explain.Player) {},
		"10.0 percentage points less than it did: it reads its opponents better than every built-in rule": func(p *explain.Player) { p.Regret = around(-0.1) },
	} {
		p := base
		change(&p)
		e, x := explained(p)
		text := ""
		for _, line := range Plain.Explanation(e, x, 0) {
			text += line.Text + "\n"
		}
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	e, x := explained(explain.Player{Even: none, Studied: none})
	if lines := Plain.Explanation(e, x, 0); lines != nil {
		t.Errorf("of a player without choices: %v", lines)
	}
	e, x = explained(explain.Player{Even: around(0.5), Studied: none})
	if lines := Plain.Explanation(e, x, 0); len(lines) != 3 {
		t.Errorf("without predictions: %v", lines)
	}
	if got, want := Plain.Sample(x), "Predictors were chosen on 501 leagues and tested on 1 other, of 1,000; opponents and learning curves use all leagues."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// view is a population of three of whom the second is largest at the end.
func view(settled bool) *population.View {
	return &population.View{
		Members: []population.Member{
			{Name: "anna", Share: analysis.Estimate{Estimate: 0.3, Low: 0, High: 0.4}, Borda: analysis.Estimate{Estimate: 0.2}},
			{Name: "bert", Share: analysis.Estimate{Estimate: 0.699, Low: 0.6, High: 1}, Borda: analysis.Estimate{Estimate: 0.1}},
			{Name: "carl", Share: analysis.Estimate{Estimate: 0.001}},
		},
		Trajectory: &population.Trajectory{Settled: settled, Gap: 0.00123, Steps: []population.Shares{
			{Generation: 0, Payoff: 1.25}, {Generation: 1234, Payoff: 1.4567},
		}},
	}
}

func TestPopulation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ got, want string }{
		"settled": {Plain.Population(view(true), 3, 0), "From equal shares the mean payoff rises from 1.250 to 1.457 points per match. " +
			"After 1,234 generations these are left: bert 69.9 % (60.0 to 100.0) and anna 30.0 % (0.0 to 40.0). No strategy would gain more than 0.0001 points by switching: an equilibrium."},
		"moving": {Plain.Population(view(false), 4, 0), "From equal shares the mean payoff rises from 1.2500 to 1.4567 points per match. " +
			"After 1,234 generations these are left: bert 69.9 % (60.0 to 100.0) and anna 30.0 % (0.0 to 40.0). It has not settled: the best strategy would still gain 0.00123 points per match."},
		"one missing": {Plain.Population(&population.View{Missing: []string{"anna"}}, 3, 0), "How the population evolves is unknown: anna never met a copy of itself."},
		"two missing": {Plain.Population(&population.View{Missing: []string{"anna", "bert"}}, 3, 0), "How the population evolves is unknown: anna and bert never met copies of themselves."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}

func TestBySize(t *testing.T) {
	t.Parallel()
	v := view(true)
	if got := BySize(v); got[0] != 1 || got[1] != 0 || got[2] != 2 {
		t.Errorf("by share: %v", got)
	}
	for i := range v.Members {
		v.Members[i].Share.Estimate = none.Estimate
	}
	if got := BySize(v); got[0] != 0 || got[1] != 1 || got[2] != 2 {
		t.Errorf("by Borda score: %v", got)
	}
}
