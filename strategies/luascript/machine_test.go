package luascript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies/budget"
)

// TestOneUnitPerInstruction pins what the budget rests on: the interpreter
// asks its context once for each instruction. An empty loop has one
// instruction a turn, so ten turns more cost ten units more.
func TestOneUnitPerInstruction(t *testing.T) {
	t.Parallel()
	used := func(turns int) int64 {
		b := newBench(t, roomy)
		if _, err := b.run(fmt.Sprintf("for i = 1, %d do end", turns)); err != nil {
			t.Fatal(err)
		}
		return b.machine.life
	}
	if d := used(110) - used(100); d != 10 {
		t.Errorf("ten more turns of an empty loop took %d units, want 10", d)
	}
	if d := used(100_010) - used(100_000); d != 10 {
		t.Errorf("ten more turns of a long loop took %d units, want 10", d)
	}
}

// TestBudgetIsExact finds the number of units that a chunk needs, and gives it
// one less.
func TestBudgetIsExact(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`for i = 1, 100 do end`,
		`for i = 1, 20000 do end`,
		`local t = {} for i = 1, 3000 do t[i] = i .. "x" end table.sort(t) return table.concat(t)`,
		`local s = ("ab"):rep(50000) return s:find("b-$"), #s:gsub("a", "c")`,
	} {
		b := newBench(t, roomy)
		if _, err := b.run(code); err != nil {
			t.Fatal(err)
		}
		need := b.machine.life
		b = newBench(t, budget.Limits{Time: roomy.Time, Instructions: need})
		if _, err := b.run(code); err != nil {
			t.Errorf("%s: with %d units: %v", code, need, err)
		}
		b = newBench(t, budget.Limits{Time: roomy.Time, Instructions: need - 1})
		if _, err := b.run(code); err == nil || b.machine.over != overInstructions {
			t.Errorf("%s: with %d units: error %v, overrun %d; want an overrun", code, need-1, err, b.machine.over)
		}
	}
}

// TestBudgetIsPerCall runs a chunk often enough to use the limit many times
// over in all.
func TestBudgetIsPerCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, budget.Limits{Time: roomy.Time, Instructions: 3000})
	for range 50 {
		if _, err := b.run("for i = 1, 2000 do end"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverrunsCannotBeCaught lets scripts try to go on after an overrun.
func TestOverrunsCannotBeCaught(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		want       overrun
	}{
		{"loop", `while true do end`, overInstructions},
		{"pcall in a loop", `while true do pcall(function() while true do end end) end`, overInstructions},
		{"xpcall in a loop", `while true do xpcall(function() while true do end end, function() while true do end end) end`, overInstructions},
		{"pcall of a loop, returned", `return pcall(function() while true do end end)`, overInstructions},
		{"pcall within pcall", `local function f(g) pcall(g) f(g) end f(function() while true do end end)`, overInstructions},
		{"loop in a comparison", `table.sort({1, 2, 3}, function() while true do end end)`, overInstructions},
		{"loop in gsub", `("x"):gsub("x", function() while true do end end)`, overInstructions},
		{"loop in a metamethod", `local t = setmetatable({}, {__index = function() while true do end end}) return t.x`, overInstructions},
		{"loop in tostring", `tostring(setmetatable({}, {__tostring = function() while true do end end}))`, overInstructions},
		{"loop in an iterator", `for _ in function() return 1 end do end`, overInstructions},
		{"errors for ever", `while true do pcall(error, "x") end`, overInstructions},
		{"goto", `::a:: goto a`, overInstructions},
		{"recursion", `local function f() return 1 + f() end f()`, overDepth},
		{"recursion by tail calls", `local function f() return f() end f()`, overDepth},
		{"recursion caught", `local function f() pcall(f) f() end pcall(f) return 1`, overDepth},
		{"mutual recursion", `local g local function f() return 1 + g() end g = function() return 1 + f() end f()`, overDepth},
		{"recursion in __index", `local t t = setmetatable({}, {__index = function(_, k) return t[k .. "x"] end}) return t.x`, overDepth},
		{"recursion in __newindex", `local t t = setmetatable({}, {__newindex = function(_, k, v) t[k] = v end}) local k = "x" t[k] = 1`, overDepth},
		{"recursion in __concat", `local t t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. "x"`, overDepth},
		{"recursion in __eq", `local m = {} m.__eq = function(a, b) return a == b end return setmetatable({}, m) == setmetatable({}, m)`, overDepth},
		{"recursion in __call", `local t = setmetatable({}, {__call = function(t) return 1 + t() end}) t()`, overDepth},
		{"recursion in __tostring", `local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) return tostring(t)`, overDepth},
		{"recursion in sort", `local function f() table.sort({1, 2}, f) end f()`, overDepth},
		{"recursion in gsub", `local function f() return ("x"):gsub("x", f) end f()`, overDepth},
		{"many values at once", `local t = {} for i = 1, 4096 do t[i] = i end
			local function f(n, ...) return f(n + 1, unpack(t)) end f(1)`, overDepth},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, budget.Limits{Time: roomy.Time, Instructions: 1_000_000})
			got, err := b.run(c.code)
			if b.machine.over != c.want {
				t.Errorf("gave %q, error %v, overrun %d, want overrun %d", got, err, b.machine.over, c.want)
			}
		})
	}
}

