package jsscript

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// goja does not check for interrupts inside built-in functions, and some of
// them run for hours, or take all memory, on a few bytes of input. A guard
// replaces such a function: it checks the size of the arguments and then calls
// the function, or ends the call. A guarded call costs some nanoseconds more,
// but installing a guard costs about a microsecond, most of which goja spends
// on creating the replaced function. So a seat installs only the guards that
// its script can reach.

// Limits on what one built-in function works on or makes.
const (
	maxElements = 1 << 18 // of an array
	maxText     = 1 << 20 // UTF-16 units of a string that is made
	maxAppended = 1 << 16 // of a string that is appended to another
	maxSpread   = 1 << 16 // of a list of arguments
	maxJoining  = 200     // arrays within arrays, when they are made a string
)

// guarded holds the names that have guards, or are ways around guards.
var guarded = guardedNames()

const longestGuarded = 25 // characters

func guardedNames() map[string]bool {
	names := map[string]bool{"constructor": true, "__proto__": true, "construct": true}
	for _, list := range [][]guard{
		arrayGuards, fromGuards, setGuards, objectDrainGuards, ownKeysGuards, stringGuards, rawGuards, functionGuards,
		objectGuards, shapeGuards, jsonGuards,
	} {
		for _, g := range list {
			names[g.name] = true
		}
	}
	for _, name := range bulkNames {
		names[name] = true
	}
	return names
}

// native is a built-in function.
type native = func(goja.FunctionCall) goja.Value

// guard says how a method is guarded.
type guard struct {
	name string
	wrap func(b *sandbox, name string, old native) native
}

// install guards those methods of an object that the script can reach.
func (b *sandbox) install(owner *goja.Object, guards []guard) {
	for _, g := range guards {
		if b.wants(g.name) {
			b.replace(owner, g)
		}
	}
}

// replace guards one method.
func (b *sandbox) replace(owner *goja.Object, g guard) {
	value := owner.Get(g.name)
	if value == nil {
		return // this goja does not have it, or the script has deleted it
	}
	old, ok := value.Export().(native)
	if !ok {
		return // the script has put something else there
	}
	if err := owner.Set(g.name, b.function(g.name, g.wrap(b, g.name, old))); err != nil {
		b.exceed("do not freeze what is built in", "%s cannot be guarded", g.name)
	}
}

// function returns a function of the host as an object, under a name that a
// script may see.
func (b *sandbox) function(name string, f native) *goja.Object {
	o := b.vm.ToValue(f).(*goja.Object)
	define(o, "name", b.vm.ToValue(name))
	return o
}

// constructor guards a global constructor and makes the original unreachable.
func (b *sandbox) constructor(name string, admit func(args []goja.Value) []goja.Value) {
	old := b.vm.GlobalObject().Get(name).(*goja.Object)
	construct, _ := goja.AssertConstructor(old)
	guarded := b.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		b.check()
		o, err := construct(c.NewTarget, admit(c.Arguments)...)
		if err != nil {
			panic(err) // pass the exception on
		}
		return o
	}).(*goja.Object)
	define(guarded, "name", b.vm.ToValue(name))
	_ = guarded.SetPrototype(old.Prototype())
	if proto, ok := old.Get("prototype").(*goja.Object); ok {
		define(guarded, "prototype", proto)
		_ = proto.Set("constructor", guarded)
	}
	_ = b.vm.GlobalObject().Set(name, guarded)
}

// global returns a global that is an object.
func (b *sandbox) global(name string) *goja.Object {
	return b.vm.GlobalObject().Get(name).(*goja.Object)
}

// argument returns a copy of the arguments in which one is replaced.
func argument(args []goja.Value, i int, v goja.Value) []goja.Value {
	out := make([]goja.Value, max(len(args), i+1))
	copy(out, args)
	for j := len(args); j < i; j++ {
		out[j] = goja.Undefined()
	}
	out[i] = v
	return out
}

// lengthOf returns the length of an array-like object.
func lengthOf(o *goja.Object) int {
	v := o.Get("length")
	if v == nil {
		return 0
	}
	return int(min(max(v.ToInteger(), 0), 1<<53))
}

// within ends the call if n exceeds the limit of elements.
func (b *sandbox) within(n, limit int) {
	if n > limit {
		b.exceed("", "a list of %d elements is over the limit of %d for built-in functions", n, limit)
	}
}

