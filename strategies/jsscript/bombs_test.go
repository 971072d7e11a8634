package jsscript_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// limit is the deadline where something is expected to overrun it. On a busy
// machine an honest call may do so too: those are given patient limits.
const limit = 60 * time.Millisecond

var patient = budget.Limits{Time: time.Hour}

// hang is longer than any call that ends takes on any machine, and far shorter
// than those that do not end.
const hang = 5 * time.Minute

// bombs are bodies of choose that would work for hours, or take all memory, in
// one call of something built in. Each has to end as the kind of fault says:
// by a budget that does not depend on the machine wherever that is possible.
var bombs = []struct {
	fault game.Fault
	body  string
}{
	{game.FaultBudget, "new Array(5e7).fill(0)"},
	{game.FaultBudget, "[].concat(new Array(4e9 - 1))"},
	{game.FaultBudget, "const a = []; a.length = 4e9; a.indexOf(1)"},
	{game.FaultBudget, "const a = []; a[4e9] = 1; a.forEach(() => 1)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; a.toSorted()"},
	{game.FaultBudget, "const a = []; a.length = 4e9; a.sort()"},
	{game.FaultBudget, "const a = []; a.length = 4e9; a.reverse()"},
	{game.FaultBudget, "const a = []; a.length = 4e9; '' + a"},
	{game.FaultBudget, "const a = []; a.length = 4e9; ({})[a]"},
	{game.FaultBudget, "const a = []; a.length = 4e9; [...a]"},
	{game.FaultBudget, "const a = []; a.length = 4e9; const [...b] = a"},
	{game.FaultBudget, "const a = []; a.length = 4e9; new Set(a)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; Math.max(...a)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; Math.max.apply(null, a)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; Reflect.construct(Array, a)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; JSON.stringify(a)"},
	{game.FaultBudget, "const a = []; a.length = 4e9; JSON.stringify({ toJSON: () => a })"},
	{game.FaultBudget, "const a = []; a.length = 4e9; JSON.stringify({}, a)"},
	{game.FaultError, "[].indexOf.call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "let n = 0; [].indexOf.call({ get length() { return n++ ? 2 ** 53 : 0 } }, 1)"},
	{game.FaultError, "[]['in' + 'dexOf'].call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "const k = turn.match_id.replace('R1M1', 'indexOf'); [][k].call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "const { ['fi' + 'll']: f } = []; f.call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "Reflect.get([], 'fi' + 'll').call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "Object.getOwnPropertyDescriptors(Array.prototype).fill.value.call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "[].map.call(new Proxy([], { get: () => 2 ** 53 }), (x) => x)"},
	{game.FaultError, "[].ind\\u0065xOf.call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "[]['ind\\x65xOf'].call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "[][`indexOf`].call({ length: 2 ** 53 }, 1)"},
	{game.FaultError, "+{ valueOf: [].indexOf, length: 2 ** 53 }"},
	{game.FaultBudget, "Array.from({ length: 1e9 })"},
	{game.FaultBudget, "Array.from({ length: 1e9 }, (_, i) => i)"},
	{game.FaultBudget, "Function.prototype.apply.call(Math.max, null, { length: 1e9 })"},
	{game.FaultTimeout, "[...{ [Symbol.iterator]: () => ({ next: Object }) }]"},
	{game.FaultTimeout, "const [...a] = { [Symbol.iterator]: () => ({ next: Object }) }"},
	{game.FaultTimeout, "Array.from({ [Symbol.iterator]: () => ({ next: Object }) })"},
	{game.FaultTimeout, "new Set({ [Symbol.iterator]: () => ({ next: Object }) })"},
	{game.FaultTimeout, "[].values().__proto__.next = Object; [...[1]]"},
	{game.FaultTimeout, "const a = []; a[Symbol.iterator] = () => ({ next: Object }); Math.max(...a)"},
	{game.FaultTimeout, "function* g() { for (;;) yield 1 }\n[...g()]"},
	{game.FaultError, "new Set([1]).union({ size: 1, has() {}, keys: () => ({ next: Object }) })"},
	{game.FaultBudget, "'x'.repeat(2 ** 40)"},
	{game.FaultBudget, "'x'.padStart(2 ** 30)"},
	{game.FaultBudget, "'x'.padEnd(2 ** 30, 'yz')"},
	{game.FaultBudget, "'x'['rep' + 'eat'](2 ** 40)"},
	{game.FaultBudget, "'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6))"},
	{game.FaultBudget, "'x'.repeat(8000).replace(/x/g, \"$'$`\".repeat(100))"},
	{game.FaultBudget, "const s = 'y'.repeat(1e6); 'x'.repeat(8000).replace(/x/g, () => s)"},
	{game.FaultBudget, "/x/g[Symbol.replace]('x'.repeat(8000), 'y'.repeat(1e6))"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); s.concat(s, s, s)"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); s.split('')"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); new Array(100).fill(s).join()"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); String.raw({ raw: [s, s, s] })"},
	{game.FaultBudget, "String.raw({ raw: { length: 1e9 } })"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); Object.keys(s)"},
	{game.FaultBudget, "const s = 'x'.repeat(1e6); ({ ...s })"},
	{game.FaultBudget, "let s = 'x'; for (;;) s += s"},
	{game.FaultBudget, "let s = 'x'; for (;;) s = s + s"},
	{game.FaultBudget, "let s = 'x'; for (;;) s = `${s}${s}`"},
	{game.FaultBudget, "const o = { s: 'x' }; for (;;) o.s += o.s"},
	{game.FaultBudget, "let s = 'x', t = 'y'; for (;;) { s = s + t; t = t + s }"},
	{game.FaultBudget, "let s = 'x'; const twice = (a) => a + a; for (;;) s = twice(s)"},
	{game.FaultBudget, "let s = 'x'; for (;;) s = [s, s].join('')"},
	{game.FaultBudget, "let s = 'x'; for (;;) s = s.concat(s)"},
	{game.FaultBudget, "let s = 'x'; for (;;) s = s.replace('x', '$&$&$`$\\'')"},
	{game.FaultBudget, "new ArrayBuffer(2 ** 40)"},
	{game.FaultBudget, "new Float64Array(1e9)"},
	{game.FaultBudget, "new Uint8Array({ length: 2 ** 40 })"},
	{game.FaultBudget, "const a = []; a.length = 4e9; new Uint8Array(a)"},
	{game.FaultBudget, "Uint8Array.from({ length: 1e9 })"},
	{game.FaultTimeout, "Float64Array.from({ [Symbol.iterator]: () => ({ next: Object }) })"},
	{game.FaultTimeout, "new Float64Array({ [Symbol.iterator]: () => ({ next: Object }) })"},
	{game.FaultBudget, "new Uint8Array(1e5).join('x'.repeat(1e5))"},
	{game.FaultBudget, "new Float64Array(2e5)"},
	{game.FaultBudget, "new Float64Array(2).constructor(1e9)"},
	{game.FaultBudget, "const a = []; for (;;) a.push(new Float64Array(1e5))"},
	{game.FaultBudget, "const a = []; for (;;) a.push(new Array(1e5).fill(0))"},
	{game.FaultBudget, "const a = []; for (;;) a.push('x'.repeat(1e6))"},
	{game.FaultBudget, "let a = []; for (let i = 0; i < 5000; i++) a = [a]; String(a)"},
	{game.FaultBudget, "let a = []; for (let i = 0; i < 5000; i++) a = [a]; JSON.stringify(a)"},
	{game.FaultBudget, "JSON.parse('['.repeat(1e5))"},
	{game.FaultBudget, "JSON.parse('{\"a\":'.repeat(1e5))"},
	{game.FaultBudget, "JSON.stringify({ toJSON() { return { toJSON: this.toJSON, x: { toJSON: this.toJSON } } } })"},
	{game.FaultBudget, "let f = () => 1; for (;;) f = f.bind(null)"},
	{game.FaultBudget, "let f = () => 1; for (;;) { f = f.bind(null); delete f.name }"},
	{game.FaultBudget, "let p = {}; for (;;) p = new Proxy(p, {})"},
	{game.FaultBudget, "Object.keys(new Proxy({}, { ownKeys: () => ({ length: 4e9 }) }))"},
	{game.FaultBudget, "return choose(turn)"},
	{game.FaultBudget, "const o = { toString: () => String(o) }; String(o)"},
	{game.FaultBudget, "const o = { get x() { return this.x } }; o.x"},
	{game.FaultBudget, "'a'.match('('.repeat(1e4))"},
	{game.FaultBudget, "new RegExp('a{1000}'.repeat(30))"},
	{game.FaultBudget, "/a*b|c/.test('a'.repeat(1e5))"},
	{game.FaultTimeout, "for (;;) [1, 2, 3].sort(() => Math.random() - 0.5)"},
	{game.FaultTimeout, "[3, 1, 2].sort(() => { for (;;); })"},
	{game.FaultTimeout, "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])"},
	{game.FaultTimeout, "const a = []; for (;;) a.push({})"},
	{game.FaultTimeout, "try { for (;;); } catch { return 'even' } finally { for (;;); }"},
	{game.FaultTimeout, "for (;;) try { throw 1 } catch {}"},
	{game.FaultTimeout, "for (const x of { [Symbol.iterator]() { return this }, next: () => ({}), return() { for (;;); } }) for (;;);"},
	{game.FaultTimeout, "const o = { toString() { for (;;); } }; throw `${o}`"},
	{game.FaultTimeout, "console.log({ get x() { for (;;); } })"},
	{game.FaultTimeout, "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e"},
	{game.FaultTimeout, "throw Object.defineProperty(new Error(), 'name', { get() { for (;;); } })"},
	{game.FaultTimeout, "[1].map(() => { for (;;); })"},
	// A script that computes the name of a running function while it is
	// interrupted would lock the interpreter up.
	{game.FaultError, "Object.defineProperty([].map, 'name', { get: () => 'x' }); [1].map(() => { for (;;); })"},
	{game.FaultError, "Object.defineProperties([].map, { name: { get: () => 'x' } }); [1].map(() => { for (;;); })"},
	{game.FaultError, "Reflect.defineProperty([].map, 'name', { get: () => 'x' }); [1].map(() => { for (;;); })"},
	{game.FaultError, "Object['define' + 'Property']([].map, 'na' + 'me', { get: () => 'x' }); [1].map(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; Map.prototype.forEach.__proto__ = { get name() { return 'x' } }; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; Object.setPrototypeOf(Map.prototype.forEach, { get name() { return 'x' } }); new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; Map.prototype.forEach['__pro' + 'to__'] = { get name() { return 'x' } }; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; delete Function.prototype.name; Object.prototype.name = { toString: () => 'x' }; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; delete Function.prototype['na' + 'me']; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "delete Map.prototype.forEach.name; Map.prototype.forEach['__pro' + 'to__'] = { name: { toString: () => 'x' } }; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultTimeout, "delete Map.prototype.forEach.name; Object.prototype.name = { toString: () => 'x' }; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultTimeout, "Object.defineProperty(Object.prototype, 'name', { get: () => 'x' }); delete Map.prototype.forEach.name; new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultTimeout, "delete Map.prototype.forEach.name; Reflect.setPrototypeOf(Object.prototype, null); new Map([[1, 1]]).forEach(() => { for (;;); })"},
	{game.FaultError, "Reflect.deleteProperty(Map.prototype.forEach, 'name'); if (!Reflect.deleteProperty(Function.prototype, 'name')) throw new Error('kept')"},
}

