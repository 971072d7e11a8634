package words

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
)

var none = analysis.Estimate{Estimate: math.NaN(), Low: 0, High: 1}

// texts compares pairs of what is said and what should be.
func texts(t *testing.T, list ...[2]string) {
	t.Helper()
	for _, x := range list {
		if x[0] != x[1] {
			t.Errorf("got %q, want %q", x[0], x[1])
		}
	}
}

func TestNumbers(t *testing.T) {
	e := analysis.Estimate{Estimate: 0.5, Low: 0.4375, High: 0.6}
	nan, inf := math.NaN(), math.Inf(1)
	texts(t, [][2]string{
		{Plain.Number(0, 0), "0"}, {Plain.Number(1.25, 3), "1.250"}, {Plain.Number(999.994, 2), "999.99"}, {Plain.Number(999.996, 2), "1,000.00"},
		{Plain.Number(1234567, 0), "1,234,567"}, {Plain.Number(-1234.5, 1), "-1,234.5"}, {Typeset.Number(-1234.5, 1), "\u22121,234.5"},
		{Plain.Number(-0.04, 1), "0.0"}, {Plain.Number(math.Copysign(0, -1), 2), "0.00"}, // no sign for what rounds to zero
		{Plain.Number(nan, 2), "-"}, {Typeset.Number(inf, 2), "-"}, {Plain.Number(-inf, 0), "-"},
		{Plain.Signed(0.25, 3), "+0.250"}, {Plain.Signed(-0.25, 3), "-0.250"}, {Plain.Signed(0, 3), "+0.000"}, {Plain.Signed(inf, 3), "-"},
		{Plain.Percent(0.2929), "29.3 %"}, {Typeset.Percent(0.2929), "29.3\u00a0%"}, {Plain.Percent(nan), "-"},
		{Plain.Level(0.95), "95 %"}, {Plain.Level(0.99875), "99.88 %"}, {Plain.Level(1 - 0.95), "5 %"}, {Plain.Level(nan), "-"},
		{Plain.Range(e, 1, 2), "0.44 to 0.60"}, {Plain.WithRange(e, 1, 2), "0.50 (0.44 to 0.60)"}, {Plain.WithRange(none, 1, 2), "-"},
		{Plain.Share(e), "50.0 % (43.8 to 60.0)"}, {Typeset.Share(none), "-"},
		{Plain.Change(analysis.Estimate{Estimate: -0.1, Low: -0.2, High: 0.01}, 100, 1, "places"), "-10.0 places (-20.0 to +1.0)"},
		{PlusMinus(e, 100, 1), "50.0 ±10.0"}, {PlusMinus(none, 1, 2), "-"},
		{PValue(0.04321), "0.0432"}, {PValue(0.00009), "<0.0001"}, {PValue(1), "1.0000"}, {PValue(nan), "-"},
		{Plain.Places([2]int{3, 3}), "3"}, {Plain.Places([2]int{3, 12}), "3-12"}, {Typeset.Places([2]int{3, 12}), "3\u201312"},
		{Plain.Plural(0, "league"), "0 leagues"}, {Plain.Plural(1, "technical loss"), "1 technical loss"}, {Plain.Plural(2, "match"), "2 matches"},
		{Plain.Plural(3, "strategy"), "3 strategies"}, {Plain.Plural(4, "technical loss"), "4 technical losses"},
		{Plain.Plural(12345, "message"), "12,345 messages"}, {Plain.Plural(2, "pair of neighbours"), "2 pairs of neighbours"},
		{Plain.Times(0), "0 times"}, {Plain.Times(1), "once"}, {Plain.Times(1000), "1,000 times"},
		{Plain.Record(1, 0, 1, 0, 1), "1 match: 0 won, 1 tied, 0 lost, 1 point"},
	}...)
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 113: "113th"} {
		texts(t, [2]string{Ordinal(n), want})
	}
	// Nothing is NaN where one can stand.
	for _, e := range []analysis.Estimate{{Estimate: nan, High: 1}, {Estimate: nan, Low: nan, High: nan}, {Estimate: nan, Low: -inf, High: inf}} {
		all := Plain.Range(e, 1, 2) + Plain.WithRange(e, 1, 2) + Plain.Share(e) + Plain.Change(e, 1, 2, "points") + PlusMinus(e, 1, 2) +
			PlusMinusColumn([]analysis.Estimate{e})[0] + NumberColumn([]analysis.Estimate{e})[0]
		if strings.Contains(all, "NaN") || strings.Contains(all, "Inf") {
			t.Errorf("%v: %s", e, all)
		}
	}
}

