// Package assert judges statements about an experiment, such as
//
//	mine.adjusted > random.adjusted + 0.01
//	"my strat".win_rate >= 0.3
//	mine.technical_losses == 0
//
// A statement about counts is true or false. A statement about estimates holds if the
// whole interval of its left side minus its right side says so, is refuted if the whole
// interval says the opposite, and is undecided otherwise: then it needs more leagues.
// What both sides have in common cancels, because the difference is computed within
// each league. Several statements are adjusted for their number: the chance that any
// verdict is wrong is at most one minus the level.
package assert

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// Verdict is what an experiment has shown about an assertion.
type Verdict string

const (
	Undecided Verdict = "undecided" // too few leagues to tell
	Holds     Verdict = "holds"
	Refuted   Verdict = "refuted"
)

// Outcome is an assertion with its verdict and the evidence.
type Outcome struct {
	Text    string            `json:"assertion"`
	Verdict Verdict           `json:"verdict"`
	Counted bool              `json:"counted"` // the value is a count, not an estimate
	Of      string            `json:"of"`      // what was compared with Bound: "mine.adjusted - random.adjusted"
	Op      string            `json:"op"`
	Bound   float64           `json:"bound"`
	Value   analysis.Estimate `json:"value"`  // of it; the interval of a count is the count
	Level   *float64          `json:"level"`  // of the interval, adjusted for several assertions; nil for counts
	Paired  bool              `json:"paired"` // computed within each league
	Note    string            `json:"note"`   // a caveat; may be empty
}

// measure is a number of a player: a count, or an estimated quantity.
type measure struct {
	name     string
	quantity analysis.Quantity
	count    func(p *analysis.Player) int64 // nil for a quantity
}

// measures are the estimated ones first. Ties are also called draws, as in stored records.
var measures = func() (list []measure) {
	for _, q := range analysis.Quantities() {
		list = append(list, measure{name: q.String(), quantity: q})
	}
	ties := func(p *analysis.Player) int64 { return p.Draws }
	return append(list,
		measure{"matches", 0, func(p *analysis.Player) int64 { return p.Matches }},
		measure{"wins", 0, func(p *analysis.Player) int64 { return p.Wins }},
		measure{"draws", 0, ties}, measure{"ties", 0, ties},
		measure{"losses", 0, func(p *analysis.Player) int64 { return p.Losses }},
		measure{"technical_losses", 0, func(p *analysis.Player) int64 { return p.TechnicalLosses }})
}()

// assertion is one statement: the left side minus the right, a constant and a sum of
// measures with coefficients, is compared with zero.
type assertion struct {
	text, op string // op is "<", "<=", ">", ">=" or "=="
	constant *big.Rat
	terms    []term
	joint    *analysis.Joint // of the parts and bases of the terms; nil if they are counted, or one
}

type term struct {
	measure
	field       int    // index of the player
	text        string // "mine.adjusted"
	coefficient *big.Rat
}

// of says what is measured: "mine.adjusted - random.adjusted".
func (a *assertion) of() (text string) {
	for _, t := range a.terms {
		text += map[int]string{1: " + ", -1: " - "}[t.coefficient.Sign()]
		if f, _ := t.coefficient.Float64(); math.Abs(f) != 1 {
			text += fmt.Sprintf("%.6g * ", math.Abs(f))
		}
		text += t.text
	}
	if rest, negative := strings.CutPrefix(text, " - "); negative {
		return "-" + rest
	}
	return strings.TrimPrefix(text, " + ")
}

// Judge judges assertions about one plan. Feed it each league once, in any order. It is
// for one goroutine at a time.
type Judge struct {
	assertions []assertion
	estimates  int // assertions about estimates
	scorer     *analysis.Scorer
}

// NewJudge parses assertions about the players of a plan. Mistakes in them are *Errors,
// which suggest the name that nearest returns for one that is not among others.
func NewJudge(plan results.Plan, texts []string, nearest func(name string, names []string) string) (*Judge, error) {
	j, r := new(Judge), reader{nearest: nearest}
	for _, f := range plan.Field {
		r.players = append(r.players, f.Name)
	}
	for _, text := range texts {
		a, err := r.parse(text)
		if err != nil {
			return nil, err
		}
		if a.terms[0].count == nil {
			j.estimates++
			if len(a.terms) > 1 { // else the estimates have it
				a.joint = analysis.NewJoint(2 * len(a.terms))
			}
		}
		j.assertions = append(j.assertions, a)
	}
	var err error
	j.scorer, err = analysis.NewScorer(plan)
	return j, err
}

