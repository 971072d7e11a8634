package jsscript

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
)

// Limits of one seat that do not depend on the machine.
const (
	callDepth = 2000 // limit of nested calls
	// largeRoom is how many bytes a seat may have made by the built-in
	// functions that make much of little; smallRoom is what comes back to it
	// with every call.
	largeRoom = 64 << 20
	smallRoom = 64 << 10
)

// sandbox is one runtime, with what a script may reach in it, and what it has
// used up. It belongs to one goroutine at a time; only stopped is set from
// another.
type sandbox struct {
	vm      *goja.Runtime
	usage   *usage
	secured bool        // all guards are installed, also those the script does not name
	stopped atomic.Bool // by the watchdog, which interrupts the runtime as well
	over    *failure    // a limit that a guard found overrun
	line    int         // where a guard found that the watchdog had stopped the call
	room    int         // bytes that built-in functions may still make
	joining int         // running built-in functions that call themselves
	bound   int         // functions made by bind
	proxies int
	regexps bool // their guards are in place
	typed   bool // so are those of typed arrays
	console console
	iteration
}

// newSandbox makes a runtime for a seat. It is safe because of what is taken
// away and guarded, so nothing may run in it before.
func newSandbox(u *usage, name string, random func() float64, log *slog.Logger) *sandbox {
	b := &sandbox{vm: goja.New(), usage: u, room: largeRoom, console: console{name: name, log: log}}
	b.vm.SetRandSource(random)
	b.vm.SetMaxCallStackSize(callDepth)
	b.furnish()
	return b
}

// interrupt stops the call; the watchdog calls it.
func (b *sandbox) interrupt() {
	b.stopped.Store(true)
	b.vm.Interrupt(errStopped)
}

// errStopped stops the interpreter. Its text is unused: the reason is in the
// watchdog's guard or in sandbox.over.
var errStopped = errors.New("stopped")

// overrun is the panic that a guard unwinds the interpreter with. It is no
// JavaScript value and no error, so neither catch nor finally sees it.
type overrun struct{}

// exceed ends the call and the seat, because of an exceeded limit.
func (b *sandbox) exceed(hint, format string, args ...any) {
	if b.over == nil {
		b.over = &failure{
			line: lineIn(b.vm.CaptureCallStack(0, nil)), hint: hint, over: true,
			err: fmt.Errorf("%w: %s", strategies.ErrBudget, fmt.Sprintf(format, args...)),
		}
	}
	// What the unwinding would still run, such as an iterator's return, stops
	// at its first instruction.
	b.vm.Interrupt(errStopped)
	panic(overrun{})
}

// check ends the call if the watchdog has stopped it. Built-in functions that
// call one another never come to an instruction where the interpreter looks.
func (b *sandbox) check() {
	if b.stopped.Load() {
		b.line = lineIn(b.vm.CaptureCallStack(0, nil))
		panic(overrun{})
	}
}

// spend takes bytes that a built-in function is about to make. What is small
// is not counted: it takes as long to ask for it as to make it.
func (b *sandbox) spend(bytes int) {
	const small = 4 << 10
	if bytes < small {
		return
	}
	if b.room -= bytes; b.room < 0 {
		b.exceed("", "more than %d MiB made by built-in functions", largeRoom>>20)
	}
}

// run calls a function and recovers from every panic.
func (b *sandbox) run(f goja.Callable, args []goja.Value) (v goja.Value, failed *failure) {
	defer func() {
		if r := recover(); r != nil {
			failed = b.recovered(r)
		}
	}()
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		return nil, b.explain(err)
	}
	return v, nil
}

// begin starts a call's budget.
func (b *sandbox) begin() {
	b.room = min(b.room+smallRoom, largeRoom)
}

// end puts everything back for the next call, after the watchdog's guard has
// been left.
func (b *sandbox) end() {
	b.joining = 0
	if b.stopped.Load() || b.over != nil {
		b.stopped.Store(false)
		b.vm.ClearInterrupt()
	}
}

