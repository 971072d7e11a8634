package assert

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// linear is a constant and a sum of measures with coefficients.
type linear struct {
	constant *big.Rat
	terms    []term
}

type term struct {
	ref         Ref
	coefficient *big.Rat
}

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
	out := linear{new(big.Rat).Add(l.constant, o.constant), slices.Clone(l.terms)}
	for _, t := range o.terms {
		k := slices.IndexFunc(out.terms, func(have term) bool {
			return have.ref.Player == t.ref.Player && have.ref.Measure.Name == t.ref.Measure.Name
		})
		if k < 0 {
			out.terms = append(out.terms, t)
			continue
		}
		out.terms[k].coefficient = new(big.Rat).Add(out.terms[k].coefficient, t.coefficient)
	}
	out.terms = slices.DeleteFunc(out.terms, func(t term) bool { return t.coefficient.Sign() == 0 })
	return out
}

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

// alike lists names for a hint, the one most like a mistaken name first.
func alike(what, mistaken string, names []string) string {
	const most = 13
	hint := fmt.Sprintf("the %s are %s", what, strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		hint += fmt.Sprintf(", ... (%d in all)", len(names))
	}
	if like := nearest(mistaken, names); like != "" {
		hint = fmt.Sprintf("did you mean %s? %s", like, hint)
	}
	return hint
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
