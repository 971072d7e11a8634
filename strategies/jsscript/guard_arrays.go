package jsscript

import (
	"strconv"

	"github.com/dop251/goja"
)

// arrayGuards holds the array methods that visit all elements. The elements need
// not exist: the length of the array alone determines the time.
var arrayGuards = []guard{
	{"concat", guardConcat}, {"copyWithin", guardElements}, {"every", guardElements}, {"fill", guardFill},
	{"filter", guardElements}, {"find", guardElements}, {"findIndex", guardElements}, {"findLast", guardElements},
	{"findLastIndex", guardElements}, {"flat", guardFlat}, {"flatMap", guardFlatMap}, {"forEach", guardElements},
	{"includes", guardCompared}, {"indexOf", guardCompared}, {"lastIndexOf", guardCompared}, {"map", guardElements},
	{"reduce", guardElements}, {"reduceRight", guardElements}, {"reverse", guardElements}, {"shift", guardElements},
	{"slice", guardElements}, {"some", guardElements}, {"sort", guardCompared}, {"splice", guardElements},
	{"toLocaleString", guardJoin}, {"toReversed", guardFill}, {"toSorted", guardSorted}, {"toSpliced", guardFill},
	{"unshift", guardElements}, {"with", guardFill},
}

// elements returns the number of elements that an array method would visit. Here
// array methods accept arrays only: the length of another object may be a getter
// that returns a different number every time.
func (b *sandbox) elements(this goja.Value, method string) int {
	b.check()
	switch this := this.(type) {
	case *goja.Object:
		if isProxy(this) {
			break
		}
		switch this.ClassName() {
		case "Array", "Arguments", "String":
			n := lengthOf(this)
			b.within(n, maxElements)
			return n
		}
	case goja.String:
		b.within(this.Length(), maxElements)
		return this.Length()
	default:
		return 0
	}
	panic(b.vm.NewTypeError("Array.prototype.%s works on arrays only", method))
}

func guardElements(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.elements(c.This, name)
		return old(c)
	}
}

// guardFill is for methods that create as many elements as the length says.
func guardFill(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.spend(elementBytes * b.elements(c.This, name))
		return old(c)
	}
}

// elementBytes is the memory per element of an array, including the garbage from
// growing the array.
const elementBytes = 64

func guardConcat(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		n := b.elements(c.This, name)
		for _, arg := range c.Arguments {
			o, ok := arg.(*goja.Object)
			if !ok {
				continue
			}
			if spread := o.GetSymbol(goja.SymIsConcatSpreadable); isArray(o) {
				n += lengthOf(o)
			} else if spread != nil && spread.ToBoolean() {
				panic(b.vm.NewTypeError("Array.prototype.concat spreads arrays only"))
			}
		}
		b.within(n, maxElements)
		return old(c)
	}
}

// maxCompared bounds the total text, in UTF-16 units, of an array whose elements
// are compared: one comparison takes time in proportion to the common prefix. For
// few elements the length does not matter.
const (
	maxCompared = 4 << 20
	fewCompared = 32
)

// guardCompared is for methods that compare elements, or sort them.
func guardCompared(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.comparable(c, b.elements(c.This, name))
		return old(c)
	}
}

func guardSorted(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		n := b.elements(c.This, name)
		b.comparable(c, n)
		b.spend(elementBytes * n)
		return old(c)
	}
}

func (b *sandbox) comparable(c goja.FunctionCall, n int) {
	o, ok := c.This.(*goja.Object)
	if !ok || n <= fewCompared || callable(c.Argument(0)) {
		return
	}
	total := 0
	for i := range n {
		if s, ok := o.Get(strconv.Itoa(i)).(goja.String); ok {
			total += s.Length()
		}
	}
	if total > maxCompared {
		b.exceed("", "%d elements with %d characters compared with one another, over the limit of %d", n, total, maxCompared)
	}
}

// guardFlat replaces flat, which would expand cyclic or heavily shared arrays
// without an interrupt. It returns plain arrays, even for the script's own
// subclasses of Array.
func guardFlat(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.elements(c.This, name)
		o, ok := c.This.(*goja.Object)
		if !ok {
			return old(c)
		}
		depth := 1
		if d := c.Argument(0); !goja.IsUndefined(d) {
			depth = int(min(d.ToInteger(), maxJoining))
		}
		f := flattening{b: b}
		f.add(o, depth)
		b.spend(elementBytes * len(f.out))
		return b.vm.NewArray(f.out...)
	}
}

// guardFlatMap bounds the total length of the arrays that the callback returns.
func guardFlatMap(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.elements(c.This, name)
		if call, ok := goja.AssertFunction(c.Argument(0)); ok {
			total := 0
			c.Arguments = argument(c.Arguments, 0, b.vm.ToValue(func(each goja.FunctionCall) goja.Value {
				v, err := call(each.This, each.Arguments...)
				if err != nil {
					panic(err)
				}
				if o, ok := v.(*goja.Object); ok && isArray(o) {
					total += lengthOf(o)
					b.within(total, maxElements)
				}
				return v
			}))
		}
		return old(c)
	}
}

// flattening is one call of flat.
type flattening struct {
	b    *sandbox
	out  []any
	seen int // elements, including nested arrays
}

func (f *flattening) add(o *goja.Object, depth int) {
	n := lengthOf(o)
	f.b.check()
	f.seen += n
	f.b.within(f.seen, maxElements)
	for i := range n {
		v := o.Get(strconv.Itoa(i))
		if v == nil {
			continue // a hole
		}
		if inner, ok := v.(*goja.Object); ok && depth > 0 && isArray(inner) {
			f.add(inner, depth-1)
			continue
		}
		f.out = append(f.out, v)
	}
}

// guardJoin bounds the result and the nesting of arrays, for which join calls
// itself.
func guardJoin(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		n := b.elements(c.This, name)
		if b.joining++; b.joining > maxJoining {
			b.exceed("", "arrays nested more than %d deep made a string", maxJoining)
		}
		defer func() { b.joining-- }()
		if o, ok := c.This.(*goja.Object); ok && n > 0 {
			separator := 1
			if s := c.Argument(0); !goja.IsUndefined(s) {
				text := b.text(s)
				separator, c.Arguments = text.Length(), []goja.Value{text}
			}
			b.made(b.joined(o, n) + (n-1)*separator)
		}
		return old(c)
	}
}

// joined returns the total length of the strings in an array. Nested arrays are
// counted when join calls itself for them.
func (b *sandbox) joined(o *goja.Object, n int) int {
	total := 0
	for i := range n {
		if s, ok := o.Get(strconv.Itoa(i)).(goja.String); ok {
			if total += s.Length(); total > maxText {
				break
			}
		}
	}
	return total
}

// made charges for a string of this length, or ends the call if it is too long.
func (b *sandbox) made(units int) {
	if units > maxText {
		b.exceed("", "a string of %d characters or more is over the limit of %d for built-in functions", units, maxText)
	}
	b.spend(units)
}
