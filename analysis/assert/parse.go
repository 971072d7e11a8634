package assert

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// Ref is one player's measure in an assertion.
type Ref struct {
	Player  string
	Measure Measure
}

// Assertion is one statement: left side, comparison, right side.
type Assertion struct {
	Text  string
	Op    string // "<", "<=", ">", ">=" or "=="
	left  linear
	right linear
}

// linear is a constant and a sum of measures with coefficients.
type linear struct {
	constant *big.Rat
	terms    []term
}

type term struct {
	ref         Ref
	coefficient *big.Rat
}

// Limits on the input: an assertion is one line.
const (
	maxText  = 4096
	maxDepth = 100
)

// Parse parses an assertion about the players of a field, given by name. The error is
// an *Error.
func Parse(text string, players []string) (Assertion, error) {
	if len(text) > maxText {
		return Assertion{}, &Error{Text: text[:20] + "...", Column: 1, What: fmt.Sprintf("assertion has %d bytes; want at most %d", len(text), maxText)}
	}
	tokens, err := lex(text)
	if err != nil {
		return Assertion{}, err
	}
	p := &parser{text: text, tokens: tokens, players: players}
	return p.assertion()
}

type parser struct {
	text    string
	tokens  []token
	players []string
	depth   int
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) isSign(signs ...string) bool {
	t := p.peek()
	return t.kind == sign && slices.Contains(signs, t.text)
}

func (p *parser) fail(at token, hint, format string, args ...any) error {
	return &Error{Text: p.text, Column: at.column, What: fmt.Sprintf(format, args...), Hint: hint}
}

const opHint = "an assertion reads like: mine.adjusted > random.adjusted + 0.01"

func (p *parser) assertion() (Assertion, error) {
	a := Assertion{Text: p.text}
	var err error
	if a.left, err = p.sum(); err != nil {
		return a, err
	}
	if !p.isSign("<", "<=", ">", ">=", "==") {
		return a, p.fail(p.peek(), opHint, "want a comparison (< <= > >= ==), not %s", p.peek())
	}
	at := p.take()
	a.Op = at.text
	if a.right, err = p.sum(); err != nil {
		return a, err
	}
	if t := p.peek(); t.kind != end {
		return a, p.fail(t, opHint, "want the end of the assertion, not %s", t)
	}
	return a, p.check(&a, at)
}

// check rejects what no data can decide.
func (p *parser) check(a *Assertion, at token) error {
	d := a.difference()
	if len(d.terms) == 0 {
		return p.fail(at, opHint, "nothing to judge: both sides are equal whatever the experiment shows")
	}
	for _, t := range d.terms {
		if t.ref.Measure.Counted != d.terms[0].ref.Measure.Counted {
			return p.fail(at, "write two assertions", "%s is a count and %s an estimate; one comparison cannot have both",
				counted(d.terms, true), counted(d.terms, false))
		}
	}
	return nil
}

func counted(terms []term, want bool) string {
	for _, t := range terms {
		if t.ref.Measure.Counted == want {
			return t.ref.String()
		}
	}
	return ""
}

// String returns the form that the parser reads.
func (r Ref) String() string {
	if n := wordLength(r.Player); startsWord(r.Player) && n == len(r.Player) {
		return r.Player + "." + r.Measure.Name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.Player) + `".` + r.Measure.Name
}

func (p *parser) sum() (linear, error) {
	total, err := p.product()
	for err == nil && p.isSign("+", "-") {
		minus := p.take().text == "-"
		var next linear
		if next, err = p.product(); err == nil {
			if minus {
				next = next.times(big.NewRat(-1, 1))
			}
			total = total.plus(next)
		}
	}
	return total, err
}

func (p *parser) product() (linear, error) {
	value, err := p.factor()
	for err == nil && p.isSign("*", "/") {
		op := p.take()
		var next linear
		if next, err = p.factor(); err != nil {
			break
		}
		switch {
		case op.text == "/" && len(next.terms) > 0:
			err = p.fail(op, "multiply the other side instead", "cannot divide by a measure")
		case op.text == "/" && next.constant.Sign() == 0:
			err = p.fail(op, "", "division by zero")
		case op.text == "/":
			value = value.times(new(big.Rat).Inv(next.constant))
		case len(next.terms) == 0:
			value = value.times(next.constant)
		case len(value.terms) == 0:
			value = next.times(value.constant)
		default:
			err = p.fail(op, "", "cannot multiply two measures: one factor must be a number")
		}
	}
	return value, err
}

