package jsscript

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// Text returns the source, for hints.
func (f *factory) Text() *script.Text { return f.text }

// NewWatched makes a seat that reports what its script reads although it does not
// exist: fields of what the host hands out. The prototype of those objects is a proxy,
// which is asked for nothing but what an object lacks; other seats do not have it.
func (f *factory) NewWatched(ctx context.Context, s strategies.Setup, seen func(script.Slip)) (strategies.Strategy, error) {
	st, err := f.open(ctx, s)
	if err != nil {
		return nil, err
	}
	st.watch = &watch{vm: st.sandbox.vm, seen: seen, text: f.text}
	for _, slip := range f.differ {
		seen(slip)
	}
	f.text.Uncalled(func(hook string) bool { return f.text.LineOf(hook) > 0 }, jsFunction(), seen)
	if err := st.begin(ctx, &s); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// watch reports the slips of one seat. The nil pointer watches nothing.
type watch struct {
	vm   *goja.Runtime
	seen func(script.Slip)
	text *script.Text
}

// mark puts a proxy before the prototype of an object. describe is asked for what neither has.
func (w *watch) mark(o *goja.Object, doubtful bool, describe func(key string) (what, hint string)) {
	get := func(target *goja.Object, key string) goja.Value {
		if v := target.Get(key); v != nil {
			return v
		}
		line := lineIn(w.vm.CaptureCallStack(0, nil))
		if what, hint := describe(key); what != "" && line > 0 {
			w.seen(script.Slip{Line: line, What: strategies.OneLine(what, maxMessage), Hint: hint, Doubtful: doubtful})
		}
		return goja.Undefined()
	}
	_ = o.SetPrototype(w.vm.ToValue(w.vm.NewProxy(o.Prototype(), &goja.ProxyTrapConfig{
		Get:    func(target *goja.Object, key string, _ goja.Value) goja.Value { return get(target, key) },
		GetIdx: func(target *goja.Object, at int, _ goja.Value) goja.Value { return get(target, strconv.Itoa(at)) },
	})).(*goja.Object)) // a frozen object stays unwatched
}

// object watches the fields of a setup, turn or outcome.
func (w *watch) object(o *goja.Object, name string) {
	if w == nil {
		return
	}
	w.mark(o, false, func(key string) (what, hint string) {
		if key == "toJSON" || w.text.Assigns(key) { // JSON.stringify asks for the first
			return "", ""
		}
		return script.Missing(name, key)
	})
}

// list watches the reading of a list outside of its entries. An empty list may be read
// anywhere: list[list.length - 1] is how its last entry is read.
func (w *watch) list(o *goja.Object, name string) {
	if w == nil {
		return
	}
	w.mark(o, true, func(key string) (what, hint string) {
		length := o.Get("length").ToInteger()
		at, err := strconv.ParseInt(key, 10, 64)
		switch {
		case err != nil && key != "toJSON" && !w.text.Assigns(key):
			return fmt.Sprintf("%s is a list and has no field %q", name, key), "its length is list.length, its first entry list[0]"
		case err == nil && length > 0 && at < 0:
			return name + " is read at " + key, "the last entry is list[list.length - 1] or list.at(-1)"
		case err == nil && length > 0 && at == length:
			return name + " is read after its last entry", "lists begin at 0 in JavaScript; the last entry is list[list.length - 1]"
		}
		return "", ""
	})
}

// told watches the outcomes, which the host makes inside the runtime: it returns the
// observe that gets each first.
func (w *watch) told(observe goja.Value) goja.Value {
	if w == nil {
		return observe
	}
	next, called := goja.AssertFunction(observe)
	return w.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if o, ok := c.Argument(0).(*goja.Object); ok {
			w.object(o, "outcome")
		}
		if called {
			if _, err := next(goja.Undefined(), c.Arguments...); err != nil {
				panic(err)
			}
		}
		return goja.Undefined()
	})
}
