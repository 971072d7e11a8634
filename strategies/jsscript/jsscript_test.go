package jsscript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

const source = "scripts/test.js"

// load compiles a script that has to compile, under limits.
func load(tb testing.TB, script string, limits budget.Limits) strategies.Factory {
	tb.Helper()
	f, err := jsscript.Compile("test", source, []byte(script), limits)
	must(tb, err)
	tb.Cleanup(func() { must(tb, f.Close()) })
	return f
}

// compile is load under the default limits.
func compile(tb testing.TB, script string) strategies.Factory {
	tb.Helper()
	return load(tb, script, budget.Limits{})
}

// setup is a league of three.
func setup(key game.Key) strategies.Setup {
	return strategies.Setup{
		ID: "P01", Name: "Ada", Field: []string{"P01", "P02", "P03"}, Rounds: 30, Legs: 10,
		Key: key, Rand: game.NewRand(key),
	}
}

// sit makes a seat, which is closed at the end.
func sit(tb testing.TB, f strategies.Factory, key game.Key) strategies.Strategy {
	tb.Helper()
	s, err := f.New(tb.Context(), setup(key))
	must(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// seated is the seat of a script.
func seated(tb testing.TB, script string) strategies.Strategy {
	tb.Helper()
	return sit(tb, compile(tb, script), game.Key{1, 2})
}

// turn is the n-th match of a seat, counted from 0.
func turn(n int) *strategies.Turn {
	return &strategies.Turn{
		Match: uint64(n), MatchID: fmt.Sprintf("R%dM1", n+1), Round: n + 1,
		Opponent: game.PlayerID(n%2 + 1), Role: []game.Role{game.RoleA, game.RoleB}[n%2],
	}
}

// outcome is how the n-th match ended: an even against an odd, and a 4 drawn.
func outcome(n int) *strategies.Outcome {
	t := turn(n)
	return &strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: game.Even, OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Win, Points: 3,
	}
}

// body is a script whose choose has the given body, from line 2.
func body(statements string) string {
	return "function choose(turn) {\n" + statements + "\n}"
}

// ask returns what choose does in the first match of a seat.
func ask(tb testing.TB, script string) (strategies.Choice, error) {
	tb.Helper()
	return seated(tb, script).Choose(tb.Context(), turn(0))
}

// holds checks that an expression is true in a script's choose. The script may
// have something before it.
func holds(tb testing.TB, before, expression string) {
	tb.Helper()
	c, err := ask(tb, body(before+"\nif (!("+expression+")) throw new Error('it is not so'); return 'even'"))
	if err != nil || c != strategies.Even {
		tb.Errorf("%s: %v, %v", expression, c, err)
	}
}

// want checks what an error says, and how it is classed.
func want(tb testing.TB, err error, op strategies.Op, fault game.Fault, where, text string) {
	tb.Helper()
	var se *strategies.Error
	switch {
	case err == nil:
		tb.Errorf("no error, want %v with %q", fault, text)
	case !errors.As(err, &se):
		tb.Errorf("error %q is a %T, want a *strategies.Error", err, err)
	case se.Op != op || strategies.FaultOf(err) != fault:
		tb.Errorf("error %q is %s of %s, want %s of %s", err, strategies.FaultOf(err), se.Op, fault, op)
	case where != "" && se.Where() != where:
		tb.Errorf("error %q is at %s, want %s", err, se.Where(), where)
	case !strings.Contains(err.Error(), text):
		tb.Errorf("error %q, want one with %q", err, text)
	case strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1000:
		tb.Errorf("error %q is not one readable line", err)
	}
}

// None of these may run code of the script: it would throw.
func TestInvalidAnswers(t *testing.T) {
	for answer, shown := range map[string]string{
		`"Even"`: `answered "Even"`, `" odd"`: "use lower case without spaces", `""`: `answered ""`,
		"true": "answered true", "null": "answered null", "undefined": "does choose return on every path?",
		"2": "answered 2", "-0.1": "answered -0.1", "NaN": "answered NaN", "Infinity": "answered Infinity",
		"() => 'even'": "(did you forget to call it?)", "({})": "answered an object", "['even']": "answered an array",
		"Symbol('even')": "answered a symbol", "Object('even')": "answered an object of class String",
		"Object(1)": "answered an object of class Number", "new Map()": "answered an object", "/even/": "answered an object",
		"({ toString: boom, valueOf: boom, [Symbol.toPrimitive]: boom })":              "answered an object",
		"({ get [Symbol.toPrimitive]() { boom() }, get even() { boom() } })":           "answered an object",
		"new Proxy({}, { get: boom, getPrototypeOf: boom, has: boom, ownKeys: boom })": "answered a proxy",
		"new Proxy(() => 'even', { apply: boom, get: boom })":                          "answered a proxy",
		"Object.assign(() => 0.5, { valueOf: boom })":                                  "answered a function",
		"'x'.repeat(100000)": `answered "xxxx`, "10n": "answered 10", "(async () => 'even')()": "there is nothing to wait for",
	} {
		_, err := ask(t, "const boom = () => { throw new Error('boom') };\n"+body("return "+answer))
		at := ":2" // where choose begins
		if answer[0] == '"' {
			at = ":3" // where the text stands
		}
		want(t, err, strategies.OpChoose, game.FaultInvalid, source+at, shown)
	}
	_, err := ask(t, "let choose = (turn) =>\n  'may' + 'be'")
	want(t, err, strategies.OpChoose, game.FaultInvalid, source+":1", `answered "maybe"`)
}

func TestThrowingHooks(t *testing.T) {
	for statement, text := range map[string]string{
		`throw new Error("boom")`:           "Error: boom",
		`throw new TypeError("bo" + "om")`:  "TypeError: boom",
		`throw "just words"`:                "just words",
		`throw null`:                        "null",
		`throw undefined`:                   "undefined",
		`throw 7`:                           "7",
		`throw Symbol("s")`:                 "Symbol(s)",
		`throw { message: "not an error" }`: "threw an object (throw new Error",
		`throw new Proxy({}, {})`:           "threw a proxy",
		`throw class X extends Error {}`:    "threw a function",
		`class Mine extends Error { name = "Mine" } throw new Mine("boom")`: "Mine: boom",
		`turn.no.such`:                     "TypeError: Cannot read property 'such' of undefined",
		`nothing()`:                        "ReferenceError: nothing is not defined",
		`throw new Error("a\nb\u0007c")`:   "Error: a b\ufffdc",
		`throw new Error("x".repeat(1e6))`: "Error: xxxx",
		`const e = new Error("x"); e.message = { toString() { for (;;); } }; throw e`:                   "Error",
		`const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e`: "the thrown value cannot be shown",
		`throw Object.assign(new Error("x"), { name: 5, message: null })`:                               "",
		`JSON.parse("{")`:   "SyntaxError",
		`[].reduce(x => x)`: "TypeError",
	} {
		t.Run(statement[:min(len(statement), 40)], func(t *testing.T) {
			_, err := ask(t, body(statement))
			want(t, err, strategies.OpChoose, game.FaultError, source+":2", text)
		})
	}
}

func TestHooksThatAreNone(t *testing.T) {
	_, err := compile(t, "let choose = () => 1; function start() { choose = null }").New(t.Context(), setup(game.Key{}))
	want(t, err, strategies.OpStart, game.FaultError, source, "no function choose any more")
	// A hook that is no function is none.
	s := seated(t, body("return 'even'")+"\nconst start = 1, observe = {};")
	if err := s.Observe(t.Context(), outcome(0)); err != nil {
		t.Errorf("observe: %v", err)
	}
}

// What names the line is the innermost frame of the script.
func TestLines(t *testing.T) {
	const script = `// line 1
function pick(list) {
  return list.map((x) => {
    if (x > 1) throw new Error("too much");
    return x;
  });
}
const choose = (turn) => {
  switch (turn.round) {
    case 1: return pick([1, 2]);
    case 2: return [3, 1, 2].sort((a, b) => a.x.y);
    case 3: return Reflect.apply(pick, null, [[5]]);
    case 4: return new (class { constructor() { this.missing.x } })();
    case 5: return turn.history.at(-1).choice;
    case 6:
      return [1].map(() => choose(turn));
  }
};`
	s := seated(t, script)
	for n, line := range []int{4, 11, 4, 13, 14} {
		_, err := s.Choose(t.Context(), turn(n))
		want(t, err, strategies.OpChoose, game.FaultError, fmt.Sprintf("%s:%d", source, line), "Error: ")
	}
	_, err := s.Choose(t.Context(), turn(5))
	want(t, err, strategies.OpChoose, game.FaultBudget, source+":16", "nested too deeply")
}

// limit is the deadline where something is expected to overrun it. On a busy
// machine an honest call may do so too: those are given patient limits.
const limit = 60 * time.Millisecond

var patient = budget.Limits{Time: time.Hour}

// An interrupt must not strike anybody else, nor the next call of the seat that it missed: here a
// call ends about when its context does. This runs alone, so that innocent calls have a processor.
func TestInnocentCallsAfterOverruns(t *testing.T) {
	const script = `let n = 0;
function choose(turn) { n = 0; while (turn.round === 1 && n >= 0) n++; return "even" }
function observe(outcome) { for (let i = 0; i < 50; i++) n += i }`
	f := load(t, script, patient)
	beside := sit(t, f, game.Key{3, 4})
	for range 25 { // the interrupt comes at any moment of a call, or after it
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		s := sit(t, f, game.Key{})
		for err := error(nil); err == nil; {
			err = s.Observe(ctx, outcome(1))
		}
		cancel()
		if _, err := beside.Choose(t.Context(), turn(1)); err != nil {
			t.Fatalf("an innocent call: %v", err)
		}
	}
}

// A turn that could be written to would keep what was written, if the next one
// is against the same opponent.
func TestTurnIsReadOnly(t *testing.T) {
	s := seated(t, body("turn.history = turn.history.slice(-3)\nreturn 'even'"))
	_, err := s.Choose(t.Context(), turn(0))
	want(t, err, strategies.OpChoose, game.FaultError, source+":2", "TypeError: Cannot assign to read only property 'history'")
}

// printed returns what a seat of a script logs in one match.
func printed(t *testing.T, script string) (lines []string) {
	t.Helper()
	var log strings.Builder
	su := setup(game.Key{1, 2})
	su.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := load(t, script, patient).New(t.Context(), su)
	must(t, err)
	defer s.Close()
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(log.String()) {
		var r struct{ Level, Msg, Script string }
		must(t, json.Unmarshal([]byte(line), &r))
		lines = append(lines, fmt.Sprintf("%s script=%s: %s", r.Level, r.Script, r.Msg))
	}
	return lines
}

func TestConsole(t *testing.T) {
	for call, want := range map[string]string{
		`console.log("hello", 1, true, null, undefined)`: "INFO script=test: hello 1 true null undefined",
		`print("hello")`:                    "INFO script=test: hello",
		`console.info(0.5, NaN, -0, 1e21)`:  "INFO script=test: 0.5 NaN 0 1e+21",
		`console.warn("a\nb\u001b[31m")`:    "WARN script=test: a b\ufffd[31m",
		`console.error(new TypeError("x"))`: "ERROR script=test: TypeError: x",
		`console.debug()`:                   "DEBUG script=test: ",
		`console.log({ a: 1, b: "x", c: [1, [2, [3, [4]]]], d: { e: {} } })`:                  `INFO script=test: {a: 1, b: "x", c: [1, [2, [Array]]], d: {e: {}}}`,
		`console.log([], {}, () => 1, Symbol("s"), new Map(), new Set(), /x/)`:                "INFO script=test: [] {} [Function] a symbol [Map] [Set] [RegExp]",
		`console.log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 1 } }))`:            "INFO script=test: [Proxy]",
		`console.log([1, , 3], new Array(30).fill(0))`:                                        "INFO script=test: [1, undefined, 3] [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... 30 in all]",
		`const o = {}; o.o = o; console.log(o)`:                                               "INFO script=test: {o: {o: {o: [Object]}}}",
		`console.log({ toString() { throw 1 }, inspect() { throw 1 } })`:                      "INFO script=test: {toString: [Function], inspect: [Function]}",
		`console.log("x".repeat(600))`:                                                        "INFO script=test: " + strings.Repeat("x", 500) + "...",
		`const a = []; a.length = 4e9; console.log(a)`:                                        "INFO script=test: [" + strings.Repeat("undefined, ", 19) + "undefined, ... 4000000000 in all]",
		`console.log(Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["k" + i, i])))`: "INFO script=test: {k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5, k6: 6, k7: 7, k8: 8, k9: 9, k10: 10, k11: 11, k12: 12, k13: 13, k14: 14, k15: 15, k16: 16, k17: 17, k18: 18, k19: 19, ...}",
	} {
		if got := printed(t, body(call+"\nreturn 'even'")); len(got) != 1 || got[0] != want {
			t.Errorf("%s logged\n %q, want\n %q", call, got, want)
		}
	}
}

// With and without a log a league goes the same way, even where printing runs code of the script.
func TestPrintingHasNoEffect(t *testing.T) {
	const script = `function choose() { console.log({ get x() { return Math.random() } }); return Math.random() }`
	with := setup(game.Key{1, 2})
	with.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	var got []strategies.Choice
	for _, su := range []strategies.Setup{with, setup(game.Key{1, 2})} {
		s, err := load(t, script, patient).New(t.Context(), su)
		must(t, err)
		c, err := s.Choose(t.Context(), turn(0))
		must(t, err)
		got = append(got, c)
		_ = s.Close()
	}
	if got[0] != got[1] {
		t.Errorf("with a log it chose %v, without %v", got[0], got[1])
	}
}

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

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
