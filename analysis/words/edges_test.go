package words

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
)

// Every kind of fault can stand after "by", in words that say who failed at what.
func TestEveryFaultHasACause(t *testing.T) {
	t.Parallel()
	for f, want := range map[game.Fault]string{
		game.FaultError: "error", game.FaultInvalid: "an invalid choice", game.FaultTimeout: "timeout", game.FaultBudget: "too many instructions",
		game.FaultCrash: "crash", game.FaultForfeit: "forfeit", game.FaultQuarantined: "quarantine", game.FaultNoJoin: "not joining",
		game.FaultDeclined: "declining", game.FaultNoAnswer: "no answer", game.FaultDisconnect: "a lost connection", game.FaultConnect: "no connection",
	} {
		if got := Cause(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":            "''",
		"runs/a-1.2":  "runs/a-1.2",
		"a b":         "'a b'",
		"it's":        `'it'\''s'`,
		"$(rm -rf x)": "'$(rm -rf x)'",
		"~/runs":      "'~/runs'",
		"a\nb":        "'a\nb'",
		"é":           "'é'",
		"100%":        "100%",
		`C:\runs`:     `'C:\runs'`,
		"a;b":         "'a;b'",
		"*":           "'*'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
	if got := ReplayCommand("my runs", 0, "R1M2"); got != "strategylab replay 'my runs' --league 0 --match R1M2" {
		t.Errorf("command %q", got)
	}
}

func TestExtended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		looks []int
		want  string
	}{
		{nil, ""},
		{[]int{100}, "Extended when 100 leagues had been looked at: "},
		{[]int{100, 200}, "Extended when 100 and 200 leagues had been looked at: "},
		{[]int{100, 200, 1600}, "Extended when 100, 200 and 1,600 leagues had been looked at: "},
	} {
		got := Plain.Extended(analysis.AfterLooks(0.95, len(c.looks)), c.looks)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", c.looks, got, c.want)
		}
		// The first look spends the 5 % that were given, all later ones together 1 % more.
		if got != "" && !strings.Contains(got, "with a chance of at most 6.0 % a place") {
			t.Errorf("%v: %q", c.looks, got)
		}
	}
}

func TestNearlyNormal(t *testing.T) {
	t.Parallel()
	test, until := NearlyNormal(true, true), NearlyNormal(false, false)
	const other = ". --guarantee finite holds without it."
	if !strings.HasPrefix(test, "The test takes") || !strings.HasSuffix(test, "the run may have ended too early"+other) {
		t.Errorf("of a test: %q", test)
	}
	if !strings.HasPrefix(until, "--until takes") || !strings.HasSuffix(until, "intervals and tiers may be too narrow"+other) {
		t.Errorf("of a rule that did not end the run: %q", until)
	}
}

// The answer of a test is as certain as what its decision rests on.
func TestTested(t *testing.T) {
	t.Parallel()
	q := sequential.Report{Hypotheses: sequential.Hypotheses{Delta: 0.01, Alpha: 0.05, Beta: 0.05}, Decision: sequential.Accepted,
		Estimate: 0.02, EstimateLow: 0.002, EstimateHigh: 0.038, Bound: 0.005}
	plain := Plain.Tested("new", "old", q, false)
	if !strings.HasPrefix(plain, "new is better than old: by 0.02") {
		t.Error(plain)
	}
	if got := Plain.Tested("new", "old", q, true); got != "If the differences of leagues are nearly normal, "+plain {
		t.Errorf("in doubt: %q", got)
	}
	q.Guarantee = sequential.Finite
	if got := Plain.Tested("new", "old", q, true); got != plain {
		t.Errorf("with a finite guarantee: %q", got)
	}
}

// A field of two or three, with a clear winner, is not counted as "all 1 others".
func TestFewOthers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{2: "ahead of the other.", 3: "ahead of both others.", 4: "ahead of all 3 others."} {
		e := shown(100, []int{0}, []int{1, 2, 3}[:n-1])
		e.Players, e.Order, e.Fair = e.Players[:n], e.Order[:n], false
		e.Ranking.Places = e.Ranking.Places[:n]
		e = compared(e, func(i, _ int) bool { return i == 0 })
		if got := strings.Join(Plain.Answer(e, nil, nil), " "); !strings.Contains(got, want) {
			t.Errorf("%d players: %q, want %q", n, got, want)
		}
	}
}