// list returns v, if it is an object, as an array of at most limit elements. It
// copies an array-like object into an array.
func (b *sandbox) list(v goja.Value, limit int) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	n := lengthOf(o)
	b.within(n, limit)
	if isArray(o) {
		return v
	}
	elements := make([]any, n)
	for i := range elements {
		if elements[i] = any(o.Get(strconv.Itoa(i))); elements[i] == goja.Value(nil) {
			elements[i] = goja.Undefined()
		}
	}
	return b.vm.NewArray(elements...)
}

// text converts the receiver of a string method to a string, once.
func (b *sandbox) text(v goja.Value) goja.String {
	if o, ok := v.(*goja.Object); ok {
		v = o.ToString()
	}
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		panic(b.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	return plain.ToValue(v.String()).(goja.String)
}

// nothing reports whether v is undefined or null, which the built-in functions
// refuse themselves.
func nothing(v goja.Value) bool {
	return v == nil || goja.IsUndefined(v) || goja.IsNull(v)
}

// maxBytes is the size limit of one typed array.
const maxBytes = 1 << 20

// typedArrays maps the constructors of typed arrays to their element size in
// bytes.
var typedArrays = []struct {
	name string
	size int
}{
	{"ArrayBuffer", 1}, {"Int8Array", 1}, {"Uint8Array", 1}, {"Uint8ClampedArray", 1}, {"Int16Array", 2},
	{"Uint16Array", 2}, {"Int32Array", 4}, {"Uint32Array", 4}, {"Float32Array", 4}, {"Float64Array", 8},
}

var bufferType = reflect.TypeFor[goja.ArrayBuffer]()

func (b *sandbox) guardMemory() {
	if b.usage.reaches("DataView") { // from which BigInts could be read
		view := b.global("DataView").Get("prototype").(*goja.Object)
		_ = view.Delete("getBigInt64")
		_ = view.Delete("getBigUint64")
	}
	for _, t := range typedArrays {
		if !b.usage.reaches(t.name) {
			continue
		}
		b.constructor(t.name, func(args []goja.Value) []goja.Value { return b.admitElements(args, t.size) })
		if t.name != "ArrayBuffer" {
			b.guardTypedArrays(b.global(t.name))
			define(b.global(t.name), "BYTES_PER_ELEMENT", b.vm.ToValue(t.size))
		}
	}
}

// guardTypedArrays guards the methods that all typed arrays inherit, given one
// of their constructors.
func (b *sandbox) guardTypedArrays(constructor *goja.Object) {
	if b.typed {
		return
	}
	b.typed = true
	parent := constructor.Prototype()
	b.replace(parent, fromGuards[0])
	proto := parent.Get("prototype").(*goja.Object)
	b.replace(proto, guard{"join", guardTypedJoin})
	b.replace(proto, guard{"toLocaleString", guardTypedJoin})
}

// guardTypedJoin bounds the result: it assumes that every number has the
// maximum length.
func guardTypedJoin(b *sandbox, _ string, old native) native {
	const longest = 25
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		if o, ok := c.This.(*goja.Object); ok && !isProxy(o) {
			separator := 1
			if s := c.Argument(0); !goja.IsUndefined(s) {
				text := b.text(s)
				separator, c.Arguments = text.Length(), []goja.Value{text}
			}
			b.made(times(longest+separator, int64(lengthOf(o))))
		}
		return old(c)
	}
}

// admitElements bounds the source of a new typed array: a number of elements,
// or an object that contains them.
func (b *sandbox) admitElements(args []goja.Value, size int) []goja.Value {
	if len(args) == 0 {
		return args
	}
	first, ok := args[0].(*goja.Object)
	if !ok {
		n := args[0].ToNumber()
		b.admitBytes(times(size, n.ToInteger()))
		return argument(args, 0, n)
	}
	if first.ExportType() == bufferType { // a view allocates nothing
		return args
	}
	if n := lengthOf(first); n > 0 {
		b.admitBytes(times(size, int64(n)))
	}
	switch {
	case isArray(first), strings.HasPrefix(first.ExportType().String(), "[]"): // a typed array is taken as it is
		return args
	case nothing(first.GetSymbol(goja.SymIterator)):
		return argument(args, 0, b.list(first, maxElements))
	}
	return argument(args, 0, b.iterable(first))
}

func (b *sandbox) admitBytes(n int) {
	if n > maxBytes {
		b.exceed("", "a typed array of %d bytes is over the limit of %d", n, maxBytes)
	}
	b.spend(n)
}