// Estimated reports whether any assertion is about estimates. Their intervals are for a
// fixed number of leagues.
func (j *Judge) Estimated() bool { return j.estimates > 0 }

// Append takes in one league.
func (j *Judge) Append(l *results.League) error {
	if !slices.ContainsFunc(j.assertions, func(a assertion) bool { return a.joint != nil }) {
		return nil
	}
	if err := j.scorer.Score(l); err != nil {
		return fmt.Errorf("judge assertions: %w", err)
	}
	for _, a := range j.assertions {
		if a.joint == nil {
			continue
		}
		var values []int64
		for _, t := range a.terms {
			part, base := j.scorer.Value(t.quantity, t.field)
			values = append(values, part, base)
		}
		a.joint.Add(values)
	}
	return nil
}

// Outcomes judges all assertions. The function estimates must return those of the
// appended leagues at the level it is given. The chance that any verdict is wrong is at
// most 1-level.
func (j *Judge) Outcomes(estimates func(level float64) analysis.Estimates, level float64) []Outcome {
	if len(j.assertions) == 0 {
		return nil
	}
	e := estimates(1 - (1-level)/float64(max(1, j.estimates)))
	list := make([]Outcome, len(j.assertions))
	for i, a := range j.assertions {
		o := &list[i]
		*o = Outcome{Text: a.text, Of: a.of(), Op: a.op}
		bound := new(big.Rat).Neg(a.constant)
		o.Bound, _ = bound.Float64()
		if a.terms[0].count != nil {
			count := new(big.Rat)
			for _, t := range a.terms {
				n := new(big.Rat).SetInt64(t.count(&e.Players[t.field]))
				count.Add(count, n.Mul(n, t.coefficient))
			}
			x, _ := count.Float64()
			o.Counted, o.Value = true, analysis.Estimate{Estimate: x, Low: x, High: x}
			o.Verdict = map[bool]Verdict{true: Holds, false: Refuted}[compare(count.Cmp(bound), a.op)]
			continue
		}
		o.Level, o.Value, o.Paired = &e.Level, j.estimated(&a, &e), a.joint != nil
		o.Verdict = decide(o.Value, o.Op, o.Bound)
		o.Note = note(o, &e)
	}
	return list
}

// compare reports whether a number with this sign relative to the bound fulfils op.
func compare(sign int, op string) bool { return strings.Contains(op, "<=>"[sign+1:sign+2]) }

// estimated returns the interval of a combination. One quantity of one player has its
// interval from the report.
func (j *Judge) estimated(a *assertion, e *analysis.Estimates) analysis.Estimate {
	var terms []analysis.Term
	low, high := 0.0, 0.0
	for i, t := range a.terms {
		f, _ := t.coefficient.Float64()
		if a.joint == nil {
			v := t.quantity.Of(&e.Players[t.field])
			return analysis.Estimate{Estimate: f * v.Estimate, Low: min(f*v.Low, f*v.High), High: max(f*v.Low, f*v.High)}
		}
		terms = append(terms, analysis.Term{Coefficient: t.coefficient, Part: 2 * i, Base: 2*i + 1})
		l, h := j.scorer.Range(t.quantity)
		low, high = low+min(f*l, f*h), high+max(f*l, f*h)
	}
	return a.joint.Combine(terms...).Interval(e.Level, low, high)
}

// decide judges by the whole interval. An interval never shows that two numbers are
// equal.
func decide(v analysis.Estimate, op string, bound float64) Verdict {
	low, high := cmp.Compare(v.Low, bound), cmp.Compare(v.High, bound)
	switch {
	case !v.Defined() || op == "==" && low <= 0 && high >= 0:
	case compare(low, op) && compare(high, op):
		return Holds
	case !compare(low, op) && !compare(high, op):
		return Refuted
	}
	return Undecided
}

func note(o *Outcome, e *analysis.Estimates) string {
	switch {
	case !o.Value.Defined():
		return "nothing was measured"
	case o.Op == "==" && o.Verdict == Undecided:
		return "equality with a number can be refuted but never shown"
	case o.Paired && e.NothingToRank():
		return "two players and a fair draw: both expect the same points"
	case o.Verdict == Undecided && e.Leagues >= 2:
		return more(o, e.Leagues)
	}
	return ""
}

