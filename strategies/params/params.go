// Package params is the grammar of the parameters of strategies: how one declares them,
// and how a user gives them values.
//
// A declaration stands in the comment at the top of a script, on a line of its own:
//
//	param: horizon 1..20 = 5
//	param: greed 0.0..1.0 = 0.3
//	param: mode a|b|c = a
//
// Bounds without a point are of whole numbers. A user writes mine(horizon=8;greed=0.3).
// Values replace the defaults in the text of a strategy, so everything that carries its
// code carries them, too, and each set of values has a fingerprint of its own.
package params

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Most is the largest number of parameters of a strategy.
const Most = 32

// Param is a declared parameter. A number is whole or any within its bounds; a word is
// one of Words.
type Param struct {
	Name      string
	Low, High float64  // bounds of a number, both allowed
	Whole     bool     // whole numbers only
	Words     []string // nil for a number
	Default   string   // as Check returns it
	Line      int      // of the declaration, from 1

	at, end int // of the default in the text
}

// Value is the value of a parameter.
type Value struct{ Param, Text string }

// Error is a declaration that cannot be read.
type Error struct {
	Line int // from 1
	Err  error
	Hint string
}

// Error returns what is wrong, without the line.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const form = `write "param: horizon 1..20 = 5", "param: greed 0.0..1.0 = 0.3" or "param: mode a|b|c = a"`

var (
	marked      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-/*#\s]*param:[ \t]*`) })
	declaration = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z]\w{0,19})\s+(\S+\.\.\S+|\S+(?:\s*\|\s*\S+)+)\s*=\s*([^\s=]+)(?:\s|$)`)
	})
	word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][\w-]*$`) })
)

// Declares reports whether a line of a comment, with or without its marks, declares a parameter.
func Declares(line string) bool { return marked().MatchString(line) }

// Head returns the beginning of a script in which parameters are declared: the comments
// and empty lines before the first line of code.
func Head(source []byte) []byte {
	block, at := false, 0
	for raw := range bytes.Lines(source) {
		line := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
		block = block || bytes.HasPrefix(line, []byte("/*"))
		comment := block || bytes.HasPrefix(line, []byte("--")) || bytes.HasPrefix(line, []byte("//")) || at == 0 && bytes.HasPrefix(line, []byte("#"))
		if len(line) > 0 && !comment {
			break
		}
		at += len(raw)
		block = block && !bytes.Contains(line, []byte("*/"))
	}
	return source[:at]
}

// Parse returns the parameters that a text declares: the Head of a script, or a
// description. An error is an *Error.
func Parse(text []byte) (list []Param, err error) {
	at, line := 0, 0
	for raw := range bytes.Lines(text) {
		line++
		begin := at
		at += len(raw)
		mark := marked().FindIndex(raw)
		if mark == nil {
			continue
		}
		p, hint, err := parse(raw[mark[1]:])
		switch {
		case err != nil:
		case slices.ContainsFunc(list, func(q Param) bool { return q.Name == p.Name }):
			err = fmt.Errorf("parameter %s is declared twice", p.Name)
		case len(list) == Most:
			err = fmt.Errorf("more than %d parameters", Most)
		}
		if err != nil {
			return nil, &Error{line, err, hint}
		}
		p.Line, p.at, p.end = line, p.at+begin+mark[1], p.end+begin+mark[1]
		list = append(list, p)
	}
	return list, nil
}

func parse(text []byte) (p Param, hint string, err error) {
	m := declaration().FindSubmatchIndex(text)
	if m == nil {
		return p, form, fmt.Errorf("parameter %q: cannot be read", bytes.TrimSpace(text))
	}
	p = Param{Name: string(text[m[2]:m[3]]), at: m[6], end: m[7]}
	domain := string(text[m[4]:m[5]])
	if low, high, numbers := strings.Cut(domain, ".."); numbers {
		p.Whole = !strings.ContainsAny(domain, "eE") && !strings.Contains(low, ".") && !strings.Contains(high, ".")
		var bad, worse error
		p.Low, bad = strconv.ParseFloat(low, 64)
		p.High, worse = strconv.ParseFloat(high, 64)
		const most = 1 << 53
		if bad != nil || worse != nil || !(p.Low < p.High) || p.Low < -most || p.High > most {
			return p, form, fmt.Errorf("parameter %s: bounds %s, want two numbers, the smaller first", p.Name, domain)
		}
	} else {
		for w := range strings.SplitSeq(domain, "|") {
			w = strings.TrimSpace(w)
			if !word().MatchString(w) || slices.Contains(p.Words, w) {
				return p, form, fmt.Errorf("parameter %s: %q is no word, or stands there twice", p.Name, w)
			}
			p.Words = append(p.Words, w)
		}
	}
	if p.Default, err = p.Check(string(text[p.at:p.end])); err != nil {
		hint = form
		if p.Whole {
			hint = fmt.Sprintf("for numbers with a fraction write the bounds with a point, such as %.1f..%.1f", p.Low, p.High)
		}
		return p, hint, fmt.Errorf("the default: %w", err)
	}
	return p, "", nil
}

