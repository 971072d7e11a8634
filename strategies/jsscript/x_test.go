package jsscript

import (
	"context"
	"testing"
	"time"
	"runtime"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func TestX(t *testing.T) {
	for _, body := range []string{
		`return "even"`, `return "Even"`, `return 2`, `return NaN`, `return new Proxy({}, {})`, `return Symbol()`, `return ({[Symbol.toPrimitive]: () => "even"})`,
		`return Object("even")`, `return () => 1`, `return "e" + "ven"`, "return `ev${'en'}`", `return true`, `return`, `return null`, `return 0.5`, `return -0`, `return {}`,
		`throw new Error("boom")`, `throw {a: 1}`, `throw "x".repeat(100000)`, `null.foo`, `Date.now()`, `eval("1")`, `Function("return 1")()`, `(()=>{}).constructor("return 1")()`,
		`(function*(){}).constructor("yield 1")()`, `let k = "constru" + "ctor"; (()=>{})[k]("return 1")()`,  `let k = "constru" + "ctor"; (function*(){})[k]("return 1")()`,
		`globalThis.eval("1")`, `setTimeout(() => 1)`, `require("fs")`,
		`while (true) {}`, `try { while (true) {} } finally { while (true) {} }`, `try { while(true){} } catch (e) { return "even" }`,
		`return choose(turn)`, `try { choose(turn) } catch (e) { return "even" }`,
		`new Array(5e7).fill(0)`, `'x'.repeat(2**40)`, `'x'.padStart(2**30)`, `new ArrayBuffer(2**40)`, `new Float64Array(1e9)`, `Array.from({length: 1e9})`,
		`[].fill.call({length: 1e15}, 0)`, `[].indexOf.call({length: 1e15}, 0)`, `let k = "ind" + "exOf"; [][k].call({length: 1e15}, 0)`,
		`let a = []; a.length = 4e9; a.join()`, `let a = []; a.length = 4e9; "" + a`, `let a = []; a.length = 4e9; [...a]`, `let a = []; a.length = 4e9; JSON.stringify(a)`,
		`let a = []; a.length = 4e9; Math.max.apply(null, a)`, `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; "" + a`,
		`let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)`, `JSON.parse("[".repeat(1e6))`, `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)`,
		`/^(a+)+$/.test("a".repeat(40) + "b")`, `/(?=a)^(a+)+$/.test("a".repeat(40) + "b")`, `const r = /(a+)+$/g; r.lastIndex = 1; r.exec("a".repeat(40) + "b")`,
		`"x".repeat(1e6).replaceAll("x", "y".repeat(1e6))`, `"x".repeat(8000).replace(/x/g, "$'$'$'$'$'$'")`,  "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])",
		`[3,1,2].sort(() => { while (true) {} })`, `[3,1,2].sort(() => Math.random() - 0.5)`,
		`Object.defineProperty(Array.prototype.map, 'name', {get(){ return "x" }}); [1].map(()=>{while(true){}})`,
		`Array.prototype.map.__proto__ = {}`, `let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); f()`,
		`let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); p.x`, `Object.keys(new Proxy({}, {ownKeys: () => ({length: 4e9})}))`,
		`JSON.stringify({toJSON() { const a = []; a.length = 4e9; return a; }})`, `"a".match("(".repeat(1e5))`, `new RegExp("(.{1000}){1000}")`,
		`turn.history.push(1); Object.freeze(turn)`, `console.log({a: [1,2,{b: 3}], f() {}}, "x", new Error("e"), new Map())`, 
		`String.raw({raw: {length: 1e9}})`, `let s = "x"; while (true) s += s`, `[...{[Symbol.iterator]: () => ({next: Object})}]`, `const [...a] = {[Symbol.iterator]: () => ({next: Object})}`, `new Map({[Symbol.iterator]: () => ({next: Object})})`, `Array.from({[Symbol.iterator]: () => ({next: Object})})`,`[].values().__proto__.next = Object; [...[1]]`, `const a = []; a[Symbol.iterator] = () => ({next: Object}); [...a]`, `let s="x"; for(let i = 0; i<26; i++) s+=s; return {...s}`, `let s="x"; for(let i = 0; i<24; i++) s+=s; return Object.keys(s)`, `let s="x"; for(let i = 0; i<24; i++) s+=s; return [...s]`, `return Math.max(...new Set([1,2,3])) === 3 ? "even" : "oops"`,`return [...new Map([[1,2]])].join() === "1,2" ? "even" : "oops"`, `return Object.entries(Object.fromEntries([["a", 1]])).join() === "a,1" ? "even" : "oops"`, `const {a, ...r} = {a: 1, b: 2}; return {...r, a}.b === 2 ? "even" : "oops"`, `const [h, ...t] = [1,2,3]; return t.length === 2 ? "even" : "oops"`, `return new Float64Array(new Set([1,2])).length === 2 && Float64Array.from([1,2]).length === 2 && new Float64Array(new Float64Array(2)).length === 2 ? "even" : "oops"`, `return new Set([1]).union(new Set([2])).size === 2 ? "even" : "oops"`,
		`new Date()`, `let x = {}; x.y.z`, `undefined_thing`, `"abc".replace(/b/, "[$&]")`, `return "xoxo".match(/xo/g).length === 2 ? "even" : "oops"`, `return "a1b2".split(/\d/).join("") === "ab" ? "even" : "oops"`,
		`return [..."a1b2".matchAll(/\d/g)].length === 2 ? "even" : "oops"`, `return [1,[2,[3]]].flat(2).length === 3 ? "even" : "oops"`,
		`return Array.from({length: 3}, (_, i) => i).join() === "0,1,2" ? "even" : "oops"`, `return new Float64Array(3).fill(1).reduce((a, b) => a + b) === 3 ? "even" : "oops"`,
		`return new Uint8Array([1,2,3]).length === 3 ? "even" : "oops"`, `class A extends Array {}; const a = new A(3); return a.length === 3 && a instanceof A ? "even" : "oops"`,
		`return JSON.stringify({a: [1, {b: "x"}], c: undefined}) === '{"a":[1,{"b":"x"}]}' ? "even" : "oops"`, `return JSON.stringify({a: 1, b: 2}, ["b"]) === '{"b":2}' ? "even" : "oops"`,
		`return Math.max.apply(null, [1,2,3]) === 3 ? "even" : "oops"`, `return (() => {}) instanceof Function ? "even" : "oops"`,
	} {
		t0 := time.Now()
		f, err := Compile("x", "scripts/x.js", []byte("function choose(turn) {\n "+body+" }"), Options{})
		if err != nil {
			t.Logf("%-60.60s LOAD %v", body, err)
			continue
		}
		s, err := f.New(context.Background(), strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{})})
		if err != nil {
			t.Logf("%-60.60s NEW %v", body, err)
			continue
		}
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		var c strategies.Choice
		done := make(chan bool)
		go func() {
		c, err = s.Choose(context.Background(), &strategies.Turn{MatchID: "R1M1", Opponent: "P02", Round: 1})
		close(done)
		}()
		select { case <-done:
		case <-time.After(5*time.Second): t.Errorf("%-60.60s HANGS", body); continue }
		runtime.ReadMemStats(&m1)
		t.Logf("%-60.60s %v %v  [%v, %d MB, %v]", body, c, err, time.Since(t0).Round(time.Millisecond), (m1.TotalAlloc-m0.TotalAlloc)>>20, strategies.FaultOf(err))
		s.Close()
		f.Close()
	}
	fmt.Println()
}
