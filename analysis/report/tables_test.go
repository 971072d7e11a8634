package report_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
)

func around(x, half float64) analysis.Estimate {
	return analysis.Estimate{Estimate: x, Low: x - half, High: x + half}
}

var undefined = analysis.Estimate{Estimate: math.NaN(), Low: 0, High: 1}

// compared are two runs in which one strategy was replaced, one changed because of it,
// one did not, and one stayed the same to the last match.
func compared() report.Contrast {
	effects := func(adjusted, spill, differ analysis.Estimate, v analysis.Verdict) []contrast.Effect {
		return []contrast.Effect{
			{Measure: contrast.Measure{Quantity: analysis.Adjusted}, Before: 1.3, After: analysis.Number(1.3 + adjusted.Estimate), Difference: adjusted, P: 0.0004, Corrected: 0.0048, Verdict: v},
			{Measure: contrast.Measure{Quantity: analysis.Adjusted, Unchanged: true}, Before: analysis.Number(math.NaN()), After: analysis.Number(math.NaN()), Difference: spill, P: 1, Corrected: 1},
			{Measure: contrast.Measure{Quantity: analysis.Differ}, Before: 0.6, After: analysis.Number(0.6 + differ.Estimate), Difference: differ, P: 0.00001, Corrected: 0.00002, Verdict: v},
			{Measure: contrast.Measure{Quantity: analysis.Rank}, Before: 2, After: 2.25, Difference: around(0.25, 0.3), P: 0.5, Corrected: 1},
		}
	}
	same := effects(around(0, 0.01), around(0, 0.01), around(0, 0.01), analysis.Equal)
	for i := range same {
		same[i].Verdict, same[i].P, same[i].Corrected = analysis.Equal, 1, 1
	}
	return report.Contrast{
		Before: report.Source{Dir: "runs/a", Digest: "aa"}, After: report.Source{Dir: "runs/b\x1b", Digest: "bb", Stopped: true},
		Replaced: []string{"mine"},
		Result: contrast.Result{
			Level: 0.95, Paired: true, Shared: true, Leagues: [2]int{1500, 1500}, Family: 12,
			Plan: []contrast.Change{{What: "code", Player: "mine", Before: "scripts/mine.lua (d5)", After: "drafts/new.lua (a9)"}},
			Players: []contrast.Player{
				{Name: "mine", CodeChanged: true, Effects: effects(around(-0.0747, 0.0074), undefined, around(-0.1494, 0.0148), analysis.Different)},
				{Name: "pool", Effects: effects(around(-0.0338, 0.0098), around(-0.0013, 0.0085), around(-0.0675, 0.0196), analysis.Different)},
				{Name: "random", Effects: effects(around(0.0014, 0.0057), around(0.0018, 0.0057), around(0.0025, 0.0115), analysis.Undecided)},
				{Name: "quiet", Effects: same},
			},
			Gone: []string{"old"}, New: []string{"fresh"}, Quarantined: [2][]string{{"pool"}, {}}, Unfinished: [2]bool{true, false}, Excluded: true,
		},
		Assertions: []assert.Outcome{
			{Text: "mine.adjusted > 1.2", Verdict: assert.Holds, Of: "mine.adjusted", Op: ">", Bound: 1.2, Value: around(1.2253, 0.0074), Level: new(0.975)},
			{Text: "mine.points > pool.points", Verdict: assert.Undecided, Of: "mine.points - pool.points", Op: ">", Value: around(0.01, 0.05), Level: new(0.975), Paired: true, Note: "a new run of about 2000 leagues would decide with a chance of one half, of 5000 with 90 %, if the estimate is right"},
			{Text: "mine.wins == 7", Verdict: assert.Refuted, Of: "mine.wins", Op: "==", Bound: 7, Counted: true, Value: around(1234, 0)},
		},
	}
}

