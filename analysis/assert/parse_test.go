package assert

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
)

var players = []string{"mine", "random", "markov-2", "random#3", "my strat", `say "hi"`, "v1.2", "mine-random", "3d", "stratégie"}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"mine.adjusted > random.adjusted",
		"mine.adjusted>random.adjusted+0.01",
		"markov-2.adjusted >= random#3.adjusted",
		`"my strat".points < 1.5`,
		`"say \"hi\"".win_rate <= .5`,
		"v1.2.rank < 3",
		"3d.rank < 3e0",
		"stratégie.differ == 0.5",
		"mine.technical_losses == 0",
		"(mine.wins + mine.draws) / 2 > random.wins * 2 - -3",
		"mine-random.points > mine.points - random.points",
		"  mine.rank<random.rank  ",
		"2 > mine.rank",
		"(mine.rank < 2)",
		"mine.rank <-1e-3 + 1E2",
	} {
		if _, err := parsed(text, players...); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		says   string // in message or hint
	}{
		{"", 1, "unexpected end, expected operand\n"},
		{"mine.adjusted", 14, "want a comparison"},
		{"mine.adjusted > ", 17, "unexpected end, expected operand"},
		{"mine.adjusted = 1", 15, `unexpected "=", expected '=='`},
		{"mine.adjusted > 1 2", 19, `unexpected "2", expected the end`},
		{"mine.ajusted > 1", 6, "did you mean adjusted? the measures are adjusted, points,"},
		{"mnie.adjusted > 1", 1, "did you mean mine?"},
		{"nobody.adjusted > 1", 1, "the players are mine, random, markov-2"},
		{"mine.adjusted-random.adjusted > 0", 1, "spaces around a minus"},
		{`"my strat".points-mine.points > 1`, 12, "spaces around a minus"},
		{"adjusted > 1", 1, "want a number or PLAYER.MEASURE, not 'adjusted'"},
		{"mine > 1", 1, "want a number or PLAYER.MEASURE"},
		{`"my strat" > 1`, 1, "want a number or PLAYER.MEASURE"},
		{`"my strat.points > 1`, 1, "unclosed"},
		{`"my \strat".points > 1`, 1, `\" and \\ stand for`},
		{"'my strat'.points > 1", 1, "double quotes"},
		{"mine.points * random.points > 1", 13, "multiplied or divided by a number"},
		{"1 / mine.points > 1", 3, "divided by a number"},
		{"mine.points / 0 > 1", 13, "other than 0"},
		{"mine.points > mine.points", 13, "nothing to judge"},
		{"1 < 2", 3, "nothing to judge"},
		{"mine.wins > mine.adjusted", 11, "mine.wins is a count and mine.adjusted an estimate"},
		{"(mine.wins > 1", 15, "unexpected end, expected ')'"},
		{"mine.wins > 1e-310", 13, "want a number"},
		{"mine.wins > 1e999999999", 13, "want a number"},
		{"mine.wins > 0x10", 13, "want a number"},
		{"mine.wins > 0x1p4", 13, "want a number"},
		{"1 < mine.wins < 2", 3, "this < does not fit"},
		{"mine.wins > *2", 13, "want a number"},
		{"mine.wins < 1e99 * 1e99 * 1e99", 11, "numbers beyond 1e200"},
		{"mine.wins * 1e99 * 1e99 * 1e99 < 1", 32, "numbers beyond 1e200"},
		{"mine.wins (2) > 1", 1, "between two"},
		{"mine.wins > 010 // 2", 18, `unexpected "/"`},
		{"mine.wins < ^2", 13, `unexpected "^"`},
		{"mine.wins <-- 2 ^ 1", 17, `unexpected "^"`},
		{"stratégie.differ $ 1", 18, `unexpected "$"`},
		{strings.Repeat("(", 200) + "1", 202, "unexpected end"},
		{strings.Repeat("x", 5000), 1, "want at most 4096"},
	} {
		_, err := parsed(c.text, players...)
		var e Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), fmt.Sprintf("column %d: ", c.column)) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40s: want column %d and %q:\n%v", c.text, c.column, c.says, err)
		}
	}
}

// Whatever is written, it is either read or refused at a column that it has; and
// what is read means the same without the spaces around it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"mine.adjusted > random.adjusted + 0.01", `"my strat".win_rate <= .3`, "markov-2.technical_losses == 0",
		"-(mine.wins) * 2 / 3 < 1", `"say \"hi\"".rank>=1`, "mine.adjusted-random.adjusted > 0", "1e30 < mine.points", "\xff", `"`, "..", "3d.", "((((",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parsed(text, players...)
		var e Error
		column := 0
		switch {
		case err == nil:
			if a.Text != text || a.Op == "" {
				t.Fatalf("%q became %+v", text, a)
			}
			if _, err := parsed(" "+text+" ", players...); err != nil && len(text) < 4000 {
				t.Fatalf("%q is read, but not with spaces around it: %v", text, err)
			}
		case !errors.As(err, &e):
			t.Fatalf("%q: %v", text, err)
		default:
			if _, err := fmt.Sscanf(string(e), "column %d:", &column); err != nil || column < 1 || column > utf8.RuneCountInString(text)+1 {
				t.Fatalf("%q: %s", text, e)
			}
		}
	})
}