// TestGoPanicsAreErrors uses a function of more upvalues than the interpreter
// has room to count.
func TestGoPanicsAreErrors(t *testing.T) {
	t.Parallel()
	got, err := newBench(t, roomy).run(manyUpvalues(300))
	if err == nil || !strings.Contains(err.Error(), "the interpreter failed") {
		t.Errorf("300 upvalues gave %q (%v), want an error that says the interpreter failed", got, err)
	}
}

// manyUpvalues is a function that refers to n variables of functions around it.
func manyUpvalues(n int) string {
	const perFunction = 100
	var open, use, shut strings.Builder
	for i := range n {
		if i%perFunction == 0 {
			open.WriteString("return (function()\n")
			shut.WriteString("end)()\n")
		}
		fmt.Fprintf(&open, "local v%d = %d\n", i, i)
		fmt.Fprintf(&use, "s = s + v%d\n", i)
	}
	return open.String() + "return (function() local s = 0\n" + use.String() + "return s end)()\n" + shut.String()
}

// allocators are chunks that allocate as much as they can, each in its way.
var allocators = []string{
	`local t = {} for i = 1, N do local x = {} x.y = 1 t[i] = x end`,
	`local t = {} for i = 1, N do t[i] = {} end`,
	`local t = {} for i = 1, N do t[i] = {x = 1} end`,
	`local t = {} for i = 1, N do t[i] = {i} end`,
	`local t = {} for i = 1, N do local x = {} x[1] = 1 t[i] = x end`,
	`local t = {} for i = 1, N do local x = {} x[t] = 1 t[i] = x end`,
	`local t = {} for i = 1, N do local x = {} x.a = 1 x[1] = 1 x[t] = 1 t[i] = x end`,
	`local t = {} for i = 1, N do t[i] = function() return i end end`,
	`local t = {} for i = 1, N do t[i .. "x"] = i end`,
	`local t = {} for i = 1, N do t[-i] = i t[-i] = nil end`,
	`local t = {} for i = 1, N do t[i] = ("x"):rep(1000) end`,
	`local t, s = {}, ("x"):rep(1000) for i = 1, N do t[i] = s .. i end`,
	`local t, s = {}, ("X"):rep(1000) for i = 1, N do t[i] = s:lower() end`,
	`local t, s = {}, ("x"):rep(1000) for i = 1, N do t[i] = s:gsub("x", "y", 1) end`,
	`local t, s = {}, ("x"):rep(90) for i = 1, N do t[i] = ("%99s"):format(s) end`,
	`local t, b = {}, {} local function f(...) return {...} end for i = 1, 4000 do b[i] = i end
		for i = 1, N / 1000 do t[i] = f(unpack(b)) end`,
	`local t, b = {}, {} local function f(...) return arg end for i = 1, 4000 do b[i] = i end
		for i = 1, N / 1000 do t[i] = f(unpack(b)) end`,
	`local t = {} local function f(...) return {...}, {...}, {...} end for i = 1, N do t[i] = {f(1, 2, 3, 4, 5, 6, 7, 8)} end`,
	`local t = {} for i = 1, N do t[i] = {} t[i][60] = 1 end`,
	`local t = {} for i = 1, N do t[i] = {[64] = 1} end`,
	`local t = {} for i = 1, N / 100 do t[i] = {} t[i][10000] = 1 end`,
	`local t = {} for i = 1, N / 100 do t[i] = {[10 * 1000] = 1} end`,
	`local t = {} for i = 1, N / 100 do t[i] = {} rawset(t[i], 10000, 1) end`,
	`local t = {} for i = 1, N / 100 do t[i] = {} table.insert(t[i], 10000, 1) end`,
	`local t = {} for i = 1, N / 100 do t[i] = setmetatable({}, {__newindex = {}}) t[i][10000] = 1 end`,
	`for i = 1, N do ("x"):gmatch("x")() end`,
	`for i = 1, N do ("x"):find("()") end`,
	`local b = {} for i = 1, 1000 do b[i] = i end for i = 1, N / 100 do table.concat(b, ",") end`,
	`for i = 1, N do pcall(error, "x") end`,
	`local s = ("x"):rep(2^19) for i = 1, N / 1000 do pcall(error, s) end`,
}

