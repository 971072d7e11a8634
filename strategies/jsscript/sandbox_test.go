package jsscript_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// attempts are expressions that would show a way out of the sandbox: each has
// to throw, or to be undefined.
var attempts = []string{
	// The machine
	"require('fs')", "process.env", "process.exit(1)", "module", "__dirname", "__filename", "import_", "fetch('http://localhost')",
	"XMLHttpRequest", "WebAssembly", "SharedArrayBuffer", "Atomics", "os", "std", "load", "read", "readFile", "Deno", "Bun", "window", "self", "global",
	// Time
	"Date.now()", "new Date()", "Date()", "performance.now()", "setTimeout(() => 1)", "setInterval(() => 1)", "queueMicrotask(() => 1)",
	"new (Object.getPrototypeOf(1).constructor.Date)()", "Intl.DateTimeFormat().resolvedOptions()", "globalThis.Date", "globalThis['Da' + 'te']",
	"this.Date", "(function () { return this })().Date", "(() => this)().Date", "Reflect.get(globalThis, 'Date')",
	// Code from strings
	"eval('1')", "(0, eval)('1')", "globalThis.eval('1')", "globalThis['ev' + 'al']('1')", "new Function('return 1')()", "Function('return 1')()",
	"(() => 1).constructor('return 1')()", "(function () {}).constructor('return 1')()", "(() => 1)['const' + 'ructor']('return 1')()",
	"(function* () {}).constructor('yield 1')().next()", "(function* () {})['const' + 'ructor']('yield 1')().next()",
	"Object.getPrototypeOf(function* () {}).constructor('yield 1')", "[].map.constructor('return 1')()", "(class {}).constructor('return 1')()",
	"Reflect.construct((() => 1).constructor, ['return 1'])()", "choose.constructor.constructor('return 1')()",
	"Object.getOwnPropertyDescriptor(Object.getPrototypeOf(() => 1), 'constructor').value('return 1')()",
	"Object.getOwnPropertyDescriptors(Function.prototype).constructor.value('return 1')()",
	"({}).constructor.constructor('return 1')()", "turn.constructor.constructor('return 1')()", "[].constructor.constructor('return 1')()",
	"turn.history.constructor.constructor('return 1')()", "'x'.constructor.constructor('return 1')()", "console.log.constructor('return 1')()",
	"/x/.constructor.constructor('return 1')()", "Math.max.constructor('return 1')()", "new Error().constructor.constructor('return 1')()",
	"(() => { const { constructor: F } = () => 1; return F('return 1')() })()",
	"(() => { const k = ['constr', 'uctor'].join(''); const { [k]: F } = () => 1; return F('return 1')() })()",
	"(() => { const k = 'constr'.concat('uctor'); let F; ({ [k]: F } = () => 1); return F('return 1')() })()",
	"(() => { for (const k of Object.getOwnPropertyNames(Function.prototype)) { const f = (() => 1)[k]; try { if (f('return 7')() === 7) return true } catch {} } })()",
	"(() => { class A extends Array { at(k) { return super[k] } } return new A().at('const' + 'ructor').constructor('return 1')() })()",
	"(async () => 1).constructor('return 1')()", "(async function () {}).constructor('return 1')()", "GeneratorFunction", "AsyncFunction", "RegExp.prototype.exec.constructor('return 1')()",
	// What is not there
	"Promise.resolve(1)", "globalThis.Promise",
	"(() => { try { null.x } catch (e) { return e.constructor.constructor('return 1')() } })()",
	// The host
	"arguments.callee", "choose.caller", "Error.prepareStackTrace", "Error.captureStackTrace.x",
	"console.constructor.constructor('return 1')()", "print.constructor('return 1')()",
}

func TestNoWayOut(t *testing.T) {
	for _, attempt := range attempts {
		if _, err := ask(t, body("let got; try { got = "+attempt+" } catch (e) { return 'even' }\nreturn got === undefined ? 'odd' : String(got)")); err != nil {
			t.Errorf("%s: %v", attempt, err)
		}
	}
}

// Nothing of the host's shows in what scripts can read of errors and functions.
func TestHostDoesNotShow(t *testing.T) {
	holds(t, "let s; try { null.x } catch (e) { s = e.stack }", `s.includes("script.js") && !s.includes("scripts") && !s.includes("/")`)
	for _, f := range []string{"console.log", "print", "[].map", "''.repeat", "JSON.parse", "/x/.exec", "Float64Array", "Proxy", "Map", "Array.from", "Function", "RegExp"} {
		holds(t, "const f = "+f, `!String(f).includes("github") && !f.name.includes("/") && f.name.length > 0`)
	}
}

// What a script does to prototypes harms nobody but itself, and not even that.
func TestTamperedPrototypes(t *testing.T) {
	for name, tampering := range map[string]string{
		"setters of Object.prototype": `for (const k of ["match_id", "round", "opponent", "role", "choice", "result", "points", "history", "drawn_number"])
			Object.defineProperty(Object.prototype, k, { set() { throw new Error("set") }, get() { throw new Error("got") }, configurable: true });`,
		"array methods":      `for (const k of Object.getOwnPropertyNames(Array.prototype)) if (k !== "constructor") try { Array.prototype[k] = () => { throw new Error(k) } } catch {}`,
		"iterators":          `Array.prototype[Symbol.iterator] = () => { throw new Error("iterated") }; Object.getPrototypeOf([].values()).next = () => { throw new Error("next") };`,
		"function methods":   `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("called") };`,
		"globals":            `globalThis.Object = globalThis.Array = globalThis.Map = globalThis.String = globalThis.Error = globalThis.undefined2 = null;`,
		"string conversions": `Object.prototype.toString = String.prototype.toString = Object.prototype.valueOf = () => { throw new Error("converted") };`,
		"frozen prototypes":  `Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(Function.prototype);`,
		"frozen globals":     `Object.freeze(globalThis);`,
		"deleted":            `for (const k of Object.getOwnPropertyNames(Object.prototype)) try { delete Object.prototype[k] } catch {}`,
	} {
		s := seated(t, tampering+"\nfunction choose(turn) { return turn.history.length > 0 && turn.history[0].result === 'win' ? 'odd' : 'even' }")
		first, err1 := s.Choose(t.Context(), turn(0))
		err2 := s.Observe(t.Context(), outcome(0))
		second, err3 := s.Choose(t.Context(), turn(2))
		if err := errors.Join(err1, err2, err3); err != nil || first != strategies.Even || second != strategies.Odd {
			t.Errorf("%s: chooses %v, then %v, %v; want even, then odd", name, first, second, err)
		}
	}
}

// A script that has frozen its turn is told so; the next one is not disturbed.
func TestFrozenTurn(t *testing.T) {
	f := compile(t, "function choose(turn) { Object.freeze(turn); return 'even' }")
	s := sit(t, f, [2]uint64{})
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Choose(t.Context(), turn(1))
	if err == nil || !strings.Contains(err.Error(), "what is handed to choose must not be frozen") {
		t.Errorf("choose with a frozen turn: %v", err)
	}
	if _, err := sit(t, f, [2]uint64{}).Choose(t.Context(), turn(0)); err != nil {
		t.Errorf("another seat: %v", err)
	}
}