// TestDecide: a verdict needs the whole interval on one side of the bound, which is 1;
// touching it counts for the comparisons that include equality.
func TestDecide(t *testing.T) {
	estimates := []analysis.Estimate{
		{Estimate: 2, Low: 1.5, High: 2.5}, {Estimate: 0, Low: -0.5, High: 0.5}, {Estimate: 1.1, Low: 0.5, High: 1.5},
		{Estimate: 1.5, Low: 1, High: 2}, {Estimate: 0.5, Low: 0, High: 1}, {Estimate: 1, Low: 1, High: 1}, {Estimate: math.NaN(), Low: 2, High: 3},
	}
	const h, r, u = Holds, Refuted, Undecided
	for op, want := range map[string][]Verdict{
		">": {h, r, u, u, r, r, u}, ">=": {h, r, u, h, u, h, u}, "<": {r, h, u, r, u, r, u}, "<=": {r, h, u, u, h, h, u}, "==": {r, r, u, u, u, u, u},
	} {
		for k, v := range estimates {
			if got := decide(v, op, 1); got != want[k] {
				t.Errorf("%v to %v %s 1: %v, want %v", v.Low, v.High, op, got, want[k])
			}
		}
	}
}

// TestNote: the number of leagues grows with the square of the interval over the gap.
func TestNote(t *testing.T) {
	for _, tt := range []struct {
		value analysis.Estimate
		want  string
	}{
		// (1 + 1.2816/1.9600)^2 = 2.735 times as many for 90 %
		{analysis.Estimate{Estimate: 1.1, Low: 0.9, High: 1.3, Level: 0.95}, "a new run of about 400 leagues would decide with a chance of one half, of 1100 with 90 %, if the estimate is right"},
		// (1 + 1.2816/2.5758)^2 = 2.243
		{analysis.Estimate{Estimate: 1.03, Low: 0.9, High: 1.1, Level: 0.99}, "a new run of about 1900 leagues would decide with a chance of one half, of 4300 with 90 %, if the estimate is right"},
		{analysis.Estimate{Estimate: 1, Low: 0.9, High: 1.1}, "far too close to tell"},
		{analysis.Estimate{Estimate: 1.0001, Low: 0.9, High: 1.1}, "far too close to tell"},
	} {
		if got := note(&Outcome{Value: tt.value, Verdict: Undecided, Bound: 1}, &analysis.Estimates{Leagues: 100}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.value, got, tt.want)
		}
	}
	gone := analysis.Player{Matches: 100, Faults: []analysis.Fault{{Kind: game.FaultQuarantined, Count: 40, League: 60}}}
	attest.Has(t, note(&Outcome{Verdict: Holds}, &analysis.Estimates{Leagues: 100, Players: []analysis.Player{gone}}), "quarantine changed the field")
}

// parsed reads an assertion; similar names begin with the same letter.
func parsed(text string, players ...string) (assertion, error) {
	return parse(text, players, func(name string, names []string) string {
		for _, n := range names {
			if strings.HasPrefix(n, name[:min(1, len(name))]) {
				return n
			}
		}
		return ""
	})
}

// expression is a random linear expression, with its value if a.points is 3 and
// b.points is -7/2.
func expression(r *rand.Rand, depth int) (string, *big.Rat) {
	n := int64(1 + r.IntN(9))
	if depth == 0 || r.IntN(4) == 0 {
		values := map[string]*big.Rat{"a.points": big.NewRat(3, 1), "b.points": big.NewRat(-7, 2), fmt.Sprint(n): big.NewRat(n, 1)}
		text := []string{"a.points", "b.points", fmt.Sprint(n)}[r.IntN(3)]
		return text, values[text]
	}
	x, v := expression(r, depth-1)
	y, w := expression(r, depth-1)
	switch r.IntN(4) {
	case 0:
		return "(" + x + " + " + y + ")", new(big.Rat).Add(v, w)
	case 1:
		return "(" + x + " - " + y + ")", new(big.Rat).Sub(v, w)
	case 2:
		return fmt.Sprintf("%d * (%s)", n, x), new(big.Rat).Mul(v, big.NewRat(n, 1))
	}
	return fmt.Sprintf("(%s) / %d", x, n), new(big.Rat).Quo(v, big.NewRat(n, 1))
}

// TestLinearForm: the form that an assertion is brought into has the value of what was
// written, exactly.
func TestLinearForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	values := []*big.Rat{big.NewRat(3, 1), big.NewRat(-7, 2)}
	checked := 0
	for range 2000 {
		left, v := expression(r, 4)
		right, w := expression(r, 4)
		a, err := parsed(left+" < "+right, "a", "b")
		if err != nil {
			if !strings.Contains(err.Error(), "nothing to judge") {
				t.Fatalf("%s < %s: %v", left, right, err)
			}
			continue
		}
		got := new(big.Rat).Neg(a.bound)
		for _, term := range a.terms {
			got.Add(got, new(big.Rat).Mul(term.coefficient, values[term.field]))
		}
		if want := new(big.Rat).Sub(v, w); got.Cmp(want) != 0 {
			t.Fatalf("%s < %s: the form has the value %v, want %v", left, right, got, want)
		}
		checked++
	}
	if checked < 1000 {
		t.Errorf("only %d forms were checked", checked)
	}
}