// TestUnitsBoundMemory measures what a unit allocates: every look at the heap
// rests on its being bounded. It counts what is kept and what is not.
func TestUnitsBoundMemory(t *testing.T) { // not parallel: it reads the allocator's totals
	for _, code := range allocators {
		b := newBench(t, roomy)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.run(strings.ReplaceAll(code, "N", "10000"))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", code, err)
		}
		// Growing a slice leaves garbage behind, at most as much again as is
		// kept; only what is kept counts against the allowance.
		perUnit := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.machine.life)
		t.Logf("%5.0f %s", perUnit, code)
		if perUnit > 1.5*bytesPerUnitAtMost {
			t.Errorf("%.0f bytes a unit, want at most %d: %s", perUnit, bytesPerUnitAtMost, code)
		}
	}
}

// TestMemoryBombs lets tables grow until they are stopped, within one call and
// over many, and measures how far the heap got.
func TestMemoryBombs(t *testing.T) { // not parallel: it measures the heap of the process
	if testing.Short() {
		t.Skip("allocates hundreds of MiB")
	}
	for _, code := range []string{
		`local t = {} for i = 1, 1e9 do t[i] = {x = i} end`,
		`kept = kept or {} for i = 1, 5000 do kept[#kept + 1] = ("x"):rep(1000) .. i end`,
		`local t = {} for i = 1, 1e9 do t[i] = {} t[i][2^20] = 1 end`,
		`local t = {} while true do t = {t, t, function() return t end} end`,
	} {
		b := newBench(t, roomy)
		var peak uint64
		for range 10_000 {
			_, err := b.run(code)
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
			if err != nil || b.machine.over != withinBudget {
				break
			}
		}
		if b.machine.over != overMemory {
			t.Errorf("%s: overrun %d, want one of memory", code, b.machine.over)
		}
		t.Logf("peak %d MiB %s", peak>>20, code)
		if limit := uint64(3 * heapAllowance); peak > limit {
			t.Errorf("%s: the heap reached %d MiB, want at most %d", code, peak>>20, limit>>20)
		}
		b.machine.state = nil
		runtime.GC()
	}
}

// TestGarbageIsNoOffence makes more garbage than the allowance, and keeps
// nothing.
func TestGarbageIsNoOffence(t *testing.T) {
	b := newBench(t, roomy)
	if _, err := b.run(`for i = 1, 300000 do local x = ("x"):rep(1000) end`); err != nil {
		t.Errorf("300 MB of garbage: %v", err)
	}
}

// TestTheLightAreInnocent sets the heap of somebody else against a machine
// that has run too little to have filled it.
func TestTheLightAreInnocent(t *testing.T) {
	t.Parallel()
	m := &machine{baseline: 10 << 20}
	for _, c := range []struct {
		used int64
		heap uint64
		want bool
	}{
		{1 << 30, 100 << 20, false},      // the heap has not grown enough
		{1000, 500 << 20, false},         // much, but not by this machine
		{400_000, 500 << 20, false},      // still not all of it
		{510_000, 500 << 20, true},       // it could have
		{1 << 30, 5 << 20, false},        // the heap has shrunk
		{1 << 30, 138<<20 + 1<<10, true}, // just over
	} {
		if got := m.suspect(c.used, c.heap); got != c.want {
			t.Errorf("after %d units, heap at %d MiB: suspect = %v, want %v", c.used, c.heap>>20, got, c.want)
		}
	}
}
