package jsscript

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies/budget"
)

var stringGuards = []guard{
	{"concat", guardStringConcat},
	{"match", guardMatch}, {"matchAll", guardMatch}, {"normalize", guardNormalize}, {"padEnd", guardPad}, {"padStart", guardPad},
	{"repeat", guardRepeat}, {"replace", guardReplace}, {"replaceAll", guardReplace}, {"search", guardMatch},
	{"split", guardSplit},
}

var rawGuards = []guard{{"raw", guardRaw}}

func (b *sandbox) guardStrings() {
	b.install(b.vm.ToValue("").ToObject(b.vm).Prototype(), stringGuards)
	if b.usage.reaches("String") {
		b.install(b.global("String"), rawGuards)
	}
}

// appended checks a value before it is appended to a string. A limit on each
// append keeps a string from doubling: it grows in steps of increasing cost.
func (b *sandbox) appended(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if s, ok := v.(goja.String); ok && s.Length() > maxAppended {
		b.exceed("", "a string of %d characters appended to another, over the limit of %d", s.Length(), maxAppended)
	}
	return v
}

// guardStringConcat is for "".concat(...).
func guardStringConcat(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		if !nothing(c.This) {
			s := b.text(c.This)
			args := make([]goja.Value, len(c.Arguments))
			total := s.Length()
			for i, arg := range c.Arguments {
				part := b.text(arg)
				args[i], total = part, total+part.Length()
			}
			b.made(total)
			c = goja.FunctionCall{This: s, Arguments: args}
		}
		return old(c)
	}
}

func guardRepeat(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		if nothing(c.This) {
			return old(c)
		}
		s, n := b.text(c.This), c.Argument(0).ToNumber()
		if count := n.ToInteger(); count > 0 && s.Length() > 0 {
			b.made(times(s.Length(), count))
		}
		return old(goja.FunctionCall{This: s, Arguments: []goja.Value{n}})
	}
}

// times multiplies and saturates above every limit instead of overflowing.
func times(a int, n int64) int {
	return int(min(float64(a)*float64(n), 1<<53))
}

func guardPad(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		if nothing(c.This) {
			return old(c)
		}
		length := c.Argument(0).ToNumber()
		b.made(int(min(max(length.ToInteger(), 0), 1<<53)))
		return old(goja.FunctionCall{This: b.text(c.This), Arguments: argument(c.Arguments, 0, length)})
	}
}

// guardNormalize bounds the result: one character may become eighteen.
func guardNormalize(b *sandbox, _ string, old native) native {
	const most = 18
	return func(c goja.FunctionCall) goja.Value {
		if nothing(c.This) {
			return old(c)
		}
		s := b.text(c.This)
		b.made(times(most, int64(s.Length())))
		return old(goja.FunctionCall{This: s, Arguments: c.Arguments})
	}
}

// guardReplace bounds the result of replacing a string. Regular expressions have
// their own guard, which calls this one.
func guardReplace(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		if _, ok := c.Argument(0).(*goja.Object); ok || nothing(c.This) {
			return old(c)
		}
		s, pattern := b.text(c.This), b.text(c.Argument(0))
		matches := 1
		if name == "replaceAll" {
			matches = 1 + s.Length()/max(pattern.Length(), 1)
		}
		with := b.replacement(c.Argument(1), s.Length(), matches)
		return old(goja.FunctionCall{This: s, Arguments: []goja.Value{pattern, with}})
	}
}

// replacement bounds the total replacement of a number of matches in a string.
// Every $ in a replacement text may stand for the whole string.
func (b *sandbox) replacement(v goja.Value, length, matches int) goja.Value {
	if call, ok := goja.AssertFunction(v); ok {
		total := 0
		return b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			made, err := call(goja.Undefined(), c.Arguments...)
			if err != nil {
				panic(err)
			}
			s := b.text(made)
			total += s.Length()
			b.made(total)
			return s
		})
	}
	with := b.text(v)
	each := with.Length()
	if each <= maxText {
		each += strings.Count(with.String(), "$") * length
	}
	b.made(length + times(each, int64(matches)))
	return with
}

func guardSplit(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		if nothing(c.This) {
			return old(c)
		}
		s := b.text(c.This)
		b.within(s.Length(), maxElements)
		return old(goja.FunctionCall{This: s, Arguments: c.Arguments})
	}
}

// guardMatch is for the methods that compile a string to a regular expression.
func guardMatch(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		b.guardRegExps()
		if _, ok := c.Argument(0).(*goja.Object); !ok && !goja.IsUndefined(c.Argument(0)) {
			pattern := b.text(c.Argument(0))
			b.admitPattern(pattern, "")
			c.Arguments = argument(c.Arguments, 0, pattern)
		}
		return old(c)
	}
}

