package assert

import (
	"fmt"
	"strings"
	"unicode"
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

type kind uint8

const (
	end    kind = iota
	word        // mine.adjusted, 0.3, markov-2
	quoted      // "my strat"; text is what it stands for
	sign        // + - * / ( ) . and the comparisons
)

type token struct {
	kind   kind
	text   string
	column int
}

func (t token) String() string {
	switch t.kind {
	case end:
		return "the end"
	case quoted:
		return fmt.Sprintf("%q", t.text)
	}
	return "'" + t.text + "'"
}

// lex splits an assertion into tokens, the last of which is the end.
func lex(text string) ([]token, error) {
	var list []token
	column := 1
	for rest := text; ; {
		trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
		column += utf8.RuneCountInString(rest[:len(rest)-len(trimmed)])
		rest = trimmed
		if rest == "" {
			return append(list, token{end, "", column}), nil
		}
		t, n, err := next(text, rest, column)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		column += utf8.RuneCountInString(rest[:n])
		rest = rest[n:]
	}
}

// next returns the token at the start of rest and its length in bytes.
func next(text, rest string, column int) (token, int, error) {
	c, _ := utf8.DecodeRuneInString(rest)
	for _, op := range []string{"<=", ">=", "=="} {
		if strings.HasPrefix(rest, op) {
			return token{sign, op, column}, len(op), nil
		}
	}
	switch {
	case c == '"':
		return nextQuoted(text, rest, column)
	case strings.ContainsRune("<>+-*/()", c), c == '.' && !startsWord(rest[1:]):
		return token{sign, string(c), column}, 1, nil
	case c == '.' || startsWord(rest):
		n := wordLength(rest)
		return token{word, rest[:n], column}, n, nil
	}
	e := &Error{Text: text, Column: column, What: fmt.Sprintf("unexpected %q", c)}
	switch c {
	case '=', '!':
		e.Hint = "the comparisons are < <= > >= =="
	case '\'':
		e.Hint = `put names with spaces in double quotes: "my strat".adjusted`
	}
	return token{}, 0, e
}

func startsWord(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c == '_' || c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

// wordLength is the length of a word. Minus and dot belong to it, unless nothing of a
// word follows them: "mine.adjusted - 1".
func wordLength(s string) int {
	for i, c := range s {
		switch {
		case c == '_', c == '#', c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		case (c == '-' || c == '.') && (i == 0 || startsWord(s[i+1:])):
		default:
			return i
		}
	}
	return len(s)
}

func nextQuoted(text, rest string, column int) (token, int, error) {
	var name strings.Builder
	escaped := false
	for i, c := range rest[1:] {
		switch {
		case escaped && c != '"' && c != '\\':
			at := column + utf8.RuneCountInString(rest[:i+1]) - 1 // the backslash
			return token{}, 0, &Error{Text: text, Column: at, What: fmt.Sprintf(`unexpected \%c in a name`, c), Hint: `\" and \\ stand for " and \`}
		case escaped:
			name.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			return token{quoted, name.String(), column}, i + 2, nil
		default:
			name.WriteRune(c)
		}
	}
	return token{}, 0, &Error{Text: text, Column: column, What: "unclosed quotation mark"}
}
