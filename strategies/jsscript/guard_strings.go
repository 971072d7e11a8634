package jsscript

import (
	"strings"

	"github.com/dop251/goja"
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

// appended looks at what is about to be appended to a string. With only so much
// at a time a string grows by steps, which take longer and longer, and not by
// doubling.
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

// times multiplies without overflow: what is above every limit stays there.
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

// guardNormalize bounds what is made: one character may become eighteen.
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

// guardReplace bounds what the replacement of a text can make. Regular
// expressions have a guard of their own, which this calls.
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

// replacement bounds what replaces so many matches in a string of a length. In
// a text, every $ may stand for the whole string.
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

// guardMatch is for the methods that make a regular expression of a text.
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

// guardRaw is for String.raw, which takes an object for what a template has.
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