// explanation explains the five strategies of a run; the last one never chose.
func explanation(detail bool) report.Explanation {
	x := explain.Explanations{Level: 0.95, Leagues: 1000, Learnt: 500, Judged: 500, Legs: [][2]int{{1, 1}, {2, 5}, {6, 10}}}
	e, names := runs()["clean"].Estimates, explain.Predictors()
	interval := func(x, half float64) explain.Interval { return explain.Interval(around(x, half)) }
	for _, i := range e.Order {
		p := explain.Player{Name: e.Players[i].Name, Differ: e.Players[i].Differ, Even: undefined, Learning: []analysis.Estimate{undefined, undefined, undefined}}
		p.Best, p.Worst = explain.Opponents(&e, i)
		if i < 4 {
			share := 0.5 + float64(i)/10
			p.Even, p.Learning = around(share, 0.02), []analysis.Estimate{around(0.5, 0.01), around(share, 0.02), undefined}
			p.Studied = &explain.Prediction{Interval: interval(share, 0.03), Order: new(i), Bits: analysis.Number(1 - float64(i)/5)}
			p.Met = &explain.Prediction{Interval: interval(1-share/2, 0.04), Predictor: names[i]}
			p.Regret = &explain.Regret{Interval: interval(0.02*float64(2-i), 0.025), Hindsight: around(0.7, 0.02), Predictor: names[11-i]}
		}
		x.Players = append(x.Players, p)
	}
	return report.Explanation{Explanations: x, Detail: detail}
}

// evolved is a population of the run's five players, two of whom are copies.
func evolved(missing bool) report.Population {
	run := runs()["clean"]
	g := &population.Game{Names: []string{"random", "always-even", "always-odd", "long-name-of-a-strategy"}, Copies: [][]int{{0}, {1, 2}, {3}, {4}}}
	for _, p := range run.Estimates.Players {
		g.Players = append(g.Players, p.Name)
	}
	for i := range g.Names {
		row := make([]analysis.Estimate, len(g.Names))
		for j := range row {
			row[j] = around(0.4+0.05*float64(i+j), 0.01)
		}
		g.Differ = append(g.Differ, row)
	}
	if missing {
		g.Differ[1][1] = undefined
	}
	return report.Population{Document: report.New(run), View: population.NewView(g)}
}

// stopped are runs that ended in every way there is.
func stopped() map[string]report.Run {
	base := runs()["biased"]
	base.Plan.Runs = 20000
	with := func(why string, o sequential.Options) report.Run {
		r := base
		o.Level = 0.95
		r.Stopping = report.Stopping{Why: why, Options: &o, Apart: 1, Within: 2, Open: 3}
		return r
	}
	ranked := sequential.Options{Rule: sequential.Rule{Kind: sequential.Ranked}, Guarantee: sequential.Asymptotic, Margin: 0.01}
	test := with("sprt", sequential.Options{Guarantee: sequential.Asymptotic})
	test.Stopping.Ratio = &report.Ratio{New: "mine\x1b", Old: "random", Report: sequential.Report{
		Hypotheses: sequential.Hypotheses{Delta: 0.01, Alpha: 0.05, Beta: 0.1}, Leagues: 50, Decision: sequential.Accepted, LLR: 3.1,
		Bounds: [2]float64{-2.25, 2.89}, Deciding: [2]float64{-2.1, 2.75}, Mean: 0.0213, Estimate: 0.0198, EstimateLow: 0.0021, EstimateHigh: 0.0376, Bound: 0.0049,
	}}
	open := with(report.MaxRuns, sequential.Options{Guarantee: sequential.Asymptotic})
	undecided := *test.Stopping.Ratio
	undecided.Decision, undecided.Estimate, undecided.Mean, undecided.Bound = sequential.Open, math.NaN(), math.NaN(), math.NaN()
	open.Stopping.Ratio = &undecided
	rejected := with("sprt", sequential.Options{Guarantee: sequential.Asymptotic})
	worse := *test.Stopping.Ratio
	worse.Decision, worse.Bound = sequential.Rejected, 0.0347
	rejected.Stopping.Ratio = &worse
	return map[string]report.Run{
		"best":        with("best", sequential.Options{Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: sequential.Finite}),
		"ranked":      with("ranked", ranked),
		"precision":   with("precision", sequential.Options{Rule: sequential.Rule{Kind: sequential.Precision, Width: 0.005}, Guarantee: sequential.Asymptotic}),
		"max-runs":    with(report.MaxRuns, ranked),
		"interrupted": with(report.Interrupted, ranked),
		"sprt":        test,
		"sprt-open":   open,
		"sprt-worse":  rejected,
	}
}

