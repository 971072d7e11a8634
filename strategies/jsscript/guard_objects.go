package jsscript

import (
	"github.com/dop251/goja"
)

// Limits on nesting functions, classes and proxies: using the outermost recurses
// on the stack of the host.
const (
	maxBound   = 10_000 // functions made by bind, in a seat's life
	maxName    = 600    // characters of their names, which bind prefixes with "bound "
	maxProxies = 10_000
	maxClasses = 500 // that extend one another
)

var functionGuards = []guard{{"apply", guardApply(1)}, {"bind", guardBind}}

func (b *sandbox) guardFunctions() {
	if b.wants("apply") || b.wants("bind") {
		b.install(b.vm.ToValue(guardNothing).(*goja.Object).Prototype(), functionGuards)
	}
	if b.usage.reaches("Reflect") {
		b.install(b.global("Reflect"), []guard{{"apply", guardApply(2)}, {"construct", guardApply(1)}})
	}
}

func guardBind(b *sandbox, _ string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		if b.bound++; b.bound > maxBound {
			b.exceed("", "more than %d functions made by bind", maxBound)
		}
		if f, ok := c.This.(*goja.Object); ok && !isProxy(f) {
			if name, ok := f.Get("name").(goja.String); ok && name.Length() > maxName {
				b.exceed("", "a function bound again and again")
			}
		}
		return old(c)
	}
}

func guardNothing(goja.FunctionCall) goja.Value { return goja.Undefined() }

// guardApply bounds an argument list, which is itself the argument at the given
// position.
func guardApply(position int) func(*sandbox, string, native) native {
	return func(b *sandbox, _ string, old native) native {
		return func(c goja.FunctionCall) goja.Value {
			b.check()
			if list := c.Argument(position); !nothing(list) {
				c.Arguments = argument(c.Arguments, position, b.list(list, maxSpread))
			}
			return old(c)
		}
	}
}

// objectGuards and shapeGuards keep scripts from giving a built-in function a
// computed name: goja reads the names of the running functions during an
// interrupt, and script code that runs then never returns. So a function keeps
// its own name or, if that is deleted, the inherited one.
var (
	objectGuards = []guard{{"__defineGetter__", guardName(-1)}}
	shapeGuards  = []guard{
		{"defineProperty", guardName(0)}, {"defineProperties", guardShape}, {"setPrototypeOf", guardShape},
	}
)

func (b *sandbox) guardObjects() {
	if b.usage.deletes && !b.secured {
		define(b.vm.ToValue(guardNothing).(*goja.Object).Prototype(), "name", b.vm.ToValue(""))
	}
	proto := b.vm.NewObject().Prototype()
	b.install(proto, objectGuards)
	if b.wants("__proto__") {
		b.guardProto(proto)
	}
	for _, global := range []string{"Object", "Reflect"} {
		if b.usage.reaches(global) {
			b.install(b.global(global), shapeGuards)
		}
	}
}

// guardClasses bounds the depth of class inheritance: a class without its own
// constructor calls that of its parent on the host's stack. The parent cannot
// change later: see guardShape.
func (b *sandbox) guardClasses() {
	if !b.usage.names[hookSuper] {
		return
	}
	define(b.vm.GlobalObject(), hookSuper, b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		base := c.Argument(0)
		n := 0
		for o, ok := base.(*goja.Object); ok && o != nil && !isProxy(o); o = o.Prototype() {
			if n++; n > maxClasses {
				b.exceed("", "more than %d classes that extend one another", maxClasses)
			}
		}
		return base
	}))
}

// guardName refuses to redefine the name of a function. The function is "this"
// or the argument at a position; the property name is the next argument.
func guardName(position int) func(*sandbox, string, native) native {
	return func(b *sandbox, _ string, old native) native {
		return func(c goja.FunctionCall) goja.Value {
			target := c.This
			if position >= 0 {
				target = c.Argument(position)
			}
			key := c.Argument(position + 1)
			if _, ok := key.(*goja.Object); ok { // convert it to text only once
				key = b.text(key)
				c.Arguments = argument(c.Arguments, position+1, key)
			}
			if s, ok := key.(goja.String); ok && s.Length() == 4 && s.String() == "name" && callable(target) {
				panic(b.vm.NewTypeError("the name of a function cannot be redefined"))
			}
			return old(c)
		}
	}
}

// guardShape refuses to change the prototype or attributes of a function.
func guardShape(b *sandbox, name string, old native) native {
	return func(c goja.FunctionCall) goja.Value {
		if callable(c.Argument(0)) {
			panic(b.vm.NewTypeError("%s is not available for functions", name))
		}
		return old(c)
	}
}

func callable(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

// guardProto replaces the accessor __proto__, which is another setPrototypeOf.
func (b *sandbox) guardProto(proto *goja.Object) {
	get := b.function("get __proto__", func(c goja.FunctionCall) goja.Value {
		if nothing(c.This) {
			panic(b.vm.NewTypeError("Cannot read __proto__ of undefined or null"))
		}
		if p := c.This.ToObject(b.vm).Prototype(); p != nil {
			return p
		}
		return goja.Null()
	})
	set := b.function("set __proto__", func(c goja.FunctionCall) goja.Value {
		o, ok := c.This.(*goja.Object)
		to, isObject := c.Argument(0).(*goja.Object)
		if !ok || !isObject && !goja.IsNull(c.Argument(0)) {
			return goja.Undefined()
		}
		if callable(o) {
			panic(b.vm.NewTypeError("__proto__ is not available for functions"))
		}
		if err := o.SetPrototype(to); err != nil {
			panic(err)
		}
		return goja.Undefined()
	})
	_ = proto.DefineAccessorProperty("__proto__", get, set, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// traps lists the methods of a proxy's handler.
var traps = []string{
	"apply", "construct", "defineProperty", "deleteProperty", "get", "getOwnPropertyDescriptor", "getPrototypeOf",
	"has", "isExtensible", "preventExtensions", "set", "setPrototypeOf",
}

// guardProxies counts proxies, and copies their traps on creation, because it
// must check what ownKeys returns.
func (b *sandbox) guardProxies() {
	if !b.usage.reaches("Proxy") {
		return
	}
	_ = b.global("Proxy").Delete("revocable")
	b.constructor("Proxy", func(args []goja.Value) []goja.Value {
		if b.proxies++; b.proxies > maxProxies {
			b.exceed("", "more than %d proxies", maxProxies)
		}
		if len(args) < 2 {
			return args
		}
		handler, ok := args[1].(*goja.Object)
		if !ok {
			return args
		}
		return argument(args, 1, b.guardedHandler(handler))
	})
}

func (b *sandbox) guardedHandler(handler *goja.Object) *goja.Object {
	out := b.vm.CreateObject(handler)
	for _, name := range traps {
		if trap := handler.Get(name); trap != nil {
			_ = out.DefineDataProperty(name, trap, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
		}
	}
	keys := handler.Get("ownKeys")
	if call, ok := goja.AssertFunction(keys); ok {
		keys = b.function("ownKeys", func(c goja.FunctionCall) goja.Value {
			b.check()
			list, err := call(handler, c.Arguments...)
			if err != nil {
				panic(err)
			}
			return b.list(list, maxSpread)
		})
	} else {
		keys = goja.Undefined()
	}
	_ = out.DefineDataProperty("ownKeys", keys, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	return out
}