// guardRaw is for String.raw, which accepts any object as a template.
func guardRaw(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		o, ok := c.Argument(0).(*goja.Object)
		if !ok {
			return old(c)
		}
		parts, ok := b.list(o.Get("raw"), maxElements).(*goja.Object)
		if !ok {
			return old(c)
		}
		raw := b.vm.NewObject()
		_ = raw.Set("raw", parts)
		total, args := b.joined(parts, lengthOf(parts)), argument(c.Arguments, 0, raw)
		for i, arg := range args[1:] {
			part := b.text(arg)
			args[i+1], total = part, total+part.Length()
		}
		b.made(total)
		return old(goja.FunctionCall{This: c.This, Arguments: args})
	}
}

// goja has two engines for regular expressions. Go's own takes time in
// proportion to the pattern and the input, which are bounded here. The other,
// regexp2, runs what Go's cannot express (lookahead, lookbehind, backreferences)
// and searches that do not start at the beginning; it backtracks and may never
// end.
const (
	maxPattern = 1000 // bytes
	maxProgram = 5000 // instructions of Go's engine
	maxInput   = 8192 // UTF-16 units
)

// regexp2 takes its time limit from a variable when an expression is compiled,
// and goja does not set it. It is set once, before any compilation. A search that
// exceeds it counts as no match; by then the watchdog has ended the call, unless
// its limit was raised.
func init() {
	regexp2.DefaultMatchTimeout = budget.DefaultTime
}

// checkPattern refuses a pattern that compiles to too large a program.
func checkPattern(pattern, flags string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("a regular expression of %d bytes is over the limit of %d", len(pattern), maxPattern)
	}
	var single, unicode bool
	for _, f := range flags {
		single = single || f == 's'
		unicode = unicode || f == 'u'
	}
	translated, err := parser.TransformRegExp(pattern, single, unicode)
	if err != nil {
		return nil // invalid, or for the other engine
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	if len(prog.Inst) > maxProgram {
		return errors.New("a regular expression repeats too much")
	}
	return nil
}

// admitPattern ends the call if a pattern is refused.
func (b *sandbox) admitPattern(pattern goja.String, flags string) {
	text := ""
	if pattern.Length() <= maxPattern {
		text = pattern.String()
	} else {
		b.exceed("", "a regular expression of %d characters is over the limit of %d", pattern.Length(), maxPattern)
	}
	if err := checkPattern(text, flags); err != nil {
		b.exceed("", "%s", err.Error())
	}
}

// guardRegExps guards regular expressions. Once exec is replaced, all other
// methods except test search through it.
func (b *sandbox) guardRegExps() {
	if b.regexps {
		return
	}
	b.regexps = true
	b.constructor("RegExp", func(args []goja.Value) []goja.Value {
		if len(args) == 0 || goja.IsUndefined(args[0]) {
			return args
		}
		if o, ok := args[0].(*goja.Object); ok && o.ClassName() == "RegExp" {
			return args
		}
		pattern, flags := b.text(args[0]), ""
		if len(args) > 1 && !goja.IsUndefined(args[1]) {
			given := b.text(args[1])
			flags, args = given.String(), argument(args, 1, given)
		}
		b.admitPattern(pattern, flags)
		return argument(args, 0, pattern)
	})
	proto := b.global("RegExp").Get("prototype").(*goja.Object)
	_ = proto.Delete("compile")
	for _, name := range []string{"exec", "test"} {
		old := proto.Get(name).Export().(native)
		define(proto, name, b.function(name, guardInput(b, old)))
	}
	replace := proto.GetSymbol(goja.SymReplace).Export().(native)
	_ = proto.SetSymbol(goja.SymReplace, b.function("[Symbol.replace]", func(c goja.FunctionCall) goja.Value {
		s := b.input(c.Argument(0))
		with := b.replacement(c.Argument(1), s.Length(), s.Length()+1)
		return replace(goja.FunctionCall{This: c.This, Arguments: []goja.Value{s, with}})
	}))
}

func guardInput(b *sandbox, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		return old(goja.FunctionCall{This: c.This, Arguments: []goja.Value{b.input(c.Argument(0))}})
	}
}

// input ends the call if a string is too long to search.
func (b *sandbox) input(v goja.Value) goja.String {
	b.check()
	s := b.text(v)
	if s.Length() > maxInput {
		b.exceed("search a part of it", "a string of %d characters is over the limit of %d for regular expressions",
			s.Length(), maxInput)
	}
	return s
}
