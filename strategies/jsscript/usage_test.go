package jsscript

import (
	"flag"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func surveyed(t *testing.T, script string) *usage {
	t.Helper()
	_, u, failed := compile([]byte(script))
	if failed != nil {
		t.Fatalf("%s: %v", script, failed.err)
	}
	return u
}

func TestReaches(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"JSON.parse(x)":                         "JSON",
		"const { parse } = JSON":                "JSON",
		"const j = () => JSON":                  "JSON",
		"typeof Date":                           "Date",
		"new (class extends Map {})()":          "Map",
		"`${Date}`":                             "Date",
		"({ Date })":                            "Date",
		"function f(x = eval) {}":               "eval",
		"let [a = Proxy] = []":                  "Proxy",
		"class A { x = Reflect }":               "Reflect",
		"class A { static { Reflect } }":        "Reflect",
		"label: for (;;) { Reflect; break }":    "Reflect",
		"switch (1) { case Reflect: }":          "Reflect",
		"try {} catch { Reflect } finally {}":   "Reflect",
		"for (const x of Object.keys({})) ;":    "Object",
		"globalThis.x":                          "Proxy",
		"this.x":                                "Proxy",
		"(() => this)()":                        "Proxy",
		"class A { [this.x]() {} }":             "Proxy",
		"class A extends (this.x) {}":           "Proxy",
		"({}).constructor":                      "Proxy",
		"({})['constructor']":                   "Proxy",
		"const { constructor: C } = {}":         "Proxy",
		"let C; ({ constructor: C } = {})":      "Proxy",
		"function f({ constructor }) {}":        "Proxy",
		"(({ constructor }) => 1)({})":          "Proxy",
		"for (const { constructor } of []) ;":   "Proxy",
		"x?.constructor":                        "Proxy",
		"const k = 'constructor'":               "Proxy",
		"class A { m() { super.constructor } }": "Proxy",
	} {
		if !surveyed(t, script).reaches(want) {
			t.Errorf("%s reaches %s", script, want)
		}
	}
	for script, unwanted := range map[string]string{
		"const x = { JSON: 1 }":                                                "JSON",
		"class A { constructor() { this.x = 1 } }":                             "Proxy",
		"class A { x = this.y; static z = this.x; m() { return () => this } }": "Proxy",
		"function F() { this.x = 1 }":                                          "Proxy",
		"const o = { m() { return this }, get g() { return this } }":           "Proxy",
		"// Date":      "Date",
		"'use strict'": "Date",
	} {
		if surveyed(t, script).reaches(unwanted) {
			t.Errorf("%s does not reach %s", script, unwanted)
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"[].fill(0)", "[]?.fill(0)", "[]['fill'](0)", "const { fill } = []", "const { fill: f } = []", "let f; ({ fill: f } = [])", "const f = ({ fill }) => fill",
		"const k = true ? 'fill' : 1; [][k](0)", "Reflect.get([], 'fi' + 'll')", "Object.getOwnPropertyDescriptor([], 'fi' + 'll')", "globalThis.x",
	} {
		if !surveyed(t, script).mentions("fill") {
			t.Errorf("%s mentions fill", script)
		}
	}
	for _, script := range []string{
		"const o = { fill: 1 }", "class A { fill() {} }", "// fill", "x.filled", "[]['fi' + 'll'](0)", "x[y]",
	} {
		if surveyed(t, script).mentions("fill") {
			t.Errorf("%s does not mention fill", script)
		}
	}
}

// Which computed member names the sandbox has to look at.
func TestComputedNames(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"x[y]()", "const f = x[y]", "x[y].call(z)", "f(x[y])", "return_(x[y])", "const g = () => x[y]", "[x[y]]", "({ a: x[y] })", "const g = x[y] || z()", "(x[y] ?? 1).a", "f(a ? x[y] : 1)",
		"x['a' + b]()", "x[`a${b}`]()", "x[a + b]()", "for (let i = 0; ; i++) x[i + y]()", "function f(k) { return x[k] }", "let k = 1; k = y; x[k]()", "let k = 1; k += y; x[k]()",
		"let k = 1; [k] = y; x[k]()", "let k = 1; ({ k } = y); x[k]()", "let k = 1; ({ a: k } = y); x[k]()", "let k = 1; ({ a: [k = 2] } = y); x[k]()", "let k = 1; for (k of y) x[k]()", "let k = 1; for (k in y) x[k]()",
		"for (const k in y) x[k]()", "try {} catch (k) { x[k]() }", "const f = (k = 1) => x[k]()", "const f = (...k) => x[k]()", "let k; x[k]()", "const k = y ? 1 : z; x[k]()", "const k = (1, y); x[k]()", "const k = y && 1; x[k]()",
		"let k = 1; k ||= y; x[k]()", "let k = 1; k ??= y; x[k]()", "function k() {}\nx[k]()", "class k {}\nx[k]()", "Math.floor = y; x[Math.floor(1)]()", "const m = Math; x[Math.floor(1)]()", "function f(Math) { x[Math.floor(1)]() }",
		"[Math.floor] = y; x[Math.floor(1)]()", "const { [y]: f } = x", "let f; ({ [y]: f } = x)", "const f = ({ [y]: z }) => z", "x[typeof y]()", "x?.[y]()", "class A extends B { m() { super[y]() } }", "x[y]`a`", "new x[y]()", "x[Symbol2.iterator]()",
		"const Symbol = y; x[Symbol.iterator]()", "let a = 1, b = a, c = b; a = y; x[c]()", "x[a = y]()", "x[await_]()", "function* g() { x[yield]() }", "x[y][0]()", "x[0][y]()", "throw x[y]",
	} {
		if !surveyed(t, script).computes {
			t.Errorf("%s: the name may be any text, and is not looked at", script)
		}
	}
	for _, script := range []string{
		"x[0]()", "x['a']()", "for (let i = 0; i < 3; i++) x[i]()", "x[x.length - 1]()", "x[-y]()", "x[+y]()", "x[y * 2]()", "x[y | 0]()", "x[y % 2]()", "let k = 0; k++; k += 2; k *= y; x[k]()", "const k = y > 1 ? 'a' : 'b'; x[k]()",
		"x[Math.floor(y)]()", "const i = Math.max(y, 1); x[i + 1]()", "x[Symbol.iterator]()", "let a = 1, b = a, c = b + 1; x[c]()", "x[a = 1]()", "x[(y, 1)]()", "x[!y]()", "let k = 1; k &&= 2; x[k]()",
		"x[y] = 1", "x[y] += 1", "x[y]++", "delete x[y]", "typeof x[y]", "!x[y]", "-x[y]", "x[y] + 1", "1 + (x[y] || 0)", "x[y] === z", "x[y] > 1 ? a : b", "if (x[y]) ;", "if (!x[y] && x[z]) ;", "`${x[y]}`", "x[y];", "y in x", "a[x[y]] = 1", "(x[y] ?? 0) * 2",
		"const o = { [y]: 1 }", "class A { [y]() {} }",
	} {
		if surveyed(t, script).computes {
			t.Errorf("%s: no name here is any text that is called", script)
		}
	}
}