func (p *parser) factor() (linear, error) {
	p.depth++
	defer func() { p.depth-- }()
	t := p.take()
	switch {
	case p.depth > maxDepth:
		return linear{}, p.fail(t, "", "nested more than %d levels deep", maxDepth)
	case t.kind == sign && (t.text == "-" || t.text == "+"):
		value, err := p.factor()
		if err == nil && t.text == "-" {
			value = value.times(big.NewRat(-1, 1))
		}
		return value, err
	case t.kind == sign && t.text == "(":
		value, err := p.sum()
		if err == nil && !p.isSign(")") {
			err = p.fail(p.peek(), "", "want ) for the one opened at column %d, not %s", t.column, p.peek())
		}
		if err == nil {
			p.take()
		}
		return value, err
	case t.kind == quoted:
		return p.quotedRef(t)
	case t.kind == word:
		return p.word(t)
	}
	return linear{}, p.fail(t, opHint, "want a number or PLAYER.MEASURE, not %s", t)
}

// Numbers are short: nobody needs a threshold of ten thousand digits.
const maxNumber = 40

// word parses a number or a player's measure.
func (p *parser) word(t token) (linear, error) {
	if _, err := strconv.ParseFloat(t.text, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && strings.ContainsAny(t.text[:1], ".0123456789") {
		value, ok := new(big.Rat), false
		if len(t.text) <= maxNumber && smallExponent(t.text) {
			value, ok = value.SetString(t.text)
		}
		if !ok {
			return linear{}, p.fail(t, "write it as 0.01", "unusable number '%s'", t.text)
		}
		return linear{constant: value}, nil
	}
	cut := strings.LastIndexByte(t.text, '.')
	if cut < 0 {
		return linear{}, p.unfinished(t, t.text)
	}
	return p.ref(t, t.text[:cut], token{word, t.text[cut+1:], t.column + len([]rune(t.text[:cut+1]))})
}

// smallExponent rejects short constants that stand for numbers of many digits.
func smallExponent(s string) bool {
	_, exponent, found := strings.Cut(strings.ToLower(s), "e")
	if !found {
		return !strings.ContainsAny(strings.ToLower(s), "xp_")
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n >= -30 && n <= 30 && !strings.ContainsAny(strings.ToLower(s), "xp_")
}

func (p *parser) quotedRef(t token) (linear, error) {
	next := p.peek()
	if next.kind != word || !strings.HasPrefix(next.text, ".") {
		return linear{}, p.unfinished(t, t.text)
	}
	p.take()
	return p.ref(t, t.text, token{word, next.text[1:], next.column + 1})
}

// unfinished is a name without a measure.
func (p *parser) unfinished(t token, name string) error {
	if _, known := measureNamed(name); known {
		return p.fail(t, "write PLAYER."+name, "%s needs a player", name)
	}
	return p.fail(t, "the measures are "+measureNames(), "want a number or PLAYER.MEASURE, not %s", t)
}

func (p *parser) ref(t token, player string, m token) (linear, error) {
	if !slices.Contains(p.players, player) {
		return linear{}, p.fail(t, p.playerHint(player), "no player %q in this field", player)
	}
	measure, ok := measureNamed(m.text)
	if !ok {
		hint := "the measures are " + measureNames()
		if like := nearest(m.text, measureList()); like != "" {
			hint = fmt.Sprintf("did you mean %s? %s", like, hint)
		}
		return linear{}, p.fail(m, hint, "no measure %q", m.text)
	}
	return linear{constant: new(big.Rat), terms: []term{{Ref{player, measure}, big.NewRat(1, 1)}}}, nil
}

func (p *parser) playerHint(name string) string {
	for _, q := range p.players {
		if strings.HasPrefix(name, q) && strings.ContainsAny(name[len(q):], "-") {
			return "put spaces around a minus between two players"
		}
	}
	hint := "the players are " + someOf(p.players)
	if like := nearest(name, p.players); like != "" {
		hint = fmt.Sprintf("did you mean %s? %s", like, hint)
	}
	return hint
}

// Measure is a number of a player: a count, or an estimated quantity.
type Measure struct {
	Name     string
	Counted  bool
	Quantity analysis.Quantity // if it is estimated
	count    func(p *analysis.Player) int64
}

// Measures returns all measures, the estimated ones first. Ties are also called draws,
// as in stored records.
func Measures() []Measure {
	var list []Measure
	for _, q := range analysis.Quantities() {
		list = append(list, Measure{Name: q.String(), Quantity: q})
	}
	counted := func(name string, count func(p *analysis.Player) int64) {
		list = append(list, Measure{Name: name, Counted: true, count: count})
	}
	counted("matches", func(p *analysis.Player) int64 { return p.Matches })
	counted("wins", func(p *analysis.Player) int64 { return p.Wins })
	counted("draws", func(p *analysis.Player) int64 { return p.Draws })
	counted("ties", func(p *analysis.Player) int64 { return p.Draws })
	counted("losses", func(p *analysis.Player) int64 { return p.Losses })
	counted("technical_losses", func(p *analysis.Player) int64 { return p.TechnicalLosses })
	return list
}

func measureNamed(name string) (Measure, bool) {
	for _, m := range Measures() {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}
