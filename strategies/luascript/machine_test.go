package luascript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies/budget"
)

// TestOneUnitPerInstruction pins what the budget rests on: the interpreter
// asks its context once for each instruction. An empty loop has one
// instruction a turn, so ten turns more cost ten units more.
func TestOneUnitPerInstruction(t *testing.T) {
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
	for _, code := range []string{
		`for i = 1, 100 do end`,
		`for i = 1, 20000 do end`,
		`local t = {} for i = 1, 3000 do t[i] = i .. "x" end table.sort(t) return table.concat(t)`,
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

// TestOverrunsCannotBeCaught lets scripts try to go on after an overrun.
func TestOverrunsCannotBeCaught(t *testing.T) {
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
		{"recursion by tail calls", `local function f() return f() end f()`, overInstructions},
		{"mutual recursion", `local g local function f() return 1 + g() end g = function() return 1 + f() end f()`, overDepth},
		{"recursion in __index", `local t t = setmetatable({}, {__index = function(_, k) return t[k .. "x"] end}) return t.x`, overDepth},
		{"recursion in __newindex", `local t t = setmetatable({}, {__newindex = function(_, k, v) t[k] = v end}) local k = "x" t[k] = 1`, overDepth},
		{"recursion in __concat", `local t t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. "x"`, overDepth},
		{"recursion in __eq", `local m = {} m.__eq = function(a, b) return a == b end return setmetatable({}, m) == setmetatable({}, m)`, overDepth},
		{"recursion in __call", `local t = setmetatable({}, {__call = function(t) return 1 + t() end}) t()`, overDepth},
		{"recursion in __tostring", `local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) return tostring(t)`, overDepth},
		{"recursion in sort", `local function f() table.sort({1, 2}, f) end f()`, overDepth},
		{"recursion in gsub", `local function f() return ("x"):gsub("x", f) end f()`, overDepth},
	} {
		b := newBench(t, budget.Limits{Time: roomy.Time, Instructions: 100_000})
		if got, err := b.run(c.code); b.machine.over != c.want {
			t.Errorf("%s: gave %q, error %v, overrun %d, want overrun %d", c.name, got, err, b.machine.over, c.want)
		}
	}
}

// TestGoPanicsAreErrors uses a function of more upvalues than the interpreter
// has room to count.
func TestGoPanicsAreErrors(t *testing.T) {
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
