package assert

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// Ref is one player's measure in an assertion.
type Ref struct {
	Player  string
	Measure Measure
}

// Assertion is one statement: left side, comparison, right side.
type Assertion struct {
	Text       string
	Op         string // "<", "<=", ">", ">=" or "=="
	difference linear // the left side minus the right
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
	// Nobody needs a threshold of ten thousand digits.
	maxNumber, maxExponent = 40, 30

	opHint = "an assertion reads like: mine.adjusted > random.adjusted + 0.01"
)

// A name is a word; minus and dot belong to it where more of a word follows.
const word = `[\p{L}\p{Nd}_](?:[\p{L}\p{Nd}_#]|[-.][\p{L}\p{Nd}_])*`

var (
	lexeme = regexp.MustCompile(`^(?:\s+|<=|>=|==|[-<>+*/()]|"(?:[^"\\]|\\.)*"?(?:\s*\.` + word + `)?|\.?` + word + `)`)
	bare   = regexp.MustCompile(`^` + word + `$`)
	number = regexp.MustCompile(`^(?:\d+\.?\d*|\.\d+)(?:[eE](-?\d+))?$`)
)

// reader turns an assertion into an expression of Go, in which operands stand for numbers and
// measures, so that Go's own parser reads it.
type reader struct {
	text     string
	players  []string
	code     []byte
	at       []int // offsets in text of the bytes of code, and of its end
	operands map[string]linear
}

// Parse parses an assertion about the players of a field, given by name. The error is
// an *Error.
func Parse(text string, players []string) (Assertion, error) {
	a := Assertion{Text: text}
	if len(text) > maxText {
		return a, &Error{Text: text[:20] + "...", Column: 1, What: fmt.Sprintf("assertion has %d bytes; want at most %d", len(text), maxText)}
	}
	r := &reader{text: text, players: players, operands: map[string]linear{}}
	if err := r.translate(); err != nil {
		return a, err
	}
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", r.code, parser.SkipObjectResolution)
	if err != nil {
		return a, r.misread(err)
	}
	top, ok := expr.(*ast.BinaryExpr)
	if !ok || !comparison(top.Op) {
		return a, r.fail(len(text), opHint, "want a comparison (< <= > >= ==), not the end")
	}
	a.Op = top.Op.String()
	left, err := r.value(top.X)
	if err != nil {
		return a, err
	}
	right, err := r.value(top.Y)
	if err != nil {
		return a, err
	}
	a.difference = left.plus(right.times(big.NewRat(-1, 1)))
	return a, r.check(a.difference.terms, r.offset(top.OpPos))
}

func comparison(op token.Token) bool {
	return op == token.LSS || op == token.LEQ || op == token.GTR || op == token.GEQ || op == token.EQL
}

func (r *reader) fail(offset int, hint, format string, args ...any) error {
	return &Error{Text: r.text, Column: 1 + utf8.RuneCountInString(r.text[:offset]), What: fmt.Sprintf(format, args...), Hint: hint}
}

// offset is where a position of the code is in the text.
func (r *reader) offset(pos token.Pos) int { return r.at[min(int(pos)-1, len(r.at)-1)] }

// put adds code for the text at an offset, apart from what is before it.
func (r *reader) put(code string, offset int) {
	for range len(code) + 1 {
		r.at = append(r.at, offset)
	}
	r.code = append(append(r.code, ' '), code...)
}

// translate writes the code.
func (r *reader) translate() error {
	for from := 0; from < len(r.text); {
		found := lexeme.FindString(r.text[from:])
		if found == "" {
			return r.unexpected(from)
		}
		switch c, _ := utf8.DecodeRuneInString(found); {
		case strings.TrimSpace(found) == "":
		case strings.ContainsRune("<>=+-*/()", c):
			r.put(found, from)
		default:
			value, err := r.operand(from, found)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("x%d", len(r.operands))
			r.operands[name] = value
			r.put(name, from)
		}
		from += len(found)
	}
	r.at = append(r.at, len(r.text))
	return nil
}

func (r *reader) unexpected(offset int) error {
	c, _ := utf8.DecodeRuneInString(r.text[offset:])
	hint := ""
	switch c {
	case '=', '!':
		hint = "the comparisons are < <= > >= =="
	case '\'':
		hint = `put names with spaces in double quotes: "my strat".adjusted`
	}
	return r.fail(offset, hint, "unexpected %q", c)
}

