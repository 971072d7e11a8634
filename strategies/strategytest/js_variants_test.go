package strategytest_test

import (
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

const jsVandal = `function wreck(o) {
  for (const k of Object.getOwnPropertyNames(o)) {
    if (typeof o[k] === "object" && o[k] !== null) wreck(o[k]);
    try { o[k] = "wrecked" } catch {}
    try { delete o[k] } catch {}
  }
}
function start(setup) { wreck(setup) }
function choose(turn) { wreck(turn); return "even" }
function observe(outcome) { wreck(outcome) }`

const jsMemory = `let here = 0;
class Box { static n = 0 }
function remembered() {
  const n = here + Box.n + (globalThis.n ?? 0) + (Array.prototype.n ?? 0) + (Math.n ?? 0) + (choose.n ?? 0);
  here++; Box.n++;
  globalThis.n = Array.prototype.n = Math.n = choose.n = Object.prototype.hidden = 1;
  return n;
}
function choose() { return remembered() === 0 ? "even" : "odd" }`

// TestJavaScriptVariants writes behaviors of TestJavaScriptRuntime in other
// ways.
func TestJavaScriptVariants(t *testing.T) {
	t.Parallel()
	const even = "function choose() { return 'even' }\n"
	answer := func(expression string) strategytest.Maker {
		return js("function choose(turn) {\n" + expression + "\n}")
	}
	var invalid []strategytest.Named
	for _, a := range []string{
		"{}", "[]", "() => 'even'", "Object('even')", "{ toString: () => 'even', valueOf: () => 1 }", "new Proxy({}, {})", "-1", "'x'.repeat(1e6)",
	} {
		invalid = append(invalid, strategytest.Named{Name: a, Make: jsFirst("(" + a + ")")})
	}
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind: strategies.JavaScript, Lines: true,
		Random: answer("return Math.random() < 0.5 ? 'even' : 'odd'"),
		Memory: js(jsMemory), Vandal: js(jsVandal), Invalid: invalid,
		Valid: []strategytest.Answer{
			{Name: "-0", Make: answer("return -0"), Want: strategies.Odd},
		},
		Unseeded: []strategytest.Named{
			{Name: "orders", Make: answer("return [...Object.keys(globalThis), ...Object.keys(turn)].join().length % 7 / 7")},
			{Name: "addresses", Make: answer("const s = String({}) + String(() => 1) + String(Symbol()) + new Error('x').stack;\nreturn s.length % 97 / 97")},
			{Name: "absent clock", Make: answer("return typeof Date === 'undefined' && typeof performance === 'undefined' ? 'even' : 'odd'")},
			{Name: "sort", Make: answer("return [5, 3, 8].sort(() => Math.random() - 0.5)[0] / 10")},
		},
		Unloadable: []strategytest.Named{
			{Name: "syntax", Make: js("function choose(")},
			{Name: "no choose", Make: js("const x = 1")},
			{Name: "module", Make: js("import 'x'; " + even)},
			{Name: "recurses", Make: js(even + "const f = () => f(); f()")},
		},
		ThrowStart:   js(even + "function start() { throw new Error('x') }"),
		ThrowObserve: js(even + "function observe() { throw new Error('x') }"),
		ThrowChoose:  answer("if (turn.round === 1) throw new Error('x')\nreturn 'even'"),
		SpinStart:    js(even + "function start() { for (;;); }"),
		SpinObserve:  js(even + "function observe() { for (;;); }"),
		SpinChoose:   answer("while (turn.round === 1);\nreturn 'even'"),
	})
}
