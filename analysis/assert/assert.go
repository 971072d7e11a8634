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
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// measures are the names of what a player has: the quantities in their order, then counts.
var measures = func() (names []string) {
	for _, q := range analysis.Quantities() {
		names = append(names, q.String())
	}
	return append(names, "matches", "wins", "draws", "ties", "losses", "technical_losses")
}()

// counts are in the order of [measures]. Ties are also called draws, as in stored records.
func counts(p *analysis.Player) []int64 {
	return []int64{p.Matches, p.Wins, p.Draws, p.Draws, p.Losses, p.TechnicalLosses}
}

// assertion is one statement: a sum of measures with coefficients is compared with a bound.
type assertion struct {
	Outcome // without what depends on the experiment
	terms   []term
	bound   *big.Rat
	joint   *analysis.Joint // of the parts and bases of the terms; nil if they are counted, or one
}

type term struct {
	field, measure int    // indexes of the player and in measures
	count          int    // index in counts, negative for a quantity
	text           string // "mine.adjusted"
	coefficient    *big.Rat
}

// Judge judges assertions about one plan. Feed it each league once, in any order. It is
// for one goroutine at a time.
type Judge struct {
	Estimates  int // assertions about estimates, whose intervals are for a fixed number of leagues
	assertions []assertion
	joined     []assertion // those that have a Joint
	scorer     *analysis.Scorer
}

// NewJudge parses assertions about the players of a plan. Mistakes in them are Errors,
// which suggest the name that nearest returns for one that is not among others.
func NewJudge(plan results.Plan, texts []string, nearest func(name string, names []string) string) (*Judge, error) {
	scorer, err := analysis.NewScorer(plan)
	j := &Judge{scorer: scorer}
	var players []string
	for _, f := range plan.Field {
		players = append(players, f.Name)
	}
	for _, text := range texts {
		a, err := parse(text, players, nearest)
		if err != nil {
			return nil, err
		}
		if !a.Counted {
			j.Estimates++
			if len(a.terms) > 1 { // else the estimates have it
				a.joint, a.Paired = analysis.NewJoint(2*len(a.terms)), true
				j.joined = append(j.joined, a)
			}
		}
		j.assertions = append(j.assertions, a)
	}
	return j, err
}

