package jsscript

import (
	"errors"
	"log/slog"
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies/script"
)

// callDepth is the limit of nested calls.
const callDepth = 2000

// removed are the globals that no script gets: the clock, promises, since choose answers at
// once, code from strings, and errors of the host.
var removed = []string{"Date", "Promise", "eval", "GoError"}

// sandbox is one runtime. It belongs to one goroutine at a time.
type sandbox struct {
	vm   *goja.Runtime
	text *script.Text
	log  script.Log
}

// newSandbox makes a runtime for a seat.
func (f *factory) newSandbox(random func() float64, log *slog.Logger) *sandbox {
	b := &sandbox{vm: goja.New(), text: f.text, log: script.Log{Script: f.Info().Name, To: log}}
	b.vm.SetRandSource(random)
	b.vm.SetMaxCallStackSize(callDepth)
	b.vm.SetParserOptions(b.refuseCode())
	for _, name := range removed {
		_ = b.vm.GlobalObject().Delete(name)
	}
	b.installConsole(f.source)
	f.install(b.vm)
	f.setParams(b.vm)
	return b
}

// setParams sets the object params, unless the script declares none: it may then have a
// variable of that name.
func (f *factory) setParams(vm *goja.Runtime) {
	if len(f.params) == 0 {
		return
	}
	o := vm.NewObject()
	for _, p := range f.params {
		v := vm.ToValue(p.Default)
		if p.Words == nil {
			v = vm.ToValue(p.Number(p.Default))
		}
		_ = o.Set(p.Name, v) // a new object takes everything
	}
	_ = vm.GlobalObject().Set("params", o)
}

// refuseCode returns a parser option that throws. A runtime applies its options whenever
// it parses a string as code, on whatever way the script got there.
func (b *sandbox) refuseCode() parser.Option {
	return reflect.MakeFunc(reflect.TypeFor[parser.Option](), func([]reflect.Value) []reflect.Value {
		panic(b.vm.NewTypeError("code cannot be made of strings"))
	}).Interface().(parser.Option)
}

// interrupt stops the call; the watchdog calls it. goja checks for interrupts between
// instructions, not inside built-in functions.
func (b *sandbox) interrupt() { b.vm.Interrupt(errStopped) }

// errStopped stops the interpreter. Its text is unused: the watchdog's guard has the reason.
var errStopped = errors.New("stopped")

// top returns the run of a script's top level as a function.
func (b *sandbox) top(main *goja.Program) goja.Callable {
	return func(goja.Value, ...goja.Value) (goja.Value, error) { return b.vm.RunProgram(main) }
}

// run calls a function and recovers from every panic.
func (b *sandbox) run(f goja.Callable, args []goja.Value) (v goja.Value, failed *failure) {
	defer func() {
		if r := recover(); r != nil {
			failed = recovered(r)
		}
	}()
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		return nil, b.explain(err)
	}
	return v, nil
}