// Check returns a value in its only spelling, or why the parameter cannot have it.
func (p Param) Check(text string) (string, error) {
	if p.Words != nil {
		if !slices.Contains(p.Words, text) {
			return "", fmt.Errorf("%s is %q, want %s", p.Name, text, p.Domain())
		}
		return text, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= p.Low && x <= p.High) || p.Whole && x != math.Trunc(x) {
		what := "a number"
		if p.Whole {
			what = "a whole number"
		}
		return "", fmt.Errorf("%s is %q, want %s in %s", p.Name, text, what, p.Domain())
	}
	return strconv.FormatFloat(x+0, 'f', -1, 64), nil // no -0
}

// Number returns a value that Check accepts as a number; of a word, its place in Words, from 0.
func (p Param) Number(text string) float64 {
	if p.Words != nil {
		return float64(slices.Index(p.Words, text))
	}
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// Domain returns what values a parameter can have, as its declaration says.
func (p Param) Domain() string {
	if p.Words != nil {
		return strings.Join(p.Words, "|")
	}
	decimals := -1
	if !p.Whole && p.Low == math.Trunc(p.Low) && p.High == math.Trunc(p.High) {
		decimals = 1
	}
	return strconv.FormatFloat(p.Low, 'f', decimals, 64) + ".." + strconv.FormatFloat(p.High, 'f', decimals, 64)
}

// String returns the declaration, "horizon 1..20 = 5".
func (p Param) String() string { return p.Name + " " + p.Domain() + " = " + p.Default }

// Split divides what a user writes into the strategy and its values, which are empty if
// there are none: mine(horizon=8) and scripts/mine.lua(horizon=8) have some, and the file
// "mine (1).lua" has not.
func Split(target string) (strategy, values string) {
	at := strings.LastIndexByte(target, '(')
	if at < 0 || !strings.HasSuffix(target, ")") || !strings.Contains(target[at:], "=") {
		return target, ""
	}
	return strings.TrimSpace(target[:at]), target[at+1 : len(target)-1]
}

// Join is the opposite of Split.
func Join(strategy, values string) string {
	if values == "" {
		return strategy
	}
	return strategy + "(" + values + ")"
}

// Read reads values such as "horizon=8;greed=0.3", and returns them checked and in the
// order of the declarations. A name may be cut to a beginning that no other one has.
func Read(list []Param, text string) ([]Value, error) {
	given := make([]string, len(list))
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("parameters %q: want values such as horizon=8;greed=0.3", text)
		}
		i, err := find(list, name)
		if err != nil {
			return nil, err
		}
		if given[i] != "" {
			return nil, fmt.Errorf("parameter %s has two values", list[i].Name)
		}
		if given[i], err = list[i].Check(value); err != nil {
			return nil, fmt.Errorf("parameter %w", err)
		}
	}
	var values []Value
	for i, v := range given {
		if v != "" {
			values = append(values, Value{list[i].Name, v})
		}
	}
	return values, nil
}

// find returns the parameter with a name, or the only one whose name begins so.
func find(list []Param, name string) (int, error) {
	found := -1
	var known []string
	for i, p := range list {
		known = append(known, p.Name)
		if p.Name == name {
			return i, nil
		}
		if !strings.HasPrefix(p.Name, name) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("parameter %q may be %s or %s", name, list[found].Name, p.Name)
		}
		found = i
	}
	switch {
	case len(list) == 0:
		return 0, fmt.Errorf("parameter %q: the strategy has no parameters", name)
	case found < 0:
		return 0, fmt.Errorf("no parameter %q; the parameters are %s", name, strings.Join(known, ", "))
	}
	return found, nil
}

// Format writes values as Read reads them.
func Format(values []Value) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = v.Param + "=" + v.Text
	}
	return strings.Join(parts, ";")
}

// Set returns a text with other defaults; list is what Parse has read from it. Nothing
// else of the text changes.
func Set(text []byte, list []Param, values []Value) []byte {
	out := slices.Clone(text)
	for _, p := range slices.Backward(list) {
		if i := slices.IndexFunc(values, func(v Value) bool { return v.Param == p.Name }); i >= 0 && values[i].Text != p.Default {
			out = slices.Replace(out, p.at, p.end, []byte(values[i].Text)...)
		}
	}
	return out
}

// Name returns the name of a strategy with values, of at most this many letters: with the names of
// the parameters, or their shortest beginnings, or else with six digits that depend on the values.
func Name(strategy string, list []Param, values []Value, most int) string {
	short := slices.Clone(values)
	for i, v := range short {
		for n := 1; n < len(v.Param); n++ {
			if at, err := find(list, v.Param[:n]); err == nil && list[at].Name == v.Param {
				short[i].Param = v.Param[:n]
				break
			}
		}
	}
	for _, vs := range [][]Value{values, short} {
		if name := Join(strategy, Format(vs)); len(name) <= most {
			return name
		}
	}
	sum := sha256.Sum256([]byte(Format(values)))
	code := fmt.Sprintf("(%x)", sum[:3])
	return strategy[:min(len(strategy), most-len(code))] + code
}

// Current returns the default of every parameter, replaced by the values given.
func Current(list []Param, values []Value) []Value {
	all := make([]Value, len(list))
	for i, p := range list {
		all[i] = Value{p.Name, p.Default}
		for _, v := range values {
			if v.Param == p.Name {
				all[i].Text = cmp.Or(v.Text, p.Default)
			}
		}
	}
	return all
}