// more says how many leagues a new run needs to decide, if the estimate is the true
// value: with a chance of one half those that make the interval as short as the gap.
func more(o *Outcome, leagues int) string {
	gap := math.Abs(o.Value.Estimate - o.Bound)
	half := max(o.Value.Estimate-o.Value.Low, o.Value.High-o.Value.Estimate)
	if gap == 0 || half/gap > 100 {
		return "far too close to tell"
	}
	const digits = 100 // two, rounded up: it is a guess
	n := float64(leagues) * half * half / (gap * gap)
	z := distuv.UnitNormal.Quantile((1 + o.Value.Level) / 2)
	likely := 1 + distuv.UnitNormal.Quantile(0.9)/z
	rounded := func(n float64) float64 {
		unit := max(1, math.Pow(10, math.Ceil(math.Log10(n/digits))))
		return math.Ceil(n/unit) * unit
	}
	return fmt.Sprintf("a new run of about %.0f leagues would decide with a chance of one half, of %.0f with 90 %%, if the estimate is right",
		rounded(n), rounded(n*likely*likely))
}

// Error is a mistake in an assertion.
type Error struct {
	Text   string // the assertion
	Column int    // where, in characters from 1
	What   string
	Hint   string // what to do about it; may be empty
}

// Error returns the assertion with a mark below the mistake.
func (e *Error) Error() string {
	msg := fmt.Sprintf("column %d: %s\n    %s\n    %s^", e.Column, e.What, words.Printable(e.Text), strings.Repeat(" ", max(0, e.Column-1)))
	if e.Hint != "" {
		msg += "\n  " + e.Hint
	}
	return msg
}

const (
	maxText = 4096 // bytes: an assertion is one line
	opHint  = "an assertion reads like: mine.adjusted > random.adjusted + 0.01"
)

// A name is a word; minus and dot belong to it where more of a word follows.
const word = `[\p{L}\p{Nd}_](?:[\p{L}\p{Nd}_#]|[-.][\p{L}\p{Nd}_])*`

