package jsscript

import (
	"github.com/dop251/goja"
)

// Built-in functions, and the operator "...", drain an iterable without an
// interrupt. An array can claim any length, and an iterator whose next is a
// built-in function may never end. So only arrays with the stock iterators are
// passed on unchanged; a generator, which the watchdog can stop, drains
// everything else.

// iteration identifies the stock iterators of arrays. It is empty if they were
// not looked up before the script began.
type iteration struct {
	values goja.Value   // Array.prototype[Symbol.iterator]
	proto  *goja.Object // of the iterators that values returns
	next   goja.Value   // proto.next
	drain  goja.Callable
}

// drainer is a program whose value drains something iterable.
var drainer = goja.MustCompile("host.js", "(function* (iterable) { for (const item of iterable) yield item; })", true)

func (b *sandbox) guardIterables() {
	if b.usage.names[hookCopy] {
		define(b.vm.GlobalObject(), hookCopy, b.vm.ToValue(b.copied))
	}
	if !b.usage.spreads {
		return
	}
	array := b.vm.NewArray()
	b.values = array.GetSymbol(goja.SymIterator)
	iterate, _ := goja.AssertFunction(b.values)
	it, err := iterate(array)
	if err != nil {
		panic(err) // it is constant
	}
	b.proto = it.(*goja.Object).Prototype()
	b.next = b.proto.Get("next")
	define(b.vm.GlobalObject(), hookSpread, b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		return b.iterable(c.Argument(0))
	}))
	if b.usage.open || b.usage.fills {
		b.guardCollections()
	}
}

// iterable returns a value that is safe to drain instead of v.
func (b *sandbox) iterable(v goja.Value) goja.Value {
	b.check()
	switch v := v.(type) {
	case goja.String:
		b.within(v.Length(), maxElements)
	case *goja.Object:
		if isArray(v) && b.values != nil && v.GetSymbol(goja.SymIterator) == b.values && b.proto.Get("next") == b.next {
			b.within(lengthOf(v), maxElements)
			return v
		}
	default:
		return v // not iterable; the built-in function reports that
	}
	if b.drain == nil {
		f, err := b.vm.RunProgram(drainer)
		if err != nil {
			panic(err)
		}
		b.drain, _ = goja.AssertFunction(f)
	}
	drained, err := b.drain(goja.Undefined(), v)
	if err != nil {
		panic(err)
	}
	return drained
}

// copied checks v before {...v} copies it.
func (b *sandbox) copied(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	b.sized(v)
	return v
}

// sized ends the call if v is a string with too many characters to create a
// property for each.
func (b *sandbox) sized(v goja.Value) {
	switch v := v.(type) {
	case goja.String:
		b.within(v.Length(), maxElements)
	case *goja.Object:
		if !isProxy(v) && v.ClassName() == "String" {
			b.within(lengthOf(v), maxElements)
		}
	}
}

func (b *sandbox) guardCollections() {
	for name := range collections {
		if b.usage.reaches(name) {
			b.constructor(name, func(args []goja.Value) []goja.Value {
				if len(args) == 0 {
					return args
				}
				return argument(args, 0, b.iterable(args[0]))
			})
		}
	}
}

// guardDrain is for functions that drain their first argument.
func guardDrain(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		c.Arguments = argument(c.Arguments, 0, b.iterable(c.Argument(0)))
		return old(c)
	}
}

// guardFrom is for Array.from, which takes {length: n} as well.
func guardFrom(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		items := c.Argument(0)
		if o, ok := items.(*goja.Object); ok && nothing(o.GetSymbol(goja.SymIterator)) {
			items = b.list(o, maxElements)
			b.spend(elementBytes * lengthOf(items.(*goja.Object)))
		} else {
			items = b.iterable(items)
		}
		c.Arguments = argument(c.Arguments, 0, items)
		return old(c)
	}
}

// guardSetLike is for the set methods that take another set. They accept any
// object with keys, and drain it.
func guardSetLike(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		if o, ok := c.Argument(0).(*goja.Object); ok && o.ExportType() != setType && o.ExportType() != mapType {
			panic(b.vm.NewTypeError("Set.prototype.%s takes sets and maps only", name))
		}
		return old(c)
	}
}

// guardSized is for functions that create a property for each character.
func guardSized(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		for _, arg := range c.Arguments {
			b.sized(arg)
		}
		return old(c)
	}
}

var (
	fromGuards = []guard{{"from", guardFrom}}
	setGuards  = []guard{
		{"difference", guardSetLike}, {"intersection", guardSetLike}, {"isDisjointFrom", guardSetLike},
		{"isSubsetOf", guardSetLike}, {"isSupersetOf", guardSetLike}, {"symmetricDifference", guardSetLike},
		{"union", guardSetLike},
	}
	objectDrainGuards = []guard{
		{"assign", guardSized}, {"entries", guardSized}, {"freeze", guardSized}, {"fromEntries", guardDrain},
		{"getOwnPropertyDescriptors", guardSized}, {"getOwnPropertyNames", guardSized}, {"isFrozen", guardSized},
		{"isSealed", guardSized}, {"keys", guardSized}, {"seal", guardSized}, {"values", guardSized},
	}
	ownKeysGuards = []guard{{"ownKeys", guardSized}}
)

// guardDrains guards the functions that drain an iterable.
func (b *sandbox) guardDrains() {
	if b.usage.reaches("Array") {
		b.install(b.global("Array"), fromGuards)
	}
	if b.usage.reaches("Object") {
		b.install(b.global("Object"), objectDrainGuards)
	}
	if b.usage.reaches("Reflect") {
		b.install(b.global("Reflect"), ownKeysGuards)
	}
	if b.usage.reaches("Set") {
		b.install(b.global("Set").Get("prototype").(*goja.Object), setGuards)
	}
}
