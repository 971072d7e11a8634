package assert

import (
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

	"github.com/strategylab/strategylab/analysis/words"
)

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
	operand    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?(?:\s*\.` + word + `)?|\.?` + word)
	number     = regexp.MustCompile(`^(?:\d{1,40}|\d{0,40}\.\d{1,40})(?:[eE]-?\d\d?)?$`) // nobody needs more digits
	comparison = regexp.MustCompile(`^(?:[^"<>=]|"(?:[^"\\]|\\.)*"?)*(<=|>=|==|<|>)`)
	// Comments of Go are none here, and it does not end a line at a break.
	plain = strings.NewReplacer("//", "/$", "/*", "/$", "\n", " ", "\r", " ", "\f", " ")
)

// reader reads an assertion by Go's own parser.
type reader struct {
	text    string
	players []string
	nearest func(name string, names []string) string
	from    int    // offset of the side that is read
	err     *Error // the first mistake
}

// parse reads an assertion about the players of a field, given by name. The error is an
// *Error.
func (r *reader) parse(text string) (assertion, error) {
	a := assertion{text: text}
	r.text, r.err = text, nil
	if len(text) > maxText {
		return a, &Error{Text: text[:20] + "...", Column: 1, What: fmt.Sprintf("assertion has %d bytes; want at most %d", len(text), maxText)}
	}
	op := comparison.FindStringSubmatchIndex(text)
	if op == nil {
		r.side(0, len(text))
		r.fail(len(text), opHint, "want a comparison (< <= > >= ==), not the end")
	} else {
		a.op, a.linear = text[op[2]:op[3]], r.side(0, op[2]).plus(minusOne, r.side(op[3], len(text)))
		r.check(a.terms, op[2])
	}
	if r.err != nil {
		return a, r.err
	}
	return a, nil
}

// fail keeps the first mistake, and returns something to go on with.
func (r *reader) fail(offset int, hint, format string, args ...any) linear {
	if r.err == nil {
		r.err = &Error{Text: r.text, Column: 1 + utf8.RuneCountInString(r.text[:offset]), What: fmt.Sprintf(format, args...), Hint: hint}
	}
	return linear{constant: new(big.Rat)}
}

// side reads one side. For Go, whose names have no minus, a word of the same length stands
// for each measure.
func (r *reader) side(from, to int) linear {
	r.from = from
	code := operand.ReplaceAllStringFunc(r.text[from:to], func(s string) string {
		if number.MatchString(s) {
			return s
		}
		return strings.Repeat("x", len(s))
	})
	expr, err := parser.ParseExprFrom(token.NewFileSet(), "", plain.Replace(code), parser.SkipObjectResolution)
	if err == nil {
		return r.value(expr)
	}
	list, _ := err.(scanner.ErrorList) // an error of syntax is one
	at := min(from+list[0].Pos.Offset, to)
	c, _ := utf8.DecodeRuneInString(r.text[at:])
	not := fmt.Sprintf("%q", c)
	if at == len(r.text) {
		not = "the end"
	}
	switch msg := list[0].Msg; {
	case c == '\'':
		return r.fail(at, `put names with spaces in double quotes: "my strat".adjusted`, "unexpected %s", not)
	case strings.Contains(msg, "expected ')'"):
		return r.fail(at, opHint, "want a closing parenthesis, not %s", not)
	case strings.Contains(msg, "expected operand"):
		return r.fail(at, opHint, "want a number or PLAYER.MEASURE, not %s", not)
	}
	return r.fail(at, opHint, "unexpected %s", not)
}

// value is the linear form of an expression.
func (r *reader) value(expr ast.Expr) linear {
	at, end := r.from+int(expr.Pos())-1, r.from+int(expr.End())-1
	switch x := expr.(type) {
	case *ast.BasicLit:
		if value, ok := new(big.Rat).SetString(x.Value); ok {
			return linear{constant: value}
		}
	case *ast.Ident:
		return r.measure(at, r.text[at:end])
	case *ast.ParenExpr:
		return r.value(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.SUB {
			return r.value(x.X).times(minusOne)
		} else if x.Op == token.ADD {
			return r.value(x.X)
		}
	case *ast.BinaryExpr:
		return r.binary(x)
	}
	return r.fail(at, opHint, "want a number or PLAYER.MEASURE, and + - * / between two")
}

func (r *reader) binary(x *ast.BinaryExpr) linear {
	left, right := r.value(x.X), r.value(x.Y)
	switch {
	case x.Op == token.SUB:
		return left.plus(minusOne, right)
	case x.Op == token.ADD:
		return left.plus(one, right)
	case x.Op == token.MUL && len(right.terms) == 0:
		return left.times(right.constant)
	case x.Op == token.MUL && len(left.terms) == 0:
		return right.times(left.constant)
	case x.Op == token.QUO && len(right.terms) == 0 && right.constant.Sign() != 0:
		return left.times(new(big.Rat).Inv(right.constant))
	}
	return r.fail(r.from+int(x.OpPos)-1, opHint, "this %s does not fit: one comparison, between measures that are added, subtracted, and multiplied or divided by a number other than 0", x.Op)
}

// measure reads a player's measure.
func (r *reader) measure(offset int, text string) linear {
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
	return linear{new(big.Rat), []term{{measures[k], i, text, one}}}
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

// check rejects what no data can decide.
func (r *reader) check(terms []term, offset int) {
	if len(terms) == 0 {
		r.fail(offset, opHint, "nothing to judge: both sides are equal whatever the experiment shows")
	}
	of := map[bool]string{} // an estimate and a count
	for _, t := range terms {
		of[t.count != nil] = t.text
	}
	if len(of) == 2 {
		r.fail(offset, "write two assertions", "%s is a count and %s an estimate; one comparison cannot have both", of[true], of[false])
	}
}
