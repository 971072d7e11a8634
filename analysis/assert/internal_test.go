package assert

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
)

// TestDecide: a verdict needs the whole interval on one side of the bound; touching it
// counts for the comparisons that include equality.
func TestDecide(t *testing.T) {
	t.Parallel()
	above := analysis.Estimate{Estimate: 2, Low: 1.5, High: 2.5}
	below := analysis.Estimate{Estimate: 0, Low: -0.5, High: 0.5}
	around := analysis.Estimate{Estimate: 1.1, Low: 0.5, High: 1.5}
	from := analysis.Estimate{Estimate: 1.5, Low: 1, High: 2}
	upTo := analysis.Estimate{Estimate: 0.5, Low: 0, High: 1}
	exact := analysis.Estimate{Estimate: 1, Low: 1, High: 1}
	none := analysis.Estimate{Estimate: math.NaN(), Low: 2, High: 3}
	for _, tt := range []struct {
		op   string
		want map[*analysis.Estimate]Verdict
	}{
		{">", map[*analysis.Estimate]Verdict{&above: Holds, &below: Refuted, &around: Undecided, &from: Undecided, &upTo: Refuted, &exact: Refuted, &none: Undecided}},
		{">=", map[*analysis.Estimate]Verdict{&above: Holds, &below: Refuted, &around: Undecided, &from: Holds, &upTo: Undecided, &exact: Holds, &none: Undecided}},
		{"<", map[*analysis.Estimate]Verdict{&above: Refuted, &below: Holds, &around: Undecided, &from: Refuted, &upTo: Undecided, &exact: Refuted, &none: Undecided}},
		{"<=", map[*analysis.Estimate]Verdict{&above: Refuted, &below: Holds, &around: Undecided, &from: Undecided, &upTo: Holds, &exact: Holds, &none: Undecided}},
		{"==", map[*analysis.Estimate]Verdict{&above: Refuted, &below: Refuted, &around: Undecided, &from: Undecided, &upTo: Undecided, &exact: Undecided, &none: Undecided}},
	} {
		for v, want := range tt.want {
			if got := decide(*v, tt.op, 1); got != want {
				t.Errorf("%v to %v %s 1: %v, want %v", v.Low, v.High, tt.op, got, want)
			}
		}
	}
}

func TestCompareCounts(t *testing.T) {
	t.Parallel()
	for op, want := range map[string][3]bool{"<": {true, false, false}, "<=": {true, true, false}, ">": {false, false, true}, ">=": {false, true, true}, "==": {false, true, false}} {
		for i, sign := range []int{-1, 0, 1} {
			if got := compare(sign, op); got != want[i] {
				t.Errorf("sign %d %s: %v", sign, op, got)
			}
		}
	}
}

// TestMore: the number of leagues grows with the square of the interval over the gap.
func TestMore(t *testing.T) {
	t.Parallel()
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
		if got := more(&Outcome{Value: tt.value, Bound: 1}, 100); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.value, got, tt.want)
		}
	}
}

// slowEdits is the definition of the edit distance.
func slowEdits(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	cost := 1
	if a[0] == b[0] {
		cost = 0
	}
	return min(slowEdits(a[1:], b)+1, slowEdits(a, b[1:])+1, slowEdits(a[1:], b[1:])+cost)
}

func TestEdits(t *testing.T) {
	t.Parallel()
	if got := edits([]rune("kitten"), []rune("sitting")); got != 3 { // the textbook's example
		t.Errorf("kitten to sitting takes %d", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	word := func() []rune {
		w := make([]rune, r.IntN(6))
		for i := range w {
			w[i] = []rune("abé")[r.IntN(3)]
		}
		return w
	}
	for range 500 {
		a, b := word(), word()
		if got, want := edits(a, b), slowEdits(a, b); got != want || edits(b, a) != want {
			t.Fatalf("%q to %q: %d, want %d", string(a), string(b), got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"random", "markov-2", "markov-3", "mine"}
	for in, want := range map[string]string{"randon": "random", "markov-22": "markov-2", "mien": "mine", "mime": "mine", "x": "", "completely-different": ""} {
		if got := nearest(in, names); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprint("p", i)
	}
	if got := alike("names", "x", many); !strings.HasSuffix(got, "p12, ... (40 in all)") || strings.Contains(got, "p13") {
		t.Errorf("of 40 names: %s", got)
	}
}

// TestEveryNameIsRead: whatever a player is called, the form that a reference prints is
// read as that player's measure again.
func TestEveryNameIsRead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	letters := []rune(`aZ09_-#. "\'é+*(`)
	for range 3000 {
		name := make([]rune, 1+r.IntN(8))
		for i := range name {
			name[i] = letters[r.IntN(len(letters))]
		}
		m := Measures()[r.IntN(len(Measures()))]
		ref := Ref{Player: string(name), Measure: m}
		a, err := Parse(ref.String()+" >= 0.5", []string{string(name), "another"})
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if d := a.difference; len(d.terms) != 1 || d.terms[0].ref.Player != string(name) || d.terms[0].ref.Measure.Name != m.Name {
			t.Fatalf("%s is read as %+v", ref, d.terms)
		}
	}
}

// expression is a random linear expression, with its value if a.points is 3 and
// b.points is -7/2.
func expression(r *rand.Rand, depth int) (string, *big.Rat, bool) {
	if depth == 0 || r.IntN(4) == 0 {
		switch r.IntN(3) {
		case 0:
			return "a.points", big.NewRat(3, 1), true
		case 1:
			return "b.points", big.NewRat(-7, 2), true
		}
		n := int64(1 + r.IntN(9))
		return fmt.Sprint(n), big.NewRat(n, 1), false
	}
	x, v, measured := expression(r, depth-1)
	switch r.IntN(4) {
	case 0:
		y, w, other := expression(r, depth-1)
		return "(" + x + " + " + y + ")", new(big.Rat).Add(v, w), measured || other
	case 1:
		y, w, other := expression(r, depth-1)
		return "(" + x + " - " + y + ")", new(big.Rat).Sub(v, w), measured || other
	case 2:
		n := int64(1 + r.IntN(9))
		return fmt.Sprintf("%d * (%s)", n, x), new(big.Rat).Mul(v, big.NewRat(n, 1)), measured
	}
	n := int64(1 + r.IntN(9))
	return fmt.Sprintf("(%s) / %d", x, n), new(big.Rat).Quo(v, big.NewRat(n, 1)), measured
}

// TestLinearForm: the form that an assertion is brought into has the value of what was
// written, exactly.
func TestLinearForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	values := map[string]*big.Rat{"a": big.NewRat(3, 1), "b": big.NewRat(-7, 2)}
	checked := 0
	for range 2000 {
		left, v, _ := expression(r, 4)
		right, w, _ := expression(r, 4)
		a, err := Parse(left+" < "+right, []string{"a", "b"})
		if err != nil {
			if !strings.Contains(err.Error(), "nothing to judge") {
				t.Fatalf("%s < %s: %v", left, right, err)
			}
			continue
		}
		d := a.difference
		got := new(big.Rat).Set(d.constant)
		for _, term := range d.terms {
			got.Add(got, new(big.Rat).Mul(term.coefficient, values[term.ref.Player]))
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