var (
	operand = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?(?:\s*\.` + word + `)?|\.?` + word)
	number  = regexp.MustCompile(`^(?:\d{1,40}|\d{0,40}\.\d{1,40})(?:[eE]-?\d\d?)?$`) // nobody needs more digits
	// Go's comments are none here, no line ends at a break, and the minus after < is a sign
	// as well: Go has ^ there.
	plain = strings.NewReplacer("//", "/$", "/*", "/$", "\n", " ", "\r", " ", "\f", " ", "^", "$", "<-", "<^")
)

// reader reads an assertion by Go's own parser.
type reader struct {
	text    string
	players []string
	nearest func(name string, names []string) string
	err     *Error // the first mistake
	terms   []term // that were read, without coefficients
	one     int    // index of the measure that is taken as 1, the others being 0; -1 for none
}

// parse reads an assertion about the players of a field, given by name. The error is an
// *Error. For Go, whose names have no minus, a word of the same length stands for each measure.
func (r *reader) parse(text string) (assertion, error) {
	a := assertion{text: text}
	r.text, r.err, r.terms, r.one = text, nil, nil, -1
	if len(text) > maxText {
		return a, &Error{Text: text[:20] + "...", Column: 1, What: fmt.Sprintf("assertion has %d bytes; want at most %d", len(text), maxText)}
	}
	code := operand.ReplaceAllStringFunc(text, func(s string) string {
		if number.MatchString(s) {
			return s
		}
		return strings.Repeat("x", len(s))
	})
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", plain.Replace(code), parser.SkipObjectResolution)
	if list, _ := err.(scanner.ErrorList); list != nil { // any error is one
		r.unexpected(min(list[0].Pos.Offset, len(text)), list[0].Msg)
		return a, r.err
	}
	x, _ := ast.Unparen(expr).(*ast.BinaryExpr)
	if x == nil || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL}, x.Op) {
		r.value(expr)
		r.fail(len(text), opHint, "want a comparison (< <= > >= ==), not the end")
		return a, r.err
	}
	difference := func() *big.Rat {
		left, _ := r.value(x.X)
		right, _ := r.value(x.Y)
		return left.Sub(left, right)
	}
	a.op, a.constant = x.Op.String(), difference()
	for k, t := range r.terms {
		r.one = k
		t.coefficient = difference()
		if t.coefficient.Sub(t.coefficient, a.constant).Sign() != 0 { // else it cancels
			a.terms = append(a.terms, t)
		}
	}
	if len(a.terms) == 0 {
		r.fail(int(x.OpPos)-1, opHint, "nothing to judge: both sides are equal whatever the experiment shows")
	}
	of := map[bool]string{} // an estimate and a count
	for _, t := range a.terms {
		of[t.count != nil] = t.text
	}
	if len(of) == 2 {
		r.fail(int(x.OpPos)-1, "write two assertions", "%s is a count and %s an estimate; one comparison cannot have both", of[true], of[false])
	}
	if r.err != nil {
		return a, r.err
	}
	return a, nil
}

// fail keeps the first mistake, and returns something to go on with.
func (r *reader) fail(offset int, hint, format string, args ...any) (value *big.Rat, measured bool) {
	if r.err == nil {
		r.err = &Error{Text: r.text, Column: 1 + utf8.RuneCountInString(r.text[:offset]), What: fmt.Sprintf(format, args...), Hint: hint}
	}
	return new(big.Rat), false
}

// unexpected says what Go's parser does not take.
func (r *reader) unexpected(at int, msg string) {
	c, _ := utf8.DecodeRuneInString(r.text[at:])
	what, not, hint := "unexpected", fmt.Sprintf("%q", c), opHint
	if at == len(r.text) {
		not = "the end"
	}
	switch {
	case c == '\'':
		hint = `put names with spaces in double quotes: "my strat".adjusted`
	case strings.Contains(msg, "expected ')'"):
		what = "want a closing parenthesis, not"
	case strings.Contains(msg, "expected operand"):
		what = "want a number or PLAYER.MEASURE, not"
	}
	r.fail(at, hint, "%s %s", what, not)
}

// value computes an expression, and reports whether it has measures.
func (r *reader) value(expr ast.Expr) (value *big.Rat, measured bool) {
	at, end := int(expr.Pos())-1, int(expr.End())-1
	switch x := expr.(type) {
	case *ast.BasicLit:
		if value, ok := new(big.Rat).SetString(x.Value); ok {
			return value, false
		}
	case *ast.Ident:
		return r.measure(at, r.text[at:end])
	case *ast.ParenExpr:
		return r.value(x.X)
	case *ast.UnaryExpr:
		switch x.Op {
		case token.ADD:
			return r.value(x.X)
		case token.SUB, token.XOR: // for [plain]
			value, measured = r.value(x.X)
			return value.Neg(value), measured
		}
	case *ast.BinaryExpr:
		left, of := r.value(x.X)
		right, by := r.value(x.Y)
		switch value = new(big.Rat); {
		case x.Op == token.ADD:
			return value.Add(left, right), of || by
		case x.Op == token.SUB:
			return value.Sub(left, right), of || by
		case x.Op == token.MUL && !(of && by):
			return value.Mul(left, right), of || by
		case x.Op == token.QUO && !by && right.Sign() != 0:
			return value.Quo(left, right), of
		}
		return r.fail(int(x.OpPos)-1, opHint, "this %s does not fit: one comparison, between measures that are added, subtracted, and multiplied or divided by a number other than 0", x.Op)
	}
	return r.fail(at, opHint, "want a number or PLAYER.MEASURE, and + - * / between two")
}

// measure reads a player's measure.
func (r *reader) measure(offset int, text string) (value *big.Rat, measured bool) {
	player, name := text, ""
	if end := strings.LastIndexByte(text, '"'); end >= 0 {
		var err error
		if player, err = strconv.Unquote(text[:end+1]); err != nil {
			return r.fail(offset, `\" and \\ stand for " and \ in a name`, "unclosed quotation mark, or a name that cannot be read")
		}
		name = strings.TrimLeft(text[end+1:], " \t\n\r\f.")
	} else if cut := strings.LastIndexByte(text, '.'); cut >= 0 {
		player, name = text[:cut], text[cut+1:]
	}
	var known []string
	for _, m := range measures {
		known = append(known, m.name)
	}
	i, k := slices.Index(r.players, player), slices.Index(known, name)
	switch {
	case name == "":
		return r.fail(offset, "the measures are "+strings.Join(known, ", "), "want a number or PLAYER.MEASURE, not '%s'", text)
	case i < 0:
		return r.fail(offset, r.among("players", player, r.players), "no player %q in this field", player)
	case k < 0:
		return r.fail(offset+len(text)-len(name), r.among("measures", name, known), "no measure %q", name)
	}
	at := slices.IndexFunc(r.terms, func(t term) bool { return t.field == i && t.name == name })
	if at < 0 {
		at, r.terms = len(r.terms), append(r.terms, term{measures[k], i, text, nil})
	}
	value = new(big.Rat)
	if at == r.one {
		value.SetInt64(1)
	}
	return value, true
}

// among lists the names that there are, for one that is not among them.
func (r *reader) among(what, name string, names []string) string {
	hint := "the " + what + " are " + words.List(names, "and", 13)
	if like := r.nearest(name, names); like != "" {
		hint = "did you mean " + like + "? " + hint
	}
	if strings.Contains(name, "-") {
		hint += "; put spaces around a minus"
	}
	return hint
}
