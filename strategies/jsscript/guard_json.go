package jsscript

import (
	"math"
	"strconv"

	"github.com/dop251/goja"
)

// Limits on the input of JSON.parse and JSON.stringify. Both recurse on the
// stack of the host.
const (
	maxJSONDepth = 200
	maxJSONNodes = 100_000
)

var jsonGuards = []guard{{"parse", guardParse}, {"stringify", guardStringify}}

func (b *sandbox) guardJSON() {
	if b.usage.reaches("JSON") {
		b.install(b.global("JSON"), jsonGuards)
	}
}

func guardParse(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		text := b.text(c.Argument(0))
		if text.Length() > maxText {
			b.exceed("", "JSON of %d characters is over the limit of %d", text.Length(), maxText)
		}
		if deep(text.String()) {
			b.exceed("", "JSON nested more than %d deep", maxJSONDepth)
		}
		value := old(goja.FunctionCall{This: c.This, Arguments: []goja.Value{text}})
		if reviver, ok := goja.AssertFunction(c.Argument(1)); ok {
			root := b.vm.NewObject()
			_ = root.Set("", value)
			r := reading{b: b, reviver: reviver}
			return r.revive(root, "", 0)
		}
		return value
	}
}

// reading is the second half of one call of JSON.parse, which passes every value
// to the reviver, innermost first. The reviver can add values that are not yet
// visited, so their depth and size are checked, too.
type reading struct {
	b       *sandbox
	reviver goja.Callable
	nodes   int
}

func (r *reading) revive(holder *goja.Object, key string, depth int) goja.Value {
	b := r.b
	b.check()
	if r.nodes++; r.nodes > maxJSONNodes {
		b.exceed("", "JSON of more than %d values", maxJSONNodes)
	}
	if depth > maxJSONDepth {
		b.exceed("", "JSON nested more than %d deep", maxJSONDepth)
	}
	value := holder.Get(key)
	if o, ok := value.(*goja.Object); ok {
		if isProxy(o) {
			panic(b.vm.NewTypeError("JSON.parse does not go through proxies"))
		}
		for _, k := range r.keys(o) {
			if v := r.revive(o, k, depth+1); goja.IsUndefined(v) {
				_ = o.Delete(k)
			} else {
				_ = o.DefineDataProperty(k, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
	}
	if value == nil {
		value = goja.Undefined()
	}
	revived, err := r.reviver(holder, b.vm.ToValue(key), value)
	if err != nil {
		panic(err)
	}
	return revived
}

// keys returns the keys of an object or array.
func (r *reading) keys(o *goja.Object) []string {
	if !isArray(o) {
		r.b.sized(o)
		return o.Keys()
	}
	n := lengthOf(o)
	r.b.within(n, maxJSONNodes)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	return keys
}

// deep reports whether a JSON text is nested too deeply.
func deep(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxJSONDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// guardStringify installs a replacer, which receives every value before it is
// written, including results of toJSON.
func guardStringify(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		b.check()
		w := &writing{b: b, depths: make(map[*goja.Object]int)}
		if replacer, ok := c.Argument(1).(*goja.Object); ok {
			w.adopt(replacer)
		}
		c.Arguments = argument(c.Arguments, 1, b.vm.ToValue(w.value))
		return old(c)
	}
}

// writing is one call of JSON.stringify.
type writing struct {
	b        *sandbox
	depths   map[*goja.Object]int
	nodes    int
	units    int
	replacer goja.Callable
	only     map[string]bool // names to be written, if not nil
}

// adopt stores the script's own replacer, a function or a list of names.
func (w *writing) adopt(replacer *goja.Object) {
	if call, ok := goja.AssertFunction(replacer); ok {
		w.replacer = call
		return
	}
	if !isArray(replacer) {
		return
	}
	w.only = make(map[string]bool)
	w.b.vm.ForOf(w.b.list(replacer, maxSpread), func(name goja.Value) bool {
		if _, ok := name.(goja.String); ok || goja.IsNumber(name) {
			w.only[name.String()] = true
		}
		return true
	})
}

// value is the replacer that JSON.stringify calls.
func (w *writing) value(c goja.FunctionCall) goja.Value {
	w.b.check()
	holder, _ := c.This.(*goja.Object)
	key, value := c.Argument(0), c.Argument(1)
	if w.replacer != nil {
		v, err := w.replacer(holder, key, value)
		if err != nil {
			panic(err)
		}
		value = v
	}
	depth, inside := w.depths[holder]
	if w.only != nil && inside && !isArray(holder) && !w.only[key.String()] {
		return goja.Undefined()
	}
	switch v := value.(type) {
	case goja.String:
		w.add(1, v.Length())
	case *goja.Object:
		w.object(v, depth+1)
	default:
		w.add(1, 0)
	}
	return value
}

func (w *writing) object(o *goja.Object, depth int) {
	if isProxy(o) {
		panic(w.b.vm.NewTypeError("JSON.stringify does not write proxies"))
	}
	if depth > maxJSONDepth {
		w.b.exceed("", "JSON nested more than %d deep", maxJSONDepth)
	}
	w.depths[o] = depth
	switch o.ClassName() {
	case "Array":
		w.add(lengthOf(o), 0)
	case "String":
		w.add(1, lengthOf(o))
	default:
		w.add(1, 0)
	}
}

func (w *writing) add(nodes, units int) {
	w.nodes, w.units = w.nodes+nodes, w.units+units
	if w.nodes > maxJSONNodes {
		w.b.exceed("", "JSON of more than %d values", maxJSONNodes)
	}
	if w.units > maxText {
		w.b.exceed("", "JSON of more than %d characters", maxText)
	}
	w.b.spend(min(units, math.MaxInt32))
}
