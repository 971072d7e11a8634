package jsscript

import (
	"reflect"
	"strings"

	"github.com/dop251/goja"
)

// maxBytes is how large one typed array may be.
const maxBytes = 4 << 20

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
	for _, t := range typedArrays {
		if !b.usage.reaches(t.name) {
			continue
		}
		b.constructor(t.name, func(args []goja.Value) []goja.Value { return b.admitElements(args, t.size) })
		if t.name != "ArrayBuffer" {
			define(b.global(t.name), "BYTES_PER_ELEMENT", b.vm.ToValue(t.size))
		}
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
