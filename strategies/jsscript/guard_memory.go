package jsscript

import (
	"reflect"
	"strings"

	"github.com/dop251/goja"
)

// maxBytes is how large one typed array may be.
const maxBytes = 1 << 20

// typedArrays are the constructors of typed arrays, with the bytes that an
// element takes.
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

// guardTypedArrays guards what all typed arrays inherit, given one of their
// constructors.
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

// guardTypedJoin bounds the string that is made, by the longest that a number
// may be.
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

// admitElements bounds what a typed array is made of: a number of elements, or
// an object to take them from.
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
	if first.ExportType() == bufferType { // a view of it makes nothing
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