// furnish removes what reaches outside, and installs the guards that the script
// can reach.
func (b *sandbox) furnish() {
	global := b.vm.GlobalObject()
	for _, name := range removed {
		if b.usage.reaches(name) {
			_ = global.Delete(name)
		}
	}
	// Arrays are joined whenever one is made a string, even as a member name.
	b.replace(b.vm.NewArray().Prototype(), guard{"join", guardJoin})
	b.guardIterables()
	b.guardMethods()
	if b.usage.regexps {
		b.guardRegExps()
	}
	b.guardMemory()
	b.guardProxies()
	b.guardClasses()
	b.console.install(b)
	if b.usage.computes {
		define(global, hookKey, b.vm.ToValue(b.key))
	}
	if b.usage.appends {
		define(global, hookText, b.vm.ToValue(b.appended))
	}
}

func (b *sandbox) guardMethods() {
	b.hideConstructors()
	b.install(b.vm.NewArray().Prototype(), arrayGuards)
	b.guardDrains()
	b.guardStrings()
	b.guardFunctions()
	b.guardObjects()
	b.guardJSON()
}

// key checks a computed member name and returns it. The first name that has a
// guard makes it install all guards.
func (b *sandbox) key(c goja.FunctionCall) goja.Value {
	k := c.Argument(0)
	switch v := k.(type) {
	case *goja.Object:
		if isProxy(v) || v.ClassName() != "Symbol" {
			k = b.text(v) // converted only once
		}
	}
	if s, ok := k.(goja.String); ok && !b.secured && s.Length() <= longestGuarded && guarded[s.String()] {
		b.secured = true
		b.guardMethods()
	}
	return k
}

// wants reports whether to install a guard: at first if the script contains its
// name; when everything is to be guarded, if it does not.
func (b *sandbox) wants(name string) bool { return b.usage.mentions(name) != b.secured }

// removed are the globals that no script gets. A clock would make results
// depend on the machine; eval would make survey blind; promises could make the interpreter call built-in
// functions for ever after the script has returned; BigInt makes numbers of
// any size in one instruction; a GoError wraps what the host has panicked with;
// an AggregateError is of no use without promises.
var removed = []string{
	"Date", "eval", "Promise", "BigInt", "BigInt64Array", "BigUint64Array", "GoError", "AggregateError",
}

// hideConstructors removes the paths from values to their constructors, and to
// Function, which compiles code.
func (b *sandbox) hideConstructors() {
	if !b.wants("constructor") && (b.secured || !b.usage.reaches("Function")) {
		return
	}
	function := b.vm.ToValue(func(goja.FunctionCall) goja.Value {
		panic(b.vm.NewTypeError("code cannot be made of strings"))
	}).(*goja.Object)
	proto := function.Prototype()
	define(function, "name", b.vm.ToValue("Function"))
	define(function, "prototype", proto) // for instanceof
	_ = b.vm.GlobalObject().Set("Function", function)
	_ = proto.DefineDataProperty("constructor", function, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	if b.usage.generators {
		b.hideGeneratorFunction(function)
	}
	if b.usage.open {
		return // they are guarded themselves
	}
	for _, v := range []*goja.Object{b.vm.NewObject(), b.vm.NewArray(), b.vm.ToValue("").ToObject(b.vm)} {
		_ = v.Prototype().Delete("constructor")
	}
}

// generator is a program whose value is a generator function.
var generator = goja.MustCompile("host.js", "(function* () {})", true)

func (b *sandbox) hideGeneratorFunction(thrower *goja.Object) {
	f, err := b.vm.RunProgram(generator)
	if err != nil {
		panic(err) // it is constant
	}
	proto := f.(*goja.Object).Prototype()
	_ = proto.DefineDataProperty("constructor", thrower, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// define sets a property that scripts cannot change.
func define(o *goja.Object, name string, v goja.Value) {
	_ = o.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}
