package strategytest_test

import (
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func jsHostile() (hostile []strategytest.Named) {
	for name, body := range map[string]string{
		"recursion":             "function f() { return 1 + f(); } f();",
		"recursion caught":      "function f() { try { f(); } catch (e) { f(); } } f();",
		"recursion in finally":  "function f() { try { f(); } finally { f(); } } f();",
		"catches everything":    "for (;;) { try { for (;;) {} } catch (e) {} finally { continue; } }",
		"array like":            "Array.prototype.fill.call({length: 2 ** 53 - 1}, 0);",
		"array iterate":         "Array.prototype.forEach.call({length: 2 ** 53 - 1}, () => {});",
		"apply":                 "Math.max.apply(null, {length: 1e9});",
		"regexp":                "/^(a+)+$/.test('a'.repeat(40) + 'b');",
		"regexp look-ahead":     "/^(?=(a+)+$)a/.test('a'.repeat(40) + 'b');",
		"regexp look-behind":    "/(?<=(a+)+b)c/.test('a'.repeat(40) + 'c');",
		"regexp back reference": "/^(a*)*\\1b$/.test('a'.repeat(40));",
		"regexp replace":        "for (;;) 'a'.repeat(1e5).replace(/a*?a*?a*?c/g, 'x');",
		"sort":                  "const a = Array.from({length: 1e6}, (_, i) => i); a.sort(() => { for (;;) {} });",
		"sort that grows":       "const a = [2, 1, 3]; a.sort((x, y) => { a.push(x); return 1; });",
		"getter":                "const o = { get x() { return this.x; } }; o.x;",
		"proxy":                 "const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); p.x;",
		"proxy keys":            "const p = new Proxy({}, { ownKeys() { for (;;) {} } }); Object.keys(p);",
		"proxy length":          "Array.prototype.includes.call(new Proxy({}, { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : 0 }), 7);",
		"generator":             "function* g() { for (;;) yield 1; } for (const x of g()) {}",
		"promise jobs":          "const again = () => Promise.resolve().then(again); again();",
		"promise of a loop":     "Promise.resolve().then(() => { for (;;) {} });",
		"JSON toJSON":           "JSON.stringify({toJSON() { for (;;) {} }});",
		"function constructor":  "new Function('for (;;) {}')();",
		"eval":                  "eval('for (;;) {}');",
		"indirect eval":         "(0, eval)('for (;;) {}');",
		"eval of deep code":     "eval('('.repeat(1e6));",
		"toString of a result":  "return { toString() { for (;;) {} }, valueOf() { for (;;) {} } };",
		"thenable":              "return { then() { for (;;) {} } };",
		"error of a long text":  "throw new Error('x'.repeat(1e7));",
		"error with a getter":   "throw { get message() { for (;;) {} }, toString() { for (;;) {} } };",
		"error that loops":      "class E extends Error { get name() { for (;;) {} } get stack() { for (;;) {} } } throw new E();",
		"console of a deep one": "let o = {}; for (let i = 0; i < 1e6; i++) o = {o}; console.log(o);",
		"console of a loop":     "console.log({ toString() { for (;;) {} }, toJSON() { for (;;) {} } });",
		"label":                 "a: for (;;) { for (;;) { continue a; } }",
		"map filling":           "const m = new Map(); for (let i = 0; ; i++) m.set(i, {});",
		"property filling":      "const o = {}; for (let i = 0; ; i++) o['k' + i] = {};",
		"iterator of a Set":     "function* g() { for (let i = 0; ; i++) yield i; } new Set(g());",
		"generator spread":      "function* g() { for (;;) yield 1; } [...g()];",
		"console":               "for (;;) console.log('x'.repeat(1e6));",
		"number text":           "(1.5).toFixed(100); for (;;) (1e300).toString(2);",
		"encodeURIComponent":    "let s = '\\uFFFF'.repeat(1e6); for (;;) s = encodeURIComponent(s);",
		"toUpperCase":           "let s = '\\u0390'; for (;;) s = (s + s).toUpperCase();",
		"template doubling":     "let s = 'x'; for (;;) s = `${s}${s}`;",
		"array spread":          "let a = [1]; for (;;) a = [...a, ...a];",
		"eval of long code":     "eval('1' + '+1'.repeat(1e7));",
	} {
		hostile = append(hostile, strategytest.Named{Name: name, Make: jsEven(body)})
	}
	return append(hostile,
		strategytest.Named{Name: "poisoned prototypes", Make: js(`
Object.defineProperty(Object.prototype, "history", { set() { for (;;) {} }, get() { for (;;) {} }, configurable: true });
Object.defineProperty(Array.prototype, "0", { set() { for (;;) {} }, get() { for (;;) {} }, configurable: true });
Array.prototype.push = function () { for (;;) {} };
Array.prototype[Symbol.iterator] = function () { for (;;) {} };
Object.prototype.toString = function () { for (;;) {} };
String.prototype.valueOf = function () { for (;;) {} };
function choose(turn) { return "even"; }`)})
}

func jsHungry() (hungry []strategytest.Named) {
	for name, body := range map[string]string{
		"string repeat":        "'x'.repeat(2 ** 40);",
		"string repeat, large": "'x'.repeat(2 ** 29);",
		"string padding":       "'x'.padEnd(2 ** 40); 'x'.padStart(2 ** 30);",
		"string doubling":      "let s = 'x'; for (;;) s += s;",
		"string doubling kept": "const t = []; let s = 'x'; for (;;) { s += s; t.push(s); }",
		"string concat":        "let s = 'x'.repeat(1e6); for (;;) s = s.concat(s, s, s, s);",
		"replaceAll":           "let s = 'xx'; for (;;) s = s.replaceAll('x', 'xxxx');",
		"split and join":       "let s = 'ab'; for (;;) s = s.split('').join(s);",
		"array fill":           "new Array(5e7).fill(0);",
		"array fill, larger":   "new Array(4e9).fill('x'.repeat(1000));",
		"array join":           "new Array(2 ** 32 - 1).join('xxxxxxxx');",
		"array push":           "const a = []; for (;;) a.push({});",
		"array doubling":       "let a = [1]; for (;;) a = a.concat(a);",
		"array sparse":         "const a = []; a[2 ** 32 - 2] = 1; a.sort(); a.reverse(); a.indexOf(7); a.map(x => x);",
		"array from length":    "Array.from({length: 2 ** 32 - 1}, (_, i) => i);",
		"array flat":           "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; a.flat(Infinity);",
		"apply of many":        "Math.max(...new Array(1e8));",
		"array buffer":         "new ArrayBuffer(2 ** 40);",
		"array buffers":        "const a = []; for (;;) a.push(new ArrayBuffer(1 << 24));",
		"typed array":          "new Float64Array(2 ** 33); new Uint8Array(2 ** 31);",
		"regexp compile":       "new RegExp('(a{1000}){1000}'); new RegExp('((((a*)*)*)*)*'.repeat(1000));",
		"JSON of a deep value": "let o = {}; for (let i = 0; i < 1e6; i++) o = {o}; JSON.stringify(o);",
		"JSON of deep text":    "JSON.parse('['.repeat(1e6));",
		"JSON indent":          "let o = {}; for (let i = 0; i < 1000; i++) o = {o}; JSON.stringify(o, null, 10);",
		"long history":         "for (;;) turn.history.push({});",
		"normalize":            "let s = '\\uFDFA'; for (;;) s = (s + s).normalize('NFKD');",
		"Object.assign":        "const o = 'x'.repeat(1e7); for (;;) Object.assign({}, o);",
		"Array of a string":    "for (;;) Array.from('x'.repeat(1e7));",
	} {
		hungry = append(hungry, strategytest.Named{Name: name, Make: jsEven(body)})
	}
	return hungry
}
