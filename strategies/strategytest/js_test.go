package strategytest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func js(source string) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		return compile("scripts/subject.js", source, l)
	}
}

func jsReturns(expression string) strategytest.Maker {
	return js("function choose(turn) { return " + expression + "; }")
}

// jsFirst answers with an expression in round 1, and even afterwards.
func jsFirst(expression string) strategytest.Maker {
	return js("function choose(turn) {\n  if (turn.round === 1) {\n    return " + expression + ";\n  }\n  return 'even';\n}")
}

// jsEven runs a body in choose and then answers even.
func jsEven(body string) strategytest.Maker {
	return js("function choose(turn) {\n" + body + "\nreturn 'even';\n}")
}

// jsBytes answers by the characters of a text that an expression yields.
func jsBytes(expression string) strategytest.Maker {
	return js(`
function choose(turn) {
  let text;
  try { text = String(` + expression + `); } catch (e) { text = String(e) + (e && e.stack); }
  let sum = turn.round;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) % 65521;
  return sum % 2 === 0 ? "even" : "odd";
}`)
}

func jsSubject() strategytest.Subject {
	return strategytest.Subject{
		Kind: strategies.JavaScript, Lines: true,
		Random: js(`function choose(turn) { return Math.random() < 0.5 ? "even" : "odd"; }`),
		Memory: js(`
let mine = false;
var asked;
class Box { static remembered }
function choose(turn) {
  const places = [Object.prototype, Array.prototype, String.prototype, Function.prototype, Math, JSON, Object, globalThis, choose, Box];
  const before = mine || asked === true || places.some((p) => p.remembered);
  for (const p of places) {
    try { Object.defineProperty(p, "remembered", {value: true, enumerable: false, configurable: true}); } catch (e) {}
    try { p.remembered = true; } catch (e) {}
  }
  mine = true; asked = true;
  return before ? "odd" : "even";
}`),
		Vandal: js(`
function wreck(o) {
  for (const k of Object.getOwnPropertyNames(o)) {
    if (o[k] !== null && typeof o[k] === "object") wreck(o[k]);
    try { o[k] = "hacked"; } catch (e) {}
    try { delete o[k]; } catch (e) {}
  }
  try { o[0] = "hacked"; } catch (e) {}
  try { Object.setPrototypeOf(o, null); } catch (e) {}
  try { Object.defineProperty(o, "round", { get() { throw 1; }, set() { throw 1; }, configurable: true }); } catch (e) {}
}
let kept;
function start(setup) { kept = setup; wreck(setup); }
function choose(turn) { wreck(kept); wreck(turn); return "even"; }
function observe(outcome) { wreck(outcome); }`),
		Escape: js(`
const ways = [
  "require", "process", "Buffer", "setTimeout", "setInterval", "setImmediate", "fetch",
  "XMLHttpRequest", "WebAssembly", "Deno", "Bun", "load", "loadFile", "importScripts", "window", "self", "performance",
];
function choose(turn) {
  for (const name of ways) {
    if (typeof globalThis[name] !== "undefined") throw new Error(name + " can be reached");
  }
  for (const name of ["Math", "JSON", "Array", "Object", "String", "Number", "Map", "Set"]) {
    if (typeof globalThis[name] === "undefined") throw new Error(name + " is missing");
  }
  return "even";
}`),
		Print: jsEven(fmt.Sprintf("console.log(%q);", strategytest.Printed)),
		Valid: slices.Concat(
			answering(jsReturns, 0.25, "0.25"), answering(jsReturns, 0.75, "1/4 + 1/2"), answering(jsReturns, 1e-300, "1e-300"),
			answering(jsReturns, strategies.Even, `"even"`, `"ev" + "en"`, "1", "`${'ev'}en`", `["e", "ven"].join("")`),
			answering(jsReturns, strategies.Odd, `"odd"`, "`odd`", "0", "-0", "['even', 'odd'][1]", `"xoddx".slice(1, 4)`, `JSON.parse('"odd"')`),
			answering(js, strategies.Odd,
				"const choose = (turn) => 'odd';",
				"let choose = function (turn) { return 'odd'; };",
				"function mine() { return 'odd'; }\nvar choose = mine;",
				"'use strict';\nfunction choose(turn) { return 'odd'; }",
				"class S { pick() { return 'odd'; } }\nconst s = new S();\nfunction choose(turn) { return s.pick(); }",
				"const choose = (() => { let n = 1; return () => n > 0 ? 'odd' : 'even'; })();",
				"globalThis.choose = () => 'odd'",
				"let choose; function start() { choose = () => 'odd' } choose = () => 'even'",
				"const answers = { choose() { return 'odd' } }; const { choose } = answers;",
				"const choose = (() => 'odd').bind(null)",
				"function* odds() { for (;;) yield 'odd' }\nconst it = odds(); const choose = () => it.next().value",
				"class Player { #answer = 'odd'; choose() { return this.#answer } }\nconst p = new Player(); const choose = (t) => p.choose(t)",
				"function choose(turn) { return turn.history.length === Math.floor(turn.played / 2) ? 'odd' : 'even' }", // without observe
				`
const kept = [];
function observe(outcome) { kept.push(outcome); outcome.note = "mine"; }
function choose(turn) {
  const mine = kept.filter((o) => o.opponent === turn.opponent);
  if (kept.length !== turn.played || !mine.every((o, i) => turn.history[i] === o && o.note === "mine")) throw new Error("not the same objects");
  return turn.history.length === mine.length ? "odd" : "even";
}`)),
		Invalid: named("return ", jsFirst,
			`"Even"`, `"EVEN"`, `" even"`, `""`, `"0.5"`, `"1"`, "null", "undefined", "2", "-0.5", "NaN", "Infinity", "-Infinity", "",
			"true", "false", "{}.x", "({})", `["even"]`, "function () { return 'even'; }", `new String("even")`, "new Number(0.5)",
			"Symbol('even')", "({then(f) { f('even'); }})", "({toString() { return 'even'; }})", "({valueOf() { return 0.5; }})",
			`"x".repeat(100000)`, "/even/", "new Map()", "[]", "() => 'even'", "new Proxy({}, {})"),
		Unseeded: slices.Concat(
			named("the text of ", jsBytes,
				"Date.now()", "new Date()", "new Date().getTime()", "Date()", "new Date().getTimezoneOffset()",
				"new Date(0).toString()", "new Date(0).toLocaleString()", "new Date(2026, 0, 1).getTime()", "Date.parse('2026-01-01T00:00:00')",
				"{}", "function f() {}", "Symbol('x').toString()", "new Error('x').stack", "null.x", "Object.keys(globalThis)",
				"[3, 1, 2].toLocaleString()", "(1234.5).toLocaleString()", "'b'.localeCompare('a')", "typeof Intl",
				"[5, 3, 8].sort(() => Math.random() - 0.5)", "[turn, globalThis, Array.prototype, Math].flatMap(Object.getOwnPropertyNames)"),
			named("", js, "const first = Math.random();\nfunction choose(turn) { return first < 0.5 ? 'even' : 'odd'; }", `
function choose(turn) {
  const o = {}, m = new Map(), s = new Set();
  let sum = 0;
  for (let i = 1; i <= 40; i++) { o["k" + i * 7 % 41] = i; m.set({}, i); s.add(() => i); }
  for (const k in o) sum = (sum * 31 + o[k]) % 65521;
  for (const v of m.values()) sum = (sum * 31 + v) % 65521;
  for (const f of s) sum = (sum * 31 + f()) % 65521;
  return sum % 2 === 0 ? "even" : "odd";
}`)),
		Unloadable: named("", js,
			"", "function choose(turn) {\n  return 'even;\n}", "\x00\x01\x02\xff\xfe", "function choose(turn) {\n  return 'even';\n",
			"function chose(turn) { return 'even'; }", "{ let choose = () => 'even'; }", "var choose = 'even';",
			"function choose(turn) { return 'even'; }\nthrow new Error('top level');", "function choose(turn) { return 'even'; }\nthrow null;",
			"function choose(turn) { return 'even'; }\nfor (;;) {}",
			"function choose(turn) { return 'even'; }\nfunction f() { return 1 + f(); }\nf();",
			"import fs from 'fs';\nexport function choose(turn) { return 'even'; }"),
		ThrowStart: js("function start(setup) {\n  throw new Error('no start');\n}\nfunction choose(turn) { return 'even'; }"),
		ThrowObserve: js("function choose(turn) { return 'even'; }\n" +
			"function observe(outcome) {\n  return undefined.field;\n}"),
		ThrowChoose: js("function choose(turn) {\n  if (turn.round === 1) throw {code: 7};\n  return 'even';\n}"),
		SpinStart:   js("function start(setup) { for (;;) {} }\nfunction choose(turn) { return 'even'; }"),
		SpinObserve: js("function choose(turn) { return 'even'; }\nfunction observe(outcome) { for (;;) {} }"),
		SpinChoose:  jsEven("while (turn.round === 1) { try { for (;;) {} } catch (e) {} finally { continue; } }"),
		Echo: js(`
let setup, outcome;
function start(s) { setup = s; }
function observe(o) { outcome = o; }
function show(line, object, fields) {
  for (const field of fields.split(" ")) {
    let v = object === undefined ? null : object[field];
    if (Array.isArray(v)) v = v.join(",");
    line += " " + field + "=" + (v === null ? "none" : typeof v + " " + v);
  }
  console.log(line);
}
function choose(turn) {
  const fields = "match_id round opponent role choice opponent_choice drawn_number result points";
  show("setup", setup, "id name players rounds legs");
  show("turn", turn, "match_id round opponent role played wins draws losses points");
  show("outcome", outcome, fields);
  show("first of " + turn.history.length, turn.history[0], fields);
  show("last", turn.history[turn.history.length - 1], fields);
  return "even";
}`),
	}
}

func TestJavaScriptRuntime(t *testing.T) {
	t.Parallel()
	strategytest.RunRuntime(t, sampled(jsSubject()))
}
