package assert

import (
	"fmt"
	"math/big"
	"strings"
)

func (l linear) times(f *big.Rat) linear {
	out := linear{constant: new(big.Rat).Mul(l.constant, f)}
	for _, t := range l.terms {
		if c := new(big.Rat).Mul(t.coefficient, f); c.Sign() != 0 {
			out.terms = append(out.terms, term{t.ref, c})
		}
	}
	return out
}

// plus adds, and drops what cancels.
func (l linear) plus(o linear) linear {
	out := linear{constant: new(big.Rat).Add(l.constant, o.constant)}
	for _, t := range append(append([]term{}, l.terms...), o.terms...) {
		out.add(t)
	}
	kept := out.terms[:0]
	for _, t := range out.terms {
		if t.coefficient.Sign() != 0 {
			kept = append(kept, t)
		}
	}
	out.terms = kept
	return out
}

func (l *linear) add(t term) {
	for i, have := range l.terms {
		if have.ref.Player == t.ref.Player && have.ref.Measure.Name == t.ref.Measure.Name {
			l.terms[i].coefficient = new(big.Rat).Add(have.coefficient, t.coefficient)
			return
		}
	}
	l.terms = append(l.terms, t)
}

// difference is the left side minus the right.
func (a *Assertion) difference() linear { return a.left.plus(a.right.times(big.NewRat(-1, 1))) }

// String says what is measured: "mine.adjusted - random.adjusted".
func (l linear) String() string {
	var b strings.Builder
	for i, t := range l.terms {
		c := new(big.Rat).Abs(t.coefficient)
		switch {
		case i > 0 && t.coefficient.Sign() < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		case t.coefficient.Sign() < 0:
			b.WriteString("-")
		}
		if c.Cmp(big.NewRat(1, 1)) != 0 {
			f, _ := c.Float64()
			fmt.Fprintf(&b, "%.6g * ", f)
		}
		b.WriteString(t.ref.String())
	}
	return b.String()
}

func measureList() []string {
	var names []string
	for _, m := range Measures() {
		names = append(names, m.Name)
	}
	return names
}

func measureNames() string { return strings.Join(measureList(), ", ") }

// someOf lists the first names of many.
func someOf(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, ... (%d in all)", strings.Join(names[:most], ", "), len(names))
}

// nearest returns the name most like s, if at most a third of its letters differ.
func nearest(s string, names []string) string {
	best, distance := "", len([]rune(s))/3+1
	for _, n := range names {
		if d := edits([]rune(s), []rune(n)); d <= distance && (best == "" || d < edits([]rune(s), []rune(best))) {
			best = n
		}
	}
	return best
}

// edits is the number of letters to insert, delete or replace (V. I. Levenshtein,
// Soviet Physics Doklady 10 (1966), 707-710).
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