// TestDecimals: the widest interval shows two digits, never fewer than two decimals and
// never more than six.
func TestDecimals(t *testing.T) {
	for half, want := range map[float64]int{3: 2, 0.5: 2, 0.096: 2, 0.094: 3, 0.0096: 3, 0.0094: 4, 0.00012: 5, 1e-9: 6, 0: 6} {
		e := analysis.Estimate{Estimate: 1, Low: 1 - half, High: 1 + half/2}
		if got := Decimals(1, e); got != want {
			t.Errorf("half width %v: %d decimals, want %d", half, got, want)
		}
		if got := Decimals(1, none, e, analysis.Estimate{Estimate: 1, Low: 1, High: 1}); got != want {
			t.Errorf("half width %v beside others: %d decimals, want %d", half, got, want)
		}
		if got := Decimals(100, analysis.Estimate{Estimate: 1, Low: 1 - half/100, High: 1}); got != want {
			t.Errorf("half width %v in percent: %d decimals, want %d", half, got, want)
		}
	}
	if got := Decimals(1, none); got != 6 {
		t.Errorf("nothing measured: %d decimals", got)
	}
}

// However wide the intervals are, the cells of a column are equally long, and the points
// of its numbers stand below each other.
func TestColumnsAlign(t *testing.T) {
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

func TestText(t *testing.T) {
	names := strings.Split("a b c d e f", " ")
	texts(t, [][2]string{
		{List(nil, "and", 0), "none"}, {List(names[:1], "and", 1), "a"}, {List(names[:2], "and", 2), "a and b"}, {List(names[:3], "or", 0), "a, b or c"},
		{List(names, "and", 5), "a, b, c, d and 2 others"}, {List(names, "and", 2), "a and 5 others"},
		{Plain.Quote("it says even") + Typeset.Quote("it says odd"), `"it says even"“it says odd”`},
		// Nothing that a terminal obeys survives, and everything else does.
		{Printable("plain name-1 短い名前 é"), "plain name-1 短い名前 é"}, {Printable("\x1b[31mred\x07"), "?[31mred?"}, {Printable("two\r\nlines"), "two??lines"},
		{Printable("right\u202eto left"), "right?to left"}, {Printable("zero\u200bwidth\u00ad"), "zero?width?"}, {Printable("bad \xff utf8"), "bad \ufffd utf8"},
		{Shorten("short", 5), "short"}, {Shorten("longer", 5), "long…"}, {Shorten("短い名前です", 4), "短い名…"}, {Shorten("xy", 1), "…"}, {Shorten("xy", 0), "…"},
		{ShellWord(""), "''"}, {ShellWord("runs/a-1.2"), "runs/a-1.2"}, {ShellWord("a b"), "'a b'"}, {ShellWord("it's"), `'it'\''s'`}, {ShellWord("$(rm -rf x)"), "'$(rm -rf x)'"},
		{ShellWord("~/runs"), "'~/runs'"}, {ShellWord("a\nb"), "'a\nb'"}, {ShellWord("é"), "'é'"}, {ShellWord("100%"), "100%"}, {ShellWord(`C:\runs`), `'C:\runs'`},
		{ShellWord("a;b"), "'a;b'"}, {ShellWord("*"), "'*'"},
	}...)
}

// TestWrap: no line is too long unless it is one word, no word is lost, and lines that
// follow are indented.
func TestWrap(t *testing.T) {
	text := "Significant differences between neighbours: 13 of 28 (>), no evidence for 15 (~); 調整 points averylongwordthatcannotbebroken."
	for width := range 130 {
		got := Wrap(text, width)
		if strings.Join(strings.Fields(got), " ") != text {
			t.Fatalf("width %d loses words: %q", width, got)
		}
		for i, line := range strings.Split(got, "\n") {
			if n := utf8.RuneCountInString(line); width > 0 && n > width && len(strings.Fields(line)) > 1 {
				t.Errorf("width %d: line of %d: %q", width, n, line)
			}
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Errorf("width %d: line %d is not indented: %q", width, i, line)
			}
		}
	}
	if got, want := Wrap("    "+text, 40), "    Significant differences between\n      neighbours: 13 of 28 (>), no\n"; !strings.HasPrefix(got, want) {
		t.Errorf("indented: %q, want %q", got, want)
	}
	if got := Wrap(text, 0); got != text {
		t.Errorf("without a limit: %q", got)
	}
}