// Append takes in one league.
func (j *Judge) Append(l *results.League) error {
	if len(j.joined) == 0 {
		return nil
	}
	if err := j.scorer.Score(l); err != nil {
		return fmt.Errorf("judge assertions: %w", err)
	}
	for _, a := range j.joined {
		var values []int64
		for _, t := range a.terms {
			part, base := j.scorer.Value(analysis.Quantity(t.measure), t.field)
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
	e := estimates(1 - (1-level)/float64(max(1, j.Estimates)))
	var list []Outcome
	for _, a := range j.assertions {
		o := a.Outcome
		if o.Counted {
			sum := new(big.Rat)
			for _, t := range a.terms {
				n := new(big.Rat).SetInt64(counts(&e.Players[t.field])[t.count])
				sum.Add(sum, n.Mul(n, t.coefficient))
			}
			x, _ := sum.Float64()
			o.Value = analysis.Estimate{Estimate: x, Low: x, High: x}
			o.Verdict = map[bool]Verdict{true: Holds, false: Refuted}[compare(sum.Cmp(a.bound), a.Op)]
		} else {
			o.Level, o.Value = &e.Level, j.estimated(&a, &e)
			o.Verdict = decide(o.Value, o.Op, o.Bound)
			o.Note = note(&o, &e)
		}
		list = append(list, o)
	}
	return list
}

// compare reports whether a number with this sign relative to the bound fulfils op.
func compare(sign int, op string) bool { return strings.Contains(op, "<=>"[sign+1:sign+2]) }

// estimated returns the interval of a combination; that of one quantity is the report's.
func (j *Judge) estimated(a *assertion, e *analysis.Estimates) analysis.Estimate {
	var terms []analysis.Term
	low, high := 0.0, 0.0
	for i, t := range a.terms {
		f, _ := t.coefficient.Float64()
		if a.joint == nil {
			v := analysis.Quantity(t.measure).Of(&e.Players[t.field])
			v.Estimate, v.Low, v.High = f*v.Estimate, min(f*v.Low, f*v.High), max(f*v.Low, f*v.High)
			return v
		}
		terms = append(terms, analysis.Term{Coefficient: t.coefficient, Part: 2 * i, Base: 2*i + 1})
		l, h := j.scorer.Range(analysis.Quantity(t.measure))
		low, high = low+min(f*l, f*h), high+max(f*l, f*h)
	}
	return a.joint.Combine(terms...).Interval(e.Level, low, high)
}

// decide judges by the whole interval, which never shows that two numbers are equal.
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

// note tells of an undecided assertion also how many leagues a new run needs to decide,
// if the estimate is the true value: with a chance of one half those that make the
// interval as short as the gap.
func note(o *Outcome, e *analysis.Estimates) string {
	gap := math.Abs(o.Value.Estimate - o.Bound)
	half := max(o.Value.Estimate-o.Value.Low, o.Value.High-o.Value.Estimate)
	switch {
	case !o.Value.Defined():
		return "nothing was measured"
	case len(e.Absences()) > 0:
		return "quarantine changed the field in the course of the run"
	case o.Op == "==" && o.Verdict == Undecided:
		return "equality with a number can be refuted but never shown"
	case o.Paired && e.NothingToRank():
		return "two players and a fair draw: both expect the same points"
	case o.Verdict != Undecided || e.Leagues < 2:
		return ""
	case !(half/gap <= 100):
		return "far too close to tell"
	}
	n := float64(e.Leagues) * math.Pow(half/gap, 2)
	likely := 1 + distuv.UnitNormal.Quantile(0.9)/distuv.UnitNormal.Quantile((1+o.Value.Level)/2)
	return fmt.Sprintf("a new run of about %d leagues would decide with a chance of one half, of %d with 90 %%, if the estimate is right",
		words.Roughly(int(math.Ceil(n)), 2), words.Roughly(int(math.Ceil(n*likely*likely)), 2))
}

// Error is a mistake in an assertion, which it shows with a mark below, and a hint.
type Error string

func (e Error) Error() string { return string(e) }

const example = `an assertion reads like: mine.adjusted > random.adjusted + 0.01; names with spaces are in double quotes: "my strat".adjusted`

// A name is a word; minus and dot belong to it where more of a word follows.
const word = `[\p{L}\p{Nd}_](?:[\p{L}\p{Nd}_#]|[-.][\p{L}\p{Nd}_])*`

var (
	operand = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?(?:\s*\.` + word + `)?|\.?` + word)
	number  = regexp.MustCompile(`^(?:\d{1,40}|\d{0,40}\.\d{1,40})(?:[eE]-?\d\d?)?$`) // nobody needs more digits
	// without comments, characters, raw strings and ends at a line break; ^ is the minus after <
	plain = strings.NewReplacer("//", "/$", "/*", "/$", "\n", " ", "\r", " ", "\f", " ", "^", "$", "'", "$", "`", "$", "<-", "<^")
)

// reader reads an assertion by Go's own parser.
type reader struct {
	text    string
	players []string
	nearest func(name string, names []string) string
	err     error  // an [Error]: the first mistake
	terms   []term // that were read, without coefficients
	one     int    // index of the term that is taken as 1, the others being 0; -1 for none
}

// parse reads an assertion about the players of a field, given by name. The error is an
// [Error]. For Go, whose names have no minus, a word of the same length stands for each measure.
func parse(text string, players []string, nearest func(name string, names []string) string) (assertion, error) {
	a, r := assertion{Outcome: Outcome{Text: text}}, reader{text: text, players: players, nearest: nearest, one: -1}
	if len(text) > 4096 { // bytes: it is one line
		r.text = text[:20] + "..."
		r.fail(0, example, "assertion has %d bytes; want at most 4096", len(text))
		return a, r.err
	}
	code := operand.ReplaceAllStringFunc(text, func(s string) string {
		if number.MatchString(s) {
			return s
		}
		return strings.Repeat("x", len(s))
	})
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", plain.Replace(code), parser.SkipObjectResolution)
	if list, _ := err.(scanner.ErrorList); list != nil { // any error is one
		at := min(list[0].Pos.Offset, len(text))
		what := fmt.Sprintf("unexpected %.1q", text[at:])
		if at == len(text) {
			what = "unexpected end"
		}
		if want, _, says := strings.Cut(list[0].Msg, ", found"); says {
			what += ", " + strings.ReplaceAll(want, "'EOF'", "the end")
		}
		r.fail(at, example, "%s", what)
		return a, r.err
	}
	x, _ := ast.Unparen(expr).(*ast.BinaryExpr)
	if x == nil || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL}, x.Op) {
		r.value(expr)
		r.fail(len(text), example, "want a comparison (< <= > >= ==), not the end")
		return a, r.err
	}
	a.Op, x.Op = x.Op.String(), token.SUB       // the difference of the sides
	at, of := int(x.OpPos)-1, map[bool]string{} // an estimate and a count
	for ; r.one < len(r.terms); r.one++ {
		v, _ := r.value(x)
		f, _ := constant.Float64Val(v)
		if math.Abs(f) > 1e200 { // results are floats
			r.fail(at, "write smaller ones", "numbers beyond 1e200")
		}
		if r.err != nil {
			return a, r.err
		}
		value, _ := new(big.Rat).SetString(v.ExactString())
		if r.one < 0 {
			a.Bound, a.bound = 0-f, value.Neg(value)
		} else if value.Add(value, a.bound).Sign() != 0 { // else it cancels
			r.terms[r.one].coefficient = value
			a.terms = append(a.terms, r.terms[r.one])
		}
	}
	for _, t := range a.terms {
		f, _ := t.coefficient.Float64()
		a.Of += map[int]string{1: " + ", -1: " - "}[t.coefficient.Sign()]
		if math.Abs(f) != 1 {
			a.Of += fmt.Sprintf("%.6g * ", math.Abs(f))
		}
		a.Of += t.text
		a.Counted = t.count >= 0
		of[a.Counted] = t.text
	}
	a.Of = strings.TrimPrefix(strings.TrimPrefix(a.Of, " + "), " ")
	switch len(of) {
	case 0:
		r.fail(at, example, "nothing to judge: both sides are equal whatever the experiment shows")
	case 2:
		r.fail(at, "write two assertions", "%s is a count and %s an estimate; one comparison cannot have both", of[true], of[false])
	}
	return a, r.err
}