// tables are all reports besides that of a run, as text and as documents.
func tables() map[string]func(w io.Writer, width int) error {
	list := map[string]func(io.Writer, int) error{}
	add := func(name string, table func(io.Writer, int) error, document func(io.Writer) error) {
		list[name+".txt"] = table
		list[name+".json"] = func(w io.Writer, _ int) error { return document(w) }
	}
	apart, same := compared(), compared()
	apart.Result.Paired, apart.Result.Shared, apart.Result.Leagues, apart.Replaced = false, false, [2]int{1500, 1}, nil
	apart.Result.Leagues[1], apart.Assertions = 200, nil
	same.Result.Plan, same.After = []contrast.Change{}, same.Before
	for name, c := range map[string]report.Contrast{"contrast": compared(), "contrast-independent": apart, "contrast-same": same} {
		add(name, func(w io.Writer, width int) error { return report.WriteContrastTable(w, c, width) },
			func(w io.Writer) error { return report.WriteContrastJSON(w, c) })
		list[name+".csv"] = func(w io.Writer, _ int) error { return report.WriteContrastCSV(w, c) }
	}
	for name, x := range map[string]report.Explanation{"explain": explanation(false), "explain-detail": explanation(true)} {
		add(name, func(w io.Writer, width int) error { return report.WriteExplanationTable(w, x, width) },
			func(w io.Writer) error { return report.WriteExplanationJSON(w, x) })
	}
	for name, p := range map[string]report.Population{"population": evolved(false), "population-missing": evolved(true)} {
		add(name, func(w io.Writer, width int) error { return report.WritePopulationTable(w, p, width) },
			func(w io.Writer) error { return report.WritePopulationJSON(w, p) })
	}
	for name, r := range stopped() {
		list["stopped-"+name+".txt"] = func(w io.Writer, width int) error {
			return report.WriteTable(w, report.New(r), report.Screen{Width: width, Details: true})
		}
		if slices.Contains([]string{"best", "ranked", "sprt", "sprt-open"}, name) { // of which each has other members
			list["stopped-"+name+".json"] = func(w io.Writer, _ int) error { return report.WriteJSON(w, report.New(r)) }
		}
	}
	return list
}

// TestTables compares every table at several widths, and every document, with what is
// kept; lines fit the width, and no name reaches the terminal as a control sequence.
func TestTables(t *testing.T) {
	for name, write := range tables() {
		widths := []int{0}
		if strings.HasSuffix(name, ".txt") {
			widths = []int{0, 100, 60}
		}
		for _, width := range widths {
			text := string(rendered(t, func(w io.Writer) error { return write(w, width) }))
			if strings.ContainsAny(text, "\x1b\r") || strings.Contains(text, "NaN") {
				t.Errorf("%s: a control character or a number that does not exist:\n%q", name, text)
			}
			for _, line := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(line); width > 0 && n > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at width %d: line of %d: %q", name, width, n, line)
				}
			}
			file := name
			if width > 0 {
				file = strings.TrimSuffix(name, ".txt") + map[int]string{100: ".100.txt", 60: ".60.txt"}[width]
			}
			if width != 100 || strings.HasPrefix(name, "contrast.") || strings.HasPrefix(name, "explain") {
				golden(t, file, []byte(text))
			}
		}
	}
}

// TestFewLeagues: nothing is said about changes where nothing can be.
func TestFewLeagues(t *testing.T) {
	for want, change := range map[string]func(c *report.Contrast){
		"Too few leagues to compare runs.":                                     func(c *report.Contrast) { c.Result.Leagues[1] = 1 },
		"No strategy played in both runs, so there is nothing to compare.":     func(c *report.Contrast) { c.Result.Players = nil },
		"The two runs are the same, match for match: digest aa":                func(c *report.Contrast) { c.After.Digest = "aa" },
		"runs/b?\nThe fields differ, so a change may be due to the opponents.": func(*report.Contrast) {},
		"Significant change: mine: -0.0747 adjusted points (-0.0821 to -0.06":  func(c *report.Contrast) { c.Replaced = nil },
	} {
		c := compared()
		change(&c)
		text := string(rendered(t, func(w io.Writer) error { return report.WriteContrastTable(w, c, 0) }))
		attest.Has(t, text, want)
	}
}

// TestAssertions: only several estimates are adjusted, and nothing measured is said.
func TestAssertions(t *testing.T) {
	list := compared().Assertions
	if all, one := report.AssertionLines(list), report.AssertionLines(list[:1]); all[0] != "Assertions (adjusted for 2 of them):" || one[0] != "Assertions:" {
		t.Errorf("%q, and of one %q", all[0], one[0])
	}
	list[0].Level = new(1 - 0.05/3)
	attest.Has(t, report.AssertionLines(list)[2], "(98.33 % interval 1.2179 to 1.2327)")
	if got := report.AssertionLines(nil); got != nil {
		t.Errorf("no assertion: %q", got)
	}
	nothing := []assert.Outcome{{Text: "a.differ > 0", Of: "a.differ", Value: undefined, Note: "nothing was measured"}}
	if got := report.AssertionLines(nothing); !strings.HasSuffix(got[2], "a.differ: nothing was measured") {
		t.Errorf("nothing measured: %q", got)
	}
}