// operand reads a number or a player's measure.
func (r *reader) operand(offset int, text string) (linear, error) {
	if parts := number.FindStringSubmatch(text); parts != nil {
		value, ok := new(big.Rat), false
		if exponent, err := strconv.Atoi(cmp.Or(parts[1], "0")); err == nil && len(text) <= maxNumber && max(exponent, -exponent) <= maxExponent {
			value, ok = value.SetString(text)
		}
		if !ok {
			return linear{}, r.fail(offset, "write it as 0.01", "unusable number '%s'", text)
		}
		return linear{constant: value}, nil
	}
	player, name := text, ""
	if end := strings.LastIndexByte(text, '"'); end >= 0 {
		var err error
		if player, err = strconv.Unquote(text[:end+1]); err != nil {
			return linear{}, r.fail(offset, `\" and \\ stand for " and \ in a name`, "unclosed quotation mark, or a name that cannot be read")
		}
		name = strings.TrimLeft(text[end+1:], " \t.")
	} else if cut := strings.LastIndexByte(text, '.'); cut >= 0 {
		player, name = text[:cut], text[cut+1:]
	}
	if name == "" {
		if slices.Contains(measureList(), player) {
			return linear{}, r.fail(offset, "write PLAYER."+player, "%s needs a player", player)
		}
		return linear{}, r.fail(offset, "the measures are "+strings.Join(measureList(), ", "), "want a number or PLAYER.MEASURE, not '%s'", text)
	}
	if !slices.Contains(r.players, player) {
		return linear{}, r.fail(offset, r.playerHint(player), "no player %q in this field", player)
	}
	all := Measures()
	k := slices.IndexFunc(all, func(m Measure) bool { return m.Name == name })
	if k < 0 {
		return linear{}, r.fail(offset+len(text)-len(name), alike("measures", name, measureList()), "no measure %q", name)
	}
	return linear{constant: new(big.Rat), terms: []term{{Ref{player, all[k]}, big.NewRat(1, 1)}}}, nil
}

func (r *reader) playerHint(name string) string {
	for _, q := range r.players {
		if strings.HasPrefix(name, q) && strings.Contains(name[len(q):], "-") {
			return "put spaces around a minus between two players"
		}
	}
	return alike("players", name, r.players)
}

// misread says what Go's parser did not understand.
func (r *reader) misread(err error) error {
	var list scanner.ErrorList
	list, _ = err.(scanner.ErrorList) // an error of syntax is one
	first := list[0]
	offset := r.at[min(first.Pos.Offset, len(r.at)-1)]
	not := "the end"
	if found := lexeme.FindString(r.text[offset:]); found != "" {
		not = "'" + found + "'"
	}
	switch {
	case strings.Contains(first.Msg, "expected operand"):
		return r.fail(offset, opHint, "want a number or PLAYER.MEASURE, not %s", not)
	case strings.Contains(first.Msg, "expected ')'"):
		var open []int
		for i, c := range r.code[:min(first.Pos.Offset, len(r.code))] {
			if c == '(' {
				open = append(open, r.at[i])
			} else if c == ')' {
				open = open[:len(open)-1]
			}
		}
		return r.fail(offset, "", "want ) for the one opened at column %d, not %s", 1+utf8.RuneCountInString(r.text[:open[len(open)-1]]), not)
	}
	return r.fail(offset, opHint, "want the end of the assertion, not %s", not)
}

// value is the linear form of one side.
func (r *reader) value(expr ast.Expr) (linear, error) {
	switch x := expr.(type) {
	case *ast.Ident:
		return r.operands[x.Name], nil
	case *ast.ParenExpr:
		return r.value(x.X)
	case *ast.UnaryExpr:
		value, err := r.value(x.X)
		if err == nil && x.Op == token.SUB {
			value = value.times(big.NewRat(-1, 1))
		}
		return value, err
	case *ast.BinaryExpr:
		return r.binary(x)
	}
	return linear{}, r.fail(r.offset(expr.Pos()), opHint, "want a number or PLAYER.MEASURE, and + - * / between two")
}

func (r *reader) binary(x *ast.BinaryExpr) (linear, error) {
	left, err := r.value(x.X)
	if err != nil {
		return left, err
	}
	right, err := r.value(x.Y)
	offset := r.offset(x.OpPos)
	switch {
	case err != nil:
		return right, err
	case comparison(x.Op):
		return left, r.fail(offset, opHint, "want one comparison, not a second %s", x.Op)
	case x.Op == token.SUB:
		return left.plus(right.times(big.NewRat(-1, 1))), nil
	case x.Op == token.ADD:
		return left.plus(right), nil
	case x.Op == token.QUO && len(right.terms) > 0:
		return left, r.fail(offset, "multiply the other side instead", "cannot divide by a measure")
	case x.Op == token.QUO && right.constant.Sign() == 0:
		return left, r.fail(offset, "", "division by zero")
	case x.Op == token.QUO:
		return left.times(new(big.Rat).Inv(right.constant)), nil
	case len(right.terms) == 0:
		return left.times(right.constant), nil
	case len(left.terms) == 0:
		return right.times(left.constant), nil
	}
	return left, r.fail(offset, "", "cannot multiply two measures: one factor must be a number")
}

// check rejects what no data can decide.
func (r *reader) check(terms []term, offset int) error {
	if len(terms) == 0 {
		return r.fail(offset, opHint, "nothing to judge: both sides are equal whatever the experiment shows")
	}
	var of [2]string // an estimate and a count
	for _, t := range terms {
		if t.ref.Measure.Counted {
			of[1] = t.ref.String()
		} else {
			of[0] = t.ref.String()
		}
	}
	if of[0] != "" && of[1] != "" {
		return r.fail(offset, "write two assertions", "%s is a count and %s an estimate; one comparison cannot have both", of[1], of[0])
	}
	return nil
}

// String returns the form that the parser reads.
func (r Ref) String() string {
	if bare.MatchString(r.Player) {
		return r.Player + "." + r.Measure.Name
	}
	return strconv.Quote(r.Player) + "." + r.Measure.Name
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
