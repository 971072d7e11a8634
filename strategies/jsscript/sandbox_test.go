package jsscript_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// attempts are expressions that would show a way out of the sandbox: each has
// to throw, or to be undefined.
var attempts = []string{
	// The machine
	"require('fs')", "process.env", "process.exit(1)", "module", "exports", "__dirname", "__filename", "import_", "fetch('http://localhost')",
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
	"GeneratorFunction", "AsyncFunction", "RegExp.prototype.exec.constructor('return 1')()",
	// What is not there
	"Promise.resolve(1)", "BigInt(1)", "new DataView(new ArrayBuffer(8)).getBigInt64(0)", "new DataView(new ArrayBuffer(8))['getBig' + 'Uint64'](0)", "new BigInt64Array(1)", "GoError", "AggregateError", "globalThis.Promise", "Proxy.revocable({}, {})",
	"(() => { try { null.x } catch (e) { return e.constructor.constructor('return 1')() } })()",
	// The host
	"globalThis['%ke' + 'y'].constructor('return 1')()", "arguments.callee", "choose.caller", "Error.prepareStackTrace", "Error.captureStackTrace.x",
	"console.constructor.constructor('return 1')()", "print.constructor('return 1')()",
}

func TestNoWayOut(t *testing.T) {
	t.Parallel()
	for _, attempt := range attempts {
		t.Run(attempt[:min(len(attempt), 50)], func(t *testing.T) {
			t.Parallel()
			c, err := ask(t, body("let got; try { got = "+attempt+" } catch (e) { return 'even' }\nreturn got === undefined ? 'odd' : String(got)"))
			if err != nil {
				t.Errorf("%s: %v", attempt, err)
			}
			_ = c
		})
	}
}

// Nothing of the host's shows in what scripts can read of errors and functions.
func TestHostDoesNotShow(t *testing.T) {
	t.Parallel()
	holds(t, "let s; try { null.x } catch (e) { s = e.stack }", `s.includes("script.js") && !s.includes("scripts") && !s.includes("/")`)
	for _, f := range []string{"console.log", "print", "[].map", "''.repeat", "JSON.parse", "/x/.exec", "Float64Array", "Proxy", "Map", "Array.from", "Function", "RegExp"} {
		holds(t, "const f = "+f, `!String(f).includes("github") && !f.name.includes("/") && f.name.length > 0`)
	}
	holds(t, "", "!Object.keys(globalThis).some((k) => k.startsWith('%'))")
	// The hooks cannot be replaced by something else.
	for _, hook := range []string{"%key", "%spread", "%text", "%copy"} {
		holds(t, "let s = turn.role; s = s + turn.match_id + [...turn.history].length + {...turn}.round; const nothing = turn[turn.match_id], h = '"+hook+"';",
			"(() => { try { globalThis[h] = () => 1 } catch { return true } })() && (() => { try { return !delete globalThis[h] } catch { return true } })()")
	}
}

