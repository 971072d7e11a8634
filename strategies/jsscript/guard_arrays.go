package jsscript

import (
	"strconv"

	"github.com/dop251/goja"
)

// arrayGuards are the methods of arrays that go through all elements. The
// elements of an array need not exist: its length alone says how long that
// takes.
var arrayGuards = []guard{
	{"concat", guardConcat}, {"copyWithin", guardElements}, {"every", guardElements}, {"fill", guardFill},
	{"filter", guardElements}, {"find", guardElements}, {"findIndex", guardElements}, {"findLast", guardElements},
	{"findLastIndex", guardElements}, {"flat", guardFlat}, {"flatMap", guardElements}, {"forEach", guardElements},
	{"includes", guardElements}, {"indexOf", guardElements}, {"lastIndexOf", guardElements}, {"map", guardElements},
	{"reduce", guardElements}, {"reduceRight", guardElements}, {"reverse", guardElements}, {"shift", guardElements},
	{"slice", guardElements}, {"some", guardElements}, {"sort", guardElements}, {"splice", guardElements},
	{"toLocaleString", guardJoin}, {"toReversed", guardFill}, {"toSorted", guardFill}, {"toSpliced", guardFill},
	{"unshift", guardElements}, {"with", guardFill},
}

// elements returns how many elements an array method would go through. Methods
// of arrays are for arrays here: of another object, the length might be a
// different one each time it is asked for.
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

// guardFill is for methods that make as many elements as there seem to be.
func guardFill(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.spend(elementBytes * b.elements(c.This, name))
		return old(c)
	}
}

// elementBytes is what an element of an array takes, with what is left behind
// while the array grows.
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

// guardFlat keeps flat from following arrays that contain themselves.
func guardFlat(b *sandbox, name string, old native) native {
	const deepest = 100
	return func(c goja.FunctionCall) goja.Value {
		b.elements(c.This, name)
		if depth := c.Argument(0); !goja.IsUndefined(depth) {
			c.Arguments = argument(c.Arguments, 0, b.vm.ToValue(min(depth.ToInteger(), deepest)))
		}
		return old(c)
	}
}

// guardJoin bounds the string that is made, and arrays within arrays, for
// which join calls itself.
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

// joined adds up the strings among the elements of an array. What is in arrays
// among them is counted when those are joined in their turn.
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

// made ends the call if a string of so many units is too long, and counts it.
func (b *sandbox) made(units int) {
	if units > maxText {
		b.exceed("", "a string of %d characters or more is over the limit of %d for built-in functions", units, maxText)
	}
	b.spend(units)
}