// regexpBombs backtrack for ever in the engine that knows no interrupt: each
// takes its time limit, which is that of a call by default.
var regexpBombs = []string{
	"/(?=a)^(a+)+$/.test('a'.repeat(40) + 'b')",
	"/^(a+)+\\1$/.exec('a'.repeat(40) + 'b')",
	"const r = /(a+)+$/g; r.lastIndex = 1; r.test('a'.repeat(40) + 'b')",
	"('é' + 'a'.repeat(40)).replace(/(?!x)(a+)+b/g, '')",
	"['a'.repeat(40), 'a'.repeat(41), 'a'.repeat(42)].some(RegExp.prototype.test, /(?!x)(a+)+b/)",
}

func TestRegExpBombs(t *testing.T) {
	t.Parallel()
	for _, bomb := range regexpBombs {
		t.Run(bomb[:20], func(t *testing.T) {
			t.Parallel()
			f := load(t, body(bomb), patient)
			began := time.Now()
			// A slow machine may not have begun with the expression when the limit is over.
			var se *strategies.Error
			var err error
			for d := limit; d < 100*limit && (se == nil || se.Where() != source+":2"); d *= 8 {
				err = overrun(t, f, d)
				errors.As(err, &se)
			}
			want(t, err, strategies.OpChoose, game.FaultTimeout, source+":2", "")
			if d := time.Since(began); d > hang {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// overrun returns the error of a call that has the given time.
func overrun(t *testing.T, f strategies.Factory, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, err := sit(t, f, game.Key{1, 2}).Choose(ctx, turn(0))
	return err
}

// TestBombs sees that each ends, and as what. None may take the process with
// it; a bound on what they allocate is below.
func TestBombs(t *testing.T) {
	t.Parallel()
	for _, bomb := range bombs {
		t.Run(bomb.body[:min(len(bomb.body), 60)], func(t *testing.T) {
			t.Parallel()
			s := sit(t, load(t, body(bomb.body), patient), game.Key{1, 2})
			ctx := t.Context()
			if bomb.fault == game.FaultTimeout {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.Choose(ctx, turn(0))
				done <- err
			}()
			patience, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			select {
			case err := <-done:
				want(t, err, strategies.OpChoose, bomb.fault, "", "")
			case <-patience.Done():
				t.Fatal("it does not end")
			}
		})
	}
}

// What a budget ends has not allocated much before. This runs alone, because
// it measures the whole process.
func TestBombsAllocateLittle(t *testing.T) {
	const allowed = 256 << 20 // bytes, garbage included; built-in functions may make a quarter of it
	for _, bomb := range bombs {
		if bomb.fault != game.FaultBudget {
			continue
		}
		s := sit(t, load(t, body(bomb.body), patient), game.Key{1, 2})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.Choose(t.Context(), turn(0))
		runtime.ReadMemStats(&after)
		if strategies.FaultOf(err) != game.FaultBudget {
			t.Errorf("%s: %v, want an overrun of the budget", bomb.body, err)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > allowed {
			t.Errorf("%s allocated %d MiB, want at most %d", bomb.body, made>>20, allowed>>20)
		}
	}
}

// An overrun ends the seat: the script is not called again.
func TestOverrunEndsTheSeat(t *testing.T) {
	t.Parallel()
	for _, overrun := range []string{"for (;;);", "new Array(1e9).fill(0)", "again()"} {
		s := sit(t, load(t, "let n = 0; const again = () => again();\n"+body("if (n++ === 1) { "+overrun+" }\nreturn 'even'"), patient), game.Key{})
		if _, err := s.Choose(t.Context(), turn(0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, first := s.Choose(ctx, turn(1))
		cancel()
		_, second := s.Choose(t.Context(), turn(2))
		if first == nil || second != first || s.Observe(t.Context(), outcome(2)) != first {
			t.Errorf("%s: %v, and then %v", overrun, first, second)
		}
	}
}

// innocent lets seats overrun the limit, and another one play after each of
// them. It returns what goes wrong with that one.
func innocent(t *testing.T, script string, limit time.Duration) error {
	t.Helper()
	f := load(t, script, budget.Limits{Time: limit})
	beside, err := f.New(t.Context(), setup(game.Key{3, 4}))
	if err != nil {
		return err
	}
	defer beside.Close()
	for range 20 {
		s, err := f.New(t.Context(), setup(game.Key{1, 2}))
		if err != nil {
			return err
		}
		_, err = s.Choose(t.Context(), turn(0))
		want(t, err, strategies.OpChoose, game.FaultTimeout, source+":2", fmt.Sprintf("more than %v in one call", limit))
		_ = s.Close()
		for n := 1; n < 1000; n++ {
			if c, err := beside.Choose(t.Context(), turn(n)); err != nil || c != strategies.Even {
				return fmt.Errorf("an innocent call with a limit of %v: %v, %v", limit, c, err)
			}
		}
	}
	return nil
}

// An interrupt must not strike anybody else, nor the next call of the seat that
// it missed: here a call ends about when its context does. This runs alone, so
// that innocent calls have a processor.
func TestInnocentCallsAfterOverruns(t *testing.T) {
	const script = `let n = 0;
function choose(turn) { n = 0; while (turn.round === 1 && n >= 0) n++; return "even" }
function observe(outcome) { for (let i = 0; i < 50; i++) n += i }`
	// On a machine that is too slow for the innocent calls the limit grows.
	var err error
	for limit := 30 * time.Millisecond; limit < 2*time.Second; limit *= 8 {
		if err = innocent(t, script, limit); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	f := load(t, script, patient)
	beside := sit(t, f, game.Key{3, 4})
	for range 80 { // the interrupt comes at any moment of a call, or after it
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