func TestAgainstAndSigns(t *testing.T) {
	t.Parallel()
	e := compared(shown(100, []int{0}, []int{1, 2, 3}), func(i, _ int) bool { return i == 0 })
	e.Ranking.Comparisons[5].Verdict = analysis.Equal // carl and dora
	for _, c := range []struct {
		yours, other int
		want         string
	}{{0, 1, "+"}, {1, 0, "-"}, {1, 2, "~"}, {2, 3, "="}, {3, 2, "="}, {0, 0, "~"}} {
		if got := Against(e, c.yours, c.other); got != c.want {
			t.Errorf("%d against %d: %s, want %s", c.yours, c.other, got, c.want)
		}
	}
	for _, c := range []struct {
		v             analysis.Verdict
		first, second int64
		want          string
	}{
		{analysis.Different, 2, 1, ">"}, {analysis.Different, 1, 2, "<"}, {analysis.Undecided, 9, 1, "~"}, {analysis.Equal, 9, 1, "~"},
	} {
		if got := Sign(c.v, c.first, c.second); got != c.want {
			t.Errorf("%v with %d to %d: %s, want %s", c.v, c.first, c.second, got, c.want)
		}
		title := Titles(e, analysis.Odds{A: 0, B: 1, Titles: c.v, TitlesA: c.first, TitlesB: c.second})
		want := map[string]string{">": "anna takes more titles", "<": "bert takes more titles", "~": "no evidence that one takes more titles"}[c.want]
		if title != want {
			t.Errorf("%v with %d to %d: %q, want %q", c.v, c.first, c.second, title, want)
		}
	}
}

func TestNarrowerWithoutVariance(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]string{
		25:   "adjusted intervals are 5.0 times narrower than raw ones (variance ratio 25.0)",
		1:    "adjusted intervals are 1.0 times narrower than raw ones (variance ratio 1.0)",
		0.25: "adjusted intervals are not narrower than raw ones here (variance ratio 0.25)",
	} {
		e := shown(100, []int{0, 1, 2, 3})
		e.VarianceRatio = ratio
		if got := Plain.Narrower(e); got != want {
			t.Errorf("ratio %v: %q, want %q", ratio, got, want)
		}
	}
	e := shown(100, []int{0, 1, 2, 3})
	e.VarianceRatio = math.NaN()
	if got := Plain.Narrower(e); got != "adjusted points do not vary from league to league" {
		t.Errorf("without variance: %q", got)
	}
	e.VarianceRatio, e.DifferenceRatio = 4, 9
	if got := Plain.Narrower(e); !strings.HasSuffix(got, ", those of differences 3.0 times (9.0)") {
		t.Errorf("with differences: %q", got)
	}
}

// What is not a number is written as "-" wherever one can stand, never as NaN.
func TestNothingIsNaN(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, e := range []analysis.Estimate{
		{Estimate: nan, Low: 0, High: 1}, {Estimate: nan, Low: nan, High: nan}, {Estimate: nan, Low: math.Inf(-1), High: inf},
	} {
		for name, text := range map[string]string{
			"range": Plain.Range(e, 1, 2), "with range": Plain.WithRange(e, 2), "share": Plain.Share(e), "change": Plain.Change(e, 1, 2, "points"),
			"plus minus": PlusMinus(e, 1, 2), "column": PlusMinusColumn([]analysis.Estimate{e})[0], "numbers": NumberColumn([]analysis.Estimate{e})[0],
		} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || text == "" {
				t.Errorf("%s of %v: %q", name, e, text)
			}
		}
	}
	for name, text := range map[string]string{
		"p": PValue(nan), "level": Plain.Level(nan), "percent": Plain.Percent(inf), "signed": Plain.Signed(nan, 1),
	} {
		if text != "-" {
			t.Errorf("%s of no number: %q, want a dash", name, text)
		}
	}
}

// However wide the intervals are, the cells of a column are equally long, and the points
// of its numbers stand below each other.
func TestColumnsAlign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) analysis.Estimate {
			x := rapid.Float64Range(0, 3).Draw(t, "estimate")
			half := math.Pow(10, rapid.Float64Range(-8, 0.3).Draw(t, "half width"))
			if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
				return none
			}
			return analysis.Estimate{Estimate: x, Low: x - half, High: x + half}
		}), 1, 12).Draw(t, "column")
		for name, cells := range map[string][]string{"with intervals": PlusMinusColumn(list), "numbers": NumberColumn(list)} {
			point := -1
			for i, cell := range cells {
				if len([]rune(cell)) != len([]rune(cells[0])) {
					t.Errorf("%s: %q is not as long as %q", name, cell, cells[0])
				}
				if !list[i].Defined() {
					continue
				}
				if at := strings.Index(cell, "."); point < 0 {
					point = at
				} else if at != point {
					t.Errorf("%s: the point of %q is at %d, that of others at %d", name, cell, at, point)
				}
			}
		}
	})
}
