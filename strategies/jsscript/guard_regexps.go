package jsscript

import (
	"errors"
	"fmt"
	"regexp/syntax"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies/budget"
)

// goja has two engines for regular expressions. Go's own takes time in
// proportion to the pattern and the input, which are bounded here. The other,
// regexp2, is used for what Go's cannot express (looking ahead and back,
// references to groups) and for searches that do not begin at the beginning;
// it backtracks, and may take for ever.
const (
	maxPattern = 1000 // bytes
	maxProgram = 5000 // instructions of Go's engine
	maxInput   = 8192 // UTF-16 units
)

// regexp2 takes its time limit from a variable when an expression is compiled,
// and goja does not set it. It is set once, before anything can compile one. A
// match that runs into it is taken for none; by then the watchdog has ended
// the call, unless its limit is raised.
func init() {
	regexp2.DefaultMatchTimeout = budget.DefaultTime
}

// checkPattern refuses what would make too large a program.
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
		return nil // it is wrong, or for the other engine
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

// guardRegExps puts the guards of regular expressions in place. With exec
// replaced, goja has all other methods but test search by it.
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

// input ends the call if a string is too long to be searched.
func (b *sandbox) input(v goja.Value) goja.String {
	b.check()
	s := b.text(v)
	if s.Length() > maxInput {
		b.exceed("search a part of it", "a string of %d characters is over the limit of %d for regular expressions",
			s.Length(), maxInput)
	}
	return s
}