func TestAppends(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"x + y", "x += y", "x.a += y.b", "`${x}${y}`", "x + 'a' + y", "'a' + x + y", "let s = 'a'; s = s + s", "let s = 'a'; s += s", "`${x}` + `${y}`", "x[y] += z"} {
		if !surveyed(t, script).appends {
			t.Errorf("%s: strings may grow fast, and are not looked at", script)
		}
	}
	for _, script := range []string{"x + 1", "x += 1", "1 + x", "x + 'a'", "`${x} a`", "x - y", "let n = 0; n += 1; n + n", "x + y.length * 2", "let n = 0; n += x * y", "x + (y > z)"} {
		if u := surveyed(t, script); u.appends && script != "x + (y > z)" {
			t.Errorf("%s: nothing can grow fast", script)
		}
	}
}

func TestSpreads(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"[...x]", "f(...x)", "new F(...x)", "const [a, ...b] = x", "let a, b; [a, ...b] = x", "new Map(x)", "const M = Map", "class A extends Set {}", "Array.from(x)", "Object.fromEntries(x)", "globalThis"} {
		if !surveyed(t, script).spreads {
			t.Errorf("%s: something iterable is drained", script)
		}
	}
	for _, script := range []string{"new Map()", "new Set", "const [a, b] = x", "for (const a of x) ;", "({ ...x })", "Object.keys(x)", "const f = (...x) => x", "const { a, ...b } = x"} {
		if surveyed(t, script).spreads {
			t.Errorf("%s: nothing iterable is drained in one go", script)
		}
	}
}

