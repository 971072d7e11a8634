package jsscript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func maker(script string) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		return jsscript.Compile("subject", source, []byte(script), jsscript.Options{Limits: l})
	}
}

// echo is a script whose choose throws what it sees at a path.
func echo(path string) strategytest.Maker {
	from, field, _ := strings.Cut(path, ".")
	place := from
	if from == "history" {
		from, place = "turn", "turn.history"
		if at, rest, ok := strings.Cut(field, "."); ok {
			place, field = map[string]string{"first": "turn.history[0]", "last": "turn.history[turn.history.length - 1]"}[at], rest
		}
	}
	return maker(fmt.Sprintf(`let setup, outcome;
function start(s) { setup = s }
function observe(o) { outcome = o }
function choose(turn) {
  let v = %s.%s;
  if (Array.isArray(v)) v = v.join(",");
  throw new Error("saw <" + (v === null ? "none" : typeof v + " " + v) + ">");
}`, place, field))
}

func invalid() []strategytest.Named {
	var out []strategytest.Named
	for _, answer := range []string{
		`"Even"`, `""`, "true", "null", "undefined", "2", "-1", "NaN", "Infinity", "{}", "[]", "() => 'even'", "Symbol()",
		"Object('even')", "{ toString: () => 'even', valueOf: () => 1 }", "new Proxy({}, {})", "'x'.repeat(1e6)",
	} {
		out = append(out, strategytest.Named{
			Name: answer, Make: maker(body("if (turn.round === 1) return (" + answer + ");\nreturn 'even'")),
		})
	}
	return out
}

// hostile are the bombs, but of those that only time ends a few: each waits
// for its deadline.
func hostile() []strategytest.Named {
	var out []strategytest.Named
	slow := 0
	for _, b := range bombs {
		if b.fault == game.FaultTimeout {
			if slow++; slow > 2 {
				continue
			}
		}
		out = append(out, strategytest.Named{Name: b.body, Make: maker(body(b.body))})
	}
	return out
}

func escape() strategytest.Maker {
	var b strings.Builder
	for _, a := range attempts {
		fmt.Fprintf(&b, "try { if ((%s) !== undefined) open.push(%q) } catch {}\n", a, a)
	}
	return maker(body("const open = [];\n" + b.String() + "if (open.length > 0) throw new Error(open.join(' and '))\nreturn 'even'"))
}

const vandal = `function wreck(o) {
  for (const k of Object.getOwnPropertyNames(o)) {
    if (typeof o[k] === "object" && o[k] !== null) wreck(o[k]);
    try { o[k] = "wrecked" } catch {}
    try { delete o[k] } catch {}
  }
}
function start(setup) { wreck(setup) }
function choose(turn) { wreck(turn); return "even" }
function observe(outcome) { wreck(outcome) }`

const memory = `let here = 0;
class Box { static n = 0 }
function remembered() {
  const n = here + Box.n + (globalThis.n ?? 0) + (Array.prototype.n ?? 0) + (Math.n ?? 0) + (choose.n ?? 0);
  here++; Box.n++;
  globalThis.n = Array.prototype.n = Math.n = choose.n = Object.prototype.hidden = 1;
  return n;
}
function choose() { return remembered() === 0 ? "even" : "odd" }`

func TestConformance(t *testing.T) {
	t.Parallel()
	const even = "function choose() { return 'even' }\n"
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind: strategies.JavaScript, Lines: true,
		Random: maker(body("return Math.random() < 0.5 ? 'even' : 'odd'")),
		Memory: maker(memory), Vandal: maker(vandal), Escape: escape(),
		Print: maker(body("console.log('" + strategytest.Printed + "')\nreturn 'even'")),
		Valid: []strategytest.Answer{
			{Name: "even", Make: maker(body("return 'even'")), Want: strategies.Even},
			{Name: "odd", Make: maker(body("return 'odd'")), Want: strategies.Odd},
			{Name: "0.25", Make: maker(body("return 0.25")), Want: 0.25},
			{Name: "1", Make: maker(body("return 1")), Want: strategies.Even},
			{Name: "0", Make: maker(body("return -0")), Want: strategies.Odd},
		},
		Invalid: invalid(), Hostile: hostile(),
		Unseeded: []strategytest.Named{
			{Name: "orders", Make: maker(body("return [...Object.keys(globalThis), ...Object.keys(turn)].join().length % 7 / 7"))},
			{Name: "addresses", Make: maker(body("const s = String({}) + String(() => 1) + String(Symbol()) + new Error('x').stack;\nreturn s.length % 97 / 97"))},
			{Name: "absent clock", Make: maker(body("return typeof Date === 'undefined' && typeof performance === 'undefined' ? 'even' : 'odd'"))},
			{Name: "sort", Make: maker(body("return [5, 3, 8].sort(() => Math.random() - 0.5)[0] / 10"))},
		},
		Unloadable: []strategytest.Named{
			{Name: "syntax", Make: maker("function choose(")}, {Name: "no choose", Make: maker("const x = 1")},
			{Name: "throws", Make: maker(even + "throw new Error('x')")}, {Name: "spins", Make: maker(even + "for (;;);")},
			{Name: "module", Make: maker("export " + even)}, {Name: "recurses", Make: maker(even + "const f = () => f(); f()")},
		},
		ThrowStart:   maker(even + "function start() { throw new Error('x') }"),
		ThrowObserve: maker(even + "function observe() { throw new Error('x') }"),
		ThrowChoose:  maker(body("if (turn.round === 1) throw new Error('x')\nreturn 'even'")),
		SpinStart:    maker(even + "function start() { for (;;); }"),
		SpinObserve:  maker(even + "function observe() { for (;;); }"),
		SpinChoose:   maker(body("while (turn.round === 1);\nreturn 'even'")),
		Echo:         echo,
	})
}