// TestStopped: what the documents above do not show.
func TestStopped(t *testing.T) {
	list := stopped()
	worse, interrupted := report.New(list["sprt-worse"]).RatioTest, report.New(list["interrupted"]).Stopped
	if worse.Decision != sequential.Rejected || worse.BoundLevel != 0.9 || interrupted.Why != report.Interrupted || interrupted.Leagues != 50 {
		t.Errorf("%+v, %+v", worse, interrupted)
	}
	test := list["sprt-open"]
	test.Stopping.Why = report.Interrupted
	attest.Has(t, strings.Join(report.New(test).StoppingLines(), "\n"), "Interrupted after 50 leagues of at most 20,000; the test is not decided.\n")
}

// unusual are runs at the edges of what can be reported.
var unusual = sync.OnceValue(func() map[string]report.Run {
	coin := func(name string) entrant { return entrant{name: name, kind: "lua", even: 0.5} }
	fails := func(name string, percent int, f game.Fault) entrant {
		return entrant{name: name, kind: "lua", even: 0.5, broken: percent, fault: f, where: "line 1: " + name + "\nline 2"}
	}
	var many []entrant
	for i := range 14 {
		many = append(many, entrant{name: fmt.Sprintf("s%02d", i), kind: "builtin", even: float64(i) / 13})
	}
	same := entrant{name: "one", kind: "builtin", even: 1}
	other := same
	other.name = "two"
	third := same
	third.name = "three"
	const fair = "uniform:1-10"
	return map[string]report.Run{
		"two players, one league":      play(1, 1, fair, coin("a"), coin("b")),
		"two players, no league":       play(0, 1, fair, coin("a"), coin("b")),
		"two players, an unfair draw":  play(40, 2, "weights:2=3,3=1", entrant{name: "even", kind: "lua", even: 1}, entrant{name: "odd", kind: "lua"}),
		"all matches tied":             play(30, 2, fair, same, other, third),
		"all matches lost by all":      play(10, 2, fair, fails("a", 100, game.FaultQuarantined), fails("b", 100, game.FaultCrash), fails("c", 100, game.FaultForfeit)),
		"one that is far behind":       play(60, 2, fair, coin("a"), coin("b"), coin("c"), fails("d", 100, game.FaultError)),
		"one that rarely fails":        play(60, 4, fair, coin("a"), coin("b"), coin("c"), fails("d", 1, game.FaultTimeout)),
		"two leagues, fourteen":        play(2, 1, fair, many...),
		"a number that is always even": play(30, 1, "weights:2=1", many[0], many[7], many[13]),
		"long names":                   play(20, 1, fair, coin(strings.Repeat("long-", 40)+"a"), coin(strings.Repeat("長", 120)), coin("c")),
		"hostile names": play(20, 1, fair, coin("a,b\"c\";'d"), coin("=1+1|2"), coin("<script>alert(1)</script>"), coin("x\x1b[31m\ny\u202e"),
			fails("%s %d %!v", 30, game.FaultInvalid)),
	}
})

// Any run can be written, and its screen fits its width, names each strategy and has no number that
// does not exist.
func TestUnusualTables(t *testing.T) {
	for name, r := range unusual() {
		d := report.New(r)
		if err := errors.Join(report.WriteJSON(io.Discard, d), report.WritePlayersCSV(io.Discard, d), report.WritePairsCSV(io.Discard, d)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, details := range []bool{false, true} {
			for _, width := range []int{0, 132, 80, 40} {
				text := string(rendered(t, func(w io.Writer) error { return report.WriteTable(w, d, report.Screen{Width: width, Details: details}) }))
				for _, bad := range []string{"NaN", "Inf", "%!", "all 1 ", "1 leagues", "1 matches", "  .", "0 of 0"} {
					if strings.Contains(strings.ReplaceAll(text, "%!v", ""), bad) {
						t.Errorf("%s, details %t, width %d: %q in\n%s", name, details, width, bad, text)
					}
				}
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if i := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
						t.Errorf("%s: %q is shown", name, line)
					}
					if n := utf8.RuneCountInString(line); width > 0 && n > width && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("%s, width %d: line of %d: %q", name, width, n, line)
					}
				}
				if name == "long names" || name == "hostile names" {
					continue // which are shortened or replaced
				}
				for _, p := range r.Estimates.Players {
					if !strings.Contains(text, p.Name) {
						t.Errorf("%s, details %t, width %d: %s is not in\n%s", name, details, width, p.Name, text)
					}
				}
			}
		}
	}
}