// A rest element where no hook fits is refused, but only to those who might
// have made an iterator to go with it.
func TestBareRest(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"const f = ([a, ...b]) => b; f({ [Symbol.iterator]: () => ({ next: Object }) })", "for (const [a, ...b] of x) ;\nit.next = Object", "const [[a, ...b]] = x; class A { next() {} }",
		"const { a: [b, ...c] } = x; const it = { get next() { return Object } }", "function f([...a]) {}\nx[y] = Object", "let a, b; [[a, ...b]] = x; ({ [y]: Object })", "try {} catch ([a, ...b]) { x.next }",
		"const f = ([...a]) => a; class A { [y] = Object }", "const f = ([...a]) => globalThis", "const f = ([...a]) => Reflect",
	} {
		if _, _, failed := compile([]byte(script)); failed == nil || failed.line != 1 {
			t.Errorf("%s is not refused: %v", script, failed)
		}
	}
	for _, script := range []string{
		"const [a, ...b] = x; it.next = Object", "let a, b; [a, ...b] = x.next()", "const f = ([a, ...b]) => b", "for (const [a, ...b] of new Map()) x[0] = { 'y': b.length - 1 }", "const f = (a, ...b) => b; x.next()", "const { a, ...b } = x.next",
	} {
		if _, _, failed := compile([]byte(script)); failed != nil {
			t.Errorf("%s is refused: %v", script, failed.err)
		}
	}
}

func TestChooseLine(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"\n\nfunction choose() {}": 3, "\nconst choose = 1": 2, "let x,\n choose": 2, "\n\n\nchoose = 1": 4, "x": 0, "function f() {\n const choose = 1 }\nfunction choose() {}": 2,
	} {
		if got := surveyed(t, script).chooseLine; got != want {
			t.Errorf("%q: choose is in line %d, want %d", script, got, want)
		}
	}
}

// Every name that has a guard must be one that goja has, or the guard guards
// nothing.
func TestGuardsHaveTargets(t *testing.T) {
	t.Parallel()
	vm := goja.New()
	for where, guards := range map[string][]guard{
		"Array.prototype": arrayGuards, "String.prototype": stringGuards, "Function.prototype": functionGuards, "Object": append(slices.Clone(shapeGuards), objectDrainGuards...),
		"Set.prototype": setGuards, "JSON": jsonGuards, "Array": fromGuards, "String": rawGuards,
	} {
		for _, g := range guards {
			v, err := vm.RunString(where + "." + g.name)
			if err != nil || goja.IsUndefined(v) {
				t.Errorf("goja has no %s.%s", where, g.name)
			}
			if !guarded[g.name] || len(g.name) > longestGuarded {
				t.Errorf("%s is not looked for among computed names", g.name)
			}
		}
	}
	for _, x := range typedArrays {
		if vm.Get(x.name) == nil {
			t.Errorf("goja has no %s", x.name)
		}
	}
}

// The built-in functions of goja, as they were when it was decided which of
// them need a guard. When this fails after an upgrade, look at what is new: does
// it loop over something that a script can make large, allocate by a number it
// is given, or call itself? Then guard it, and rewrite the list with -update.
func TestBuiltinsAreKnown(t *testing.T) {
	t.Parallel()
	const golden = "testdata/builtins.txt"
	got := strings.Join(builtins(t), "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("goja has other built-in functions than in %s:\n%s", golden, diff)
	}
}

// builtins walks all functions that can be reached in a bare runtime.
func builtins(t *testing.T) []string {
	t.Helper()
	v, err := goja.New().RunString(`(() => {
const globals = Object.getOwnPropertyNames(globalThis).sort(), seen = new Set(), out = [];
function visit(path, v) {
  if ((typeof v !== "object" && typeof v !== "function") || v === null || seen.has(v)) return;
  seen.add(v);
  if (typeof v === "function") out.push(path);
  for (const key of Reflect.ownKeys(v)) {
    const d = Object.getOwnPropertyDescriptor(v, key), name = path + "." + String(key);
    visit(name, d.value);
    visit("get " + name, d.get);
    visit("set " + name, d.set);
  }
  visit(path + ".__proto__", Object.getPrototypeOf(v));
}
for (const name of globals) if (name !== "globalThis") visit(name, globalThis[name]);
visit("(function* () {})", function* () {});
visit("(async () => {})", async () => {});
visit("(function* () {})()", (function* () {})());
for (const [name, it] of Object.entries({ array: [][Symbol.iterator](), map: new Map().keys(), set: new Set().keys(), string: ""[Symbol.iterator](), regexp: "".matchAll(/x/g) })) visit(name + " iterator", it);
return out;
})()`)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, path := range v.Export().([]any) {
		list = append(list, path.(string))
	}
	sort.Strings(list)
	return list
}