// Guards may not change what honest scripts get.
func TestGuardedFunctionsWork(t *testing.T) {
	t.Parallel()
	for before, expressions := range map[string][]string{
		"const a = [3, 1, 2]": {
			"a.toSorted().join() === '1,2,3'", "a.concat([4], 5).length === 5", "a.includes(1) && a.indexOf(2) === 2 && a.lastIndexOf(9) === -1",
			"a.map((x) => x * 2).filter((x) => x > 2).join('-') === '6-4'", "a.reduce((s, x) => s + x, 0) === 6", "a.reduceRight((s, x) => s + x, '') === '213'",
			"a.slice(-2).join('') === '12'", "a.toReversed()[0] === 2 && a.with(0, 9)[0] === 9 && a.toSpliced(0, 1).length === 2", "[1, [2, [3, [4]]]].flat(Infinity).length === 4",
			"new Array(3).fill(0).length === 3", "Array.from({ length: 3 }, (_, i) => i).join() === '0,1,2'", "Array.from('abc').length === 3", "Array.from(new Set(a)).length === 3",
			"Array.from({ length: 2, 0: 'x', 1: 'y' }).join() === 'x,y'", "Array.from(a, function (x) { return x + this.k }, { k: 1 }).join() === '4,2,3'", "Array.of(1, 2).length === 2",
			"(function () { return Array.prototype.slice.call(arguments, 1) })(1, 2, 3).join() === '2,3'", "Array.prototype.map.call('ab', (c) => c + c).join() === 'aa,bb'",
			"[...a, ...new Set([7]), ...'xy'].join() === '3,1,2,7,x,y'", "Math.max(...a) === 3", "a.some((x) => x > 2) && !a.every((x) => x > 2)", "a.find((x) => x < 3) === 1 && a.findLastIndex((x) => x < 3) === 2",
			"[[1, 2], [3]].toString() === '1,2,3'", "`${[1, [2]]}` === '1,2'", "String([null, undefined, 1]) === ',,1'", "[1.5, 2].toLocaleString().includes('2')", "a.entries().next().value.join() === '0,3'",
			"Object.getPrototypeOf(a).constructor === Array && a.constructor === Array", "[3, 20, 100].sort().join() === '100,20,3'", "a.unshift(0) === 4 && a.shift() === 0 && a.splice(0, 1)[0] === 3",
			"a.copyWithin(0, 1).join() === '1,2,2'", "[1, 2].flatMap((x) => [x, x]).join('') === '1122'", "(() => { const [h, ...rest] = [1, 2, 3]; return rest.join() })() === '2,3'",
		},
		"class A extends Array { sum() { return this.reduce((s, x) => s + x, 0) } }; const a = A.from([1, 2])": {"a instanceof A && a.sum() === 3 && a.map((x) => x) instanceof A"},
		"const s = 'banana'": {
			"s.repeat(2) === 'bananabanana' && s.padStart(8, '-') === '--banana' && s.padEnd(8) === 'banana  '", "s.replace('a', '[$&]') === 'b[a]nana'", "s.replaceAll('a', 'o') === 'bonono'",
			"s.replace(/a/g, (m, at) => at) === 'b1n3n5'", "s.replace(/(n)(a)/, '$2$1') === 'baanna'", "s.split('a').length === 4 && s.split('').length === 6 && s.split(/n/)[1] === 'a'", "s.match(/an/g).length === 2",
			"s.match('an').index === 1", "[...s.matchAll(/a/g)].length === 3", "s.search('n') === 2", "s.concat(1, null) === 'banana1null'", "''.padStart(2) === '  ' && ''.repeat(1e9) === ''",
			"String.raw`\\n${1}` === '\\\\n1'", "s.repeat.call(12, 2) === '1212'", "(() => { try { s.repeat(-1) } catch (e) { return e instanceof RangeError } })()", "(() => { try { ''.repeat.call(null) } catch (e) { return e instanceof TypeError } })()",
		},
		"const r = /(?<year>\\d+)-(\\d+)/y": {
			"r.exec('12-34').groups.year === '12'", "r.test('12-34') && r.lastIndex === 5 && !r.test('12-34')", "new RegExp('a+', 'g').flags === 'g' && RegExp('x').test('x')", "new RegExp(/x/, 'i').test('X')", "/x/ instanceof RegExp",
			"/^(.+)\\1$/.test('abab') && !/^(.+)\\1$/.test('aba')", "/(?<=a)b/.exec('ab').index === 1", "'é😀'.match(/./gu).length === 2", "String(/a\\/b/i) === '/a\\\\/b/i'", "(() => { let n = 0; const g = /a/g; while (g.exec('aaa')) n++; return n })() === 3",
		},
		"const o = { a: [1, { b: 'x' }], u: undefined, f() {}, n: null }": {
			`JSON.stringify(o) === '{"a":[1,{"b":"x"}],"n":null}'`, `JSON.stringify(o, null, 1).includes('\n "a"')`, `JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ['a', 'b']) === '{"a":1,"b":{"a":2}}'`,
			`JSON.stringify({ a: 1, b: 'x' }, (k, v) => (typeof v === 'number' ? v + 1 : v)) === '{"a":2,"b":"x"}'`, `JSON.stringify({ toJSON() { return { deep: [1] } } }) === '{"deep":[1]}'`, "JSON.stringify(undefined) === undefined && JSON.stringify('x') === '\"x\"'",
			`JSON.parse('{"a": [1, "]["]}').a[1] === ']['`, `JSON.parse('[1, 2]', (k, v) => (Array.isArray(v) ? v : v * 2)).join() === '2,4'`, "(() => { try { JSON.parse('{') } catch (e) { return e instanceof SyntaxError } })()", "(() => { const c = {}; c.c = c; try { JSON.stringify(c) } catch (e) { return e instanceof TypeError } })()",
		},
		"const m = new Map([['a', 1], ['b', 2]])": {
			"[...m.keys()].join() === 'a,b' && m.get('b') === 2", "new Map(m).size === 2 && new Set('aab').size === 2 && new Set([1]).has(1)", "Object.fromEntries(m).b === 2 && Object.entries({ x: 1 })[0].join() === 'x,1'", "new (class extends Map {})([[1, 2]]).get(1) === 2", "new Set([1, 2]).intersection(new Set([2])).size === 1",
			"new Set([1]).isSubsetOf(m) === false", "new WeakMap([[m, 1]]).get(m) === 1", "new Map().set(1, 2).size === 1 && new Map(null).size === 0", "m instanceof Map && Object.keys('ab').length === 2 && Object.assign({}, 'ab')[1] === 'b'", "({ ...{ a: 1 }, ...[7], ...'z' })[0] === 'z'",
		},
		"const f = new Float64Array([1, 2, 3])": {
			"f.length === 3 && f.BYTES_PER_ELEMENT === undefined || Float64Array.BYTES_PER_ELEMENT === 8", "f.map((x) => x * 2)[2] === 6 && f.subarray(1).length === 2", "new Uint8Array(4).fill(7).join('') === '7777' && Uint8Array.from([1, 2]).length === 2 && Int8Array.of(1).length === 1",
			"new Float32Array(new ArrayBuffer(8), 4).length === 1", "new Int16Array(f).length === 3 && new Int32Array(new Set([1, 2])).length === 2 && new Uint16Array({ length: 2 }).length === 2", "new DataView(f.buffer).getFloat64(8, true) === 2 && f.join('-') === '1-2-3' && String(f) === '1,2,3'", "f instanceof Float64Array && f.constructor === Float64Array && f.slice() instanceof Float64Array", "Array.from(f).length === 3 && [...f].length === 3 && f.at(-1) === 3",
		},
		"function sum(...xs) { return this.k + xs.reduce((a, b) => a + b, 0) }": {"sum.apply({ k: 1 }, [1, 2]) === 4 && sum.call({ k: 1 }) === 1 && sum.bind({ k: 2 }, 1)(1) === 4 && sum.apply({ k: 0 }, { length: 1, 0: 5 }) === 5", "Reflect.apply(sum, { k: 1 }, [1]) === 2 && Reflect.construct(Array, [3]).length === 3 && sum instanceof Function"},
		"const o = {}": {
			"Object.defineProperty(o, 'x', { get: () => 5 }).x === 5 && Object.defineProperties(o, { y: { value: 2 } }).y === 2", "Object.setPrototypeOf({}, { z: 1 }).z === 1 && ({ __proto__: { z: 2 } }).z === 2 && Object.create(null).__proto__ === undefined", "Object.getPrototypeOf({ __proto__: null }) === null && ({}).__proto__ === Object.prototype",
			"(() => { const p = {}; p.__proto__ = { q: 1 }; return p.q })() === 1", "Object.groupBy === undefined || true", "new Proxy({ a: 1 }, { get: (t, k) => t[k] ?? 7 }).b === 7 && 'a' in new Proxy({ a: 1 }, {})", "Object.keys(new Proxy({}, { ownKeys: () => ['x'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) })).join() === 'x'",
			"(() => { class P { static #n = 0; static get n() { return ++P.#n } get name() { return 'n' } } return P.n === 1 && new P().name === 'n' })()",
		},
		"const table = { even: { odd: 3 } }, k = turn.round > 0 ? 'even' : 'odd', dynamic = turn.match_id": {"table[k].odd === 3 && table[k]['odd'] === 3 && table[dynamic] === undefined", "(() => { table[dynamic] = (table[dynamic] || 0) + 1; table[dynamic] += 1; table[dynamic]++; return table[dynamic] })() === 3", "table[{ toString: () => 'even' }].odd === 3 && ((s) => ({ [s]: 1 })[s])(Symbol('s')) === 1", "[1, 2, 3][turn.round] === 2 && 'abc'[turn.round] === 'b' && (([a]) => a)(['x']) === 'x'", "delete table[dynamic] && !(dynamic in table) && typeof table[dynamic] === 'undefined'"},
		"let s = ''": {"(() => { for (let i = 0; i < 5000; i++) s += turn.match_id + i; return s.length > 20000 })()", "turn.match_id + turn.opponent === 'R1M1P02' && `${turn.match_id}${turn.opponent}` === 'R1M1P02'", "1 + turn.round === 2 && turn.round + turn.round === 2 && turn.round + turn.match_id === '1R1M1'", "({ valueOf: () => 4 }) + turn.round === 5 && [1] + [2] === '12'"},
		"function* g() { yield 1; yield* [2, 3]; return 4 }": {"[...g()].join() === '1,2,3' && Math.min(...g()) === 1", "(() => { const [a, ...b] = g(); return b.join() })() === '2,3'", "(() => { let t = 0; for (const x of g()) t += x; return t })() === 6"},
	} {
		for _, e := range expressions {
			holds(t, before, e)
		}
	}
}

// What a script does to prototypes harms nobody but itself, and not even that.
func TestTamperedPrototypes(t *testing.T) {
	t.Parallel()
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := seated(t, tampering+"\nfunction choose(turn) { return turn.history.length > 0 && turn.history[0].result === 'win' ? 'odd' : 'even' }")
			if c, err := s.Choose(t.Context(), turn(0)); c != strategies.Even || err != nil {
				t.Errorf("first choose: %v, %v, want even", c, err)
			}
			if err := s.Observe(t.Context(), outcome(0)); err != nil {
				t.Errorf("observe: %v", err)
			}
			if c, err := s.Choose(t.Context(), turn(2)); c != strategies.Odd || err != nil {
				t.Errorf("second choose: %v, %v, want odd", c, err)
			}
		})
	}
}

// A script that has frozen its turn is told so; the next one is not disturbed.
func TestFrozenTurn(t *testing.T) {
	t.Parallel()
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