// fail keeps the first mistake, and returns something to go on with.
func (r *reader) fail(offset int, hint, format string, args ...any) (value constant.Value, measured bool) {
	if r.err == nil {
		before := len([]rune(r.text[:offset]))
		r.err = Error(fmt.Sprintf("column %d: %s\n    %s\n    %s^\n  %s",
			before+1, fmt.Sprintf(format, args...), words.Printable(r.text), strings.Repeat(" ", before), hint))
	}
	return constant.MakeUnknown(), false
}

// value computes an expression, exactly, and reports whether it has measures.
func (r *reader) value(expr ast.Expr) (value constant.Value, measured bool) {
	switch x := ast.Unparen(expr).(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(x.Value, token.FLOAT, 0), false // a whole one, too, so that 010 is ten
	case *ast.Ident:
		return r.measure(int(x.Pos())-1, r.text[x.Pos()-1:x.End()-1])
	case *ast.UnaryExpr:
		if sign := map[token.Token]int64{token.ADD: 1, token.SUB: -1, token.XOR: -1}[x.Op]; sign != 0 { // XOR for [plain]
			value, measured = r.value(x.X)
			return constant.BinaryOp(constant.MakeInt64(sign), token.MUL, value), measured
		}
	case *ast.BinaryExpr:
		left, of := r.value(x.X)
		right, by := r.value(x.Y)
		if x.Op == token.ADD || x.Op == token.SUB || x.Op == token.MUL && !(of && by) || x.Op == token.QUO && !by && constant.Sign(right) != 0 {
			return constant.BinaryOp(left, x.Op, right), of || by
		}
		return r.fail(int(x.OpPos)-1, example, "this %s does not fit: one comparison, between measures that are added, subtracted, and multiplied or divided by a number other than 0", x.Op)
	}
	return r.fail(int(ast.Unparen(expr).Pos())-1, example, "want a number or PLAYER.MEASURE, and + - * / between two")
}

// measure reads a player's measure.
func (r *reader) measure(offset int, text string) (value constant.Value, measured bool) {
	player, name := text, ""
	if end := strings.LastIndexByte(text, '"'); end >= 0 {
		var err error
		if player, err = strconv.Unquote(text[:end+1]); err != nil {
			return r.fail(offset, `\" and \\ stand for " and \ in a name`, "unclosed quotation mark, or a name that cannot be read")
		}
		name = strings.TrimLeft(text[end+1:], " \t\n\r\f.")
	} else if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		player, name = text[:dot], text[dot+1:]
	}
	i, k := slices.Index(r.players, player), slices.Index(measures, name)
	switch {
	case name == "":
		return r.fail(offset, "the measures are "+strings.Join(measures, ", "), "want a number or PLAYER.MEASURE, not '%s'", text)
	case i < 0:
		return r.fail(offset, r.among("players", player, r.players), "no player %q in this field", player)
	case k < 0:
		return r.fail(offset+len(text)-len(name), r.among("measures", name, measures), "no measure %q", name)
	}
	at := slices.IndexFunc(r.terms, func(t term) bool { return t.field == i && t.measure == k })
	if at < 0 {
		at, r.terms = len(r.terms), append(r.terms, term{field: i, measure: k, count: k - len(analysis.Quantities()), text: text})
	}
	return constant.MakeInt64(map[bool]int64{true: 1}[at == r.one]), true
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
