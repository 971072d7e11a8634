package luascript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// roomy limits do not get in the way on a busy machine.
var roomy = budget.Limits{Time: time.Minute, Instructions: 1 << 40}

// bench is a machine in which tests run code of their own.
type bench struct {
	tb      testing.TB
	factory *factory
	machine *machine
}

func newBench(tb testing.TB, limits budget.Limits) *bench {
	tb.Helper()
	f, err := Compile("bench", "bench.lua", []byte("function choose() return 1 end"), limits)
	must(tb, err)
	tb.Cleanup(func() { _ = f.Close() })
	b := &bench{tb: tb, factory: f.(*factory)}
	b.machine = b.factory.newMachine(&strategies.Setup{Rand: game.NewRand(game.Key{})})
	return b
}

// run runs a chunk and returns what it returned, as print shows it.
func (b *bench) run(source string) (string, error) {
	b.tb.Helper()
	proto, err := b.factory.compile([]byte(source))
	if err != nil {
		return "", err
	}
	l := b.machine.state
	b.machine.begin()
	l.Push(l.NewFunctionFromProto(proto))
	err = l.PCall(0, lua.MultRet, nil)
	b.machine.end()
	if err != nil {
		return "", errors.New(b.machine.failure(err).message)
	}
	var shown []string
	for i := 1; i <= l.GetTop(); i++ {
		shown = append(shown, string(text(l, l.Get(i))))
	}
	l.SetTop(0)
	return strings.Join(shown, " "), nil
}

// evaluate runs pieces of code and compares what they return, or how they fail.
func evaluate(t *testing.T, before, after string, fails bool, rows [][2]string) {
	t.Helper()
	for _, c := range rows {
		got, err := newBench(t, roomy).run(before + c[0] + after)
		if ok := err == nil && got == c[1]; !fails && !ok || fails && (err == nil || !strings.Contains(err.Error(), c[1])) {
			t.Errorf("%s\n gave %q (%v)\n want %q", c[0], got, err, c[1])
		}
	}
}

// TestValues holds what built-ins return to the manual of Lua 5.1 and to what lua 5.1.5 prints.
func TestValues(t *testing.T) {
	evaluate(t, "return ", "", false, [][2]string{
		// tostring and ..
		{`1, 1.5, -0.25, 1e3, 2^53, 1e15, 1e100`, "1 1.5 -0.25 1000 9007199254740992 1000000000000000 1e+100"},
		{`1234567.5, 0.001, 1e-7`, "1.2345675e+06 0.001 1e-07"},
		{`1/0, -1/0, 0/0 ~= 0/0`, "+Inf -Inf true"},
		{`math.huge == 1/0, -math.huge < -1e308`, "true true"},
		{`nil, true, {}, print`, "nil true table function"},
		{`tostring(setmetatable({}, {__tostring = function() return "me" end}))`, "me"},
		{`"a" .. 1 .. "b" .. 2.5`, "a1b2.5"},
		{`("a" .. "b") .. ("c" .. "d")`, "abcd"},
		{`1 .. ""`, "1"},
		{`#("x" .. ("y"):rep(100) .. "z")`, "102"},
		// A number that a script makes of a history is a large index.
		{`(function() local t = {} t[2^25] = 1 rawset(t, 2^25 + 1, 2) table.insert(t, 2^25 + 2, 3) return t[2^25], t[2^25 + 1], t[2^25 + 2], #t end)()`, "1 2 3 0"},
		// tonumber
		{`tonumber("10"), tonumber(" 10 "), tonumber("1e2"), tonumber(".5"), tonumber("0x1F"), tonumber("-7")`, "10 10 100 0.5 31 -7"},
		{`tonumber("z"), tonumber(""), tonumber("1 2"), tonumber({}), tonumber("inf"), tonumber("nan"), tonumber("1_0")`, "nil nil nil nil nil nil nil"},
		{`tonumber("ff", 16), tonumber("0xff", 16), tonumber("zz", 36), tonumber("8", 8), tonumber("101", 2), tonumber(7)`, "255 255 1295 nil 5 7"},
		{`tonumber("1e999"), tonumber("1", 1), tonumber("1", 99)`, "+Inf nil nil"},
		// string
		{`("hello"):sub(2, 3), ("hello"):sub(-3), ("hello"):sub(2), ("hello"):sub(0), ("hello"):sub(10), ("hello"):sub(3, 2)`, "el llo ello hello  "},
		{`("hello"):sub(-100, 2), ("hello"):sub(2, -2), ("hello"):sub(4, 100)`, "he ell lo"},
		{`("abc"):byte(), ("abc"):byte(-1), ("abc"):byte(1, 3)`, "97 99 97 98 99"},
		{`#{("abc"):byte(10)}, #{(""):byte(1, -1)}`, "0 0"},
		{`string.char(104, 105), string.char(), ("abc"):len(), ("abc"):reverse()`, "hi  3 cba"},
		{`("ab"):rep(3), ("ab"):rep(0), ("ab"):rep(-1), (""):rep(1e9)`, "ababab   "},
		// table
		{`table.concat({1, "a", 2.5}, "-"), table.concat({}, "-"), table.concat({1, 2, 3}, ",", 2), table.concat({1, 2, 3}, ",", 2, 2), table.concat({1}, ",", 2)`, "1-a-2.5  2,3 2 "},
		{`(function() local t = {1, 2}; table.insert(t, 3); table.insert(t, 1, 0); table.insert(t, 5, 9); return unpack(t) end)()`, "0 1 2 3 9"},
		{`(function() local t = {1, 2, 3}; return table.remove(t), table.remove(t, 1), #t, table.remove({}), table.remove(t, 5) end)()`, "3 1 1 nil"},
		{`table.maxn({1, 2, 3}), unpack({1, nil, 3}, 1, 3)`, "3 1 nil 3"},
		{`(function() local t = {3, 1, 2}; table.sort(t); return unpack(t) end)()`, "1 2 3"},
		{`(function() local t = {"b", "a"}; table.sort(t, function(x, y) return x > y end); return unpack(t) end)()`, "b a"},
		{`unpack({1, 2, 3}, 2), unpack({1, 2, 3}, 3, 2)`, "2"},
		// base
		{`type(nil), type(1), type("x"), type({}), type(print), type(true)`, "nil number string table function boolean"},
		{`select("#", 1, nil, 3), select(2, "a", "b", "c")`, "3 b c"},
		{`rawequal("a", "a"), rawget({5}, 1), rawset({}, 1, 2)[1], next({}), next({7})`, "true 5 2 nil 1 7"},
		{`pcall(error, "x", 0)`, "false x"},
		{`pcall(function() error("x") end)`, "false script:1: x"},
		{`pcall(function(...) return select("#", ...), ... end, 1, nil, 3)`, "true 3 1 nil 3"},
		{`xpcall(function() error("x", 0) end, function(e) return e .. "!" end)`, "false x!"},
		{`xpcall(function() return 1, 2 end, print)`, "true 1 2"},
		{`xpcall(function() error("x", 0) end, function(e) error("y") end)`, "false script:1: y"},
		{`(function() local s = 0; for i, v in ipairs({1, 2, nil, 4}) do s = s + i * v end; return s end)()`, "5"},
		{`(function() local s = ""; for k in pairs({1, 2, x = 1, y = 2}) do s = s .. k end; return s end)()`, "12xy"},
		{`getmetatable(setmetatable({}, {__metatable = "locked"})), getmetatable({})`, "locked nil"},
		{`getmetatable("").__index == string, ("x").len == string.len`, "true true"},
		{`_G._G == _G, _VERSION, math.floor(-1.5), math.pi > 3.14`, "true Lua 5.1 -2 true"},
	})
}

func TestFormat(t *testing.T) {
	evaluate(t, "return string.format(", ")", false, [][2]string{ // as printf of glibc has it
		{`"%d|%5d|%-5d|%05d|%+d|% d", 7, 7, 7, 7, 7, 7`, "7|    7|7    |00007|+7| 7"},
		{`"%i %u %c%c", -3, 4, 72, 105`, "-3 4 Hi"},
		{`"%x %X %#x %o", 255, 255, 255, 8`, "ff FF 0xff 10"},
		{`"%x", -1`, "ffffffffffffffff"},
		{`"%.3f %5.1f %-7.2f|", 1/3, 2.25, 3`, "0.333   2.2 3.00   |"},
		{`"%e %E", 12345.678, 0.00012`, "1.234568e+04 1.200000E-04"},
		{`"%g %g %g %g %G", 100000, 1000000, 0.0001, 0.00001, 1e-10`, "100000 1e+06 0.0001 1e-05 1E-10"},
		{`"%g %.3g %g", 1/3, 1234.5, 0.1`, "0.333333 1.23e+03 0.1"},
		{`"%f %f %5.1f %+f", 1/0, -1/0, 0/0, 1/0`, "+Inf -Inf   NaN +Inf"},
		{`"%s|%5s|%-5s|%.2s|%.s", "abc", "abc", "abc", "abc", "abc"`, "abc|  abc|abc  |ab|"},
		{`"%s %s %s %s", nil, true, {}, 1.5`, "nil true table 1.5"},
		{`"%q", 'a "b" \\ \n \r \0'`, `"a \"b\" \\ \` + "\n" + ` \r \000"`},
		{`"100%%"`, "100%"},
		{`"%5.3d|%.0f|%c", 7, 0.5, 0`, "  007|0|\x00"},
		{`"%d %d %d", 1e300, -1e300, 0/0`, "9223372036854775807 -9223372036854775808 0"},
		{`"%d", "10"`, "10"},
	})
}

// TestErrors are the messages that a script's author gets to read.
func TestErrors(t *testing.T) {
	evaluate(t, "", "", true, [][2]string{
		{`return ("x"):rep(2^20 + 1)`, "the result of string.rep would have more than 1048576 bytes"},
		{`return ("xy"):rep(1e300)`, "the result of string.rep would have more than 1048576 bytes"},
		{`return ("%100d"):format(1)`, "invalid format (width or precision too long)"},
		{`return ("%.100f"):format(1)`, "invalid format (width or precision too long)"},
		{`return ("%-----+d"):format(1)`, "invalid format (repeated flags)"},
		{`return ("%y"):format(1)`, "invalid option '%y' to 'format'"},
		{`return ("%"):format(1)`, "invalid option '%' to 'format'"},
		{`return ("%d"):format()`, "bad argument #2 to format (number expected, got nil)"},
		{`return ("%s"):format()`, "bad argument #2 to format (value expected)"},
		{`return nil .. "x"`, "cannot perform concat operation between nil and string"},
		{`local t t.x = 1`, "attempt to index a non-table object(nil) with key 'x'"},
		{`local t = {} t[nil] = 1`, "table index is nil"},
		{`local t = {} t[0/0] = 1`, "table index is NaN"},
		{`table.insert({}, 1, 2, 3)`, "wrong number of arguments to 'insert'"},
		{`table.concat({{}})`, "invalid value (a table) at index 1 in table for 'concat'"},
		{`table.sort({1, "x"})`, "attempt to compare"},
		{`setmetatable(1, {})`, "bad argument #1 to setmetatable (table expected, got number)"},
		{`setmetatable(setmetatable({}, {__metatable = 1}), {})`, "cannot change a protected metatable"},
		{`tostring(setmetatable({}, {__tostring = function() return 1 end}))`, "'__tostring' must return a string"},
		{`("x"):gsub("x", "%1%2")`, "invalid capture index"},
		{`for w in ("x"):gmatch("(") do end`, "unfinished capture"},
		{`math.random(0)`, "bad argument #1 to random (interval is empty)"},
		{`math.random(2, 1)`, "bad argument #2 to random (interval is empty)"},
		{`math.random(-2^53, 2^53)`, "bad argument #2 to random (interval is too large)"},
		{`math.random(1, 2, 3)`, "wrong number of arguments"},
		{`error({})`, "the error value is a table"},
		{`error(nil)`, "the error value is nil"},
		{`error(setmetatable({}, {__tostring = function() error("again") end}))`, "the error value is a table"},
	})
}

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

// TestBudgetIsExact finds the number of units that a chunk needs, and gives it one less.
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

// TestGoPanicsAreErrors uses a function of more upvalues than the interpreter has room to count.
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

// reachable is everything a script can get at from its globals, in the order
// in which pairs shows it. What is added here has to be safe.
const reachable = `_VERSION assert error getmetatable ipairs next pairs pcall print rawequal rawget rawset select
setmetatable tonumber tostring type unpack xpcall _G
table.concat table.insert table.maxn table.remove table.sort table.move table.pack table.unpack
string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match
string.rep string.reverse string.sub string.upper
math.huge math.pi math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp
math.floor math.fmod math.frexp math.ldexp math.log math.log10 math.max math.min math.modf math.pow math.rad
math.random math.sin math.sinh math.sqrt math.tan math.tanh
math.tointeger math.type`

func TestReachable(t *testing.T) {
	for range 3 { // the order must not vary either
		got, err := newBench(t, roomy).run(`
			local names = {}
			for k, v in pairs(_G) do
				if type(v) == "table" and v ~= _G then
					for f, g in pairs(v) do
						assert(type(g) ~= "table" and getmetatable(g) == nil)
						names[#names + 1] = k .. "." .. f
					end
				else
					names[#names + 1] = k
				end
			end
			return table.concat(names, " ")`)
		if want := strings.Join(strings.Fields(reachable), " "); err != nil || got != want {
			t.Fatalf("reachable: %s (%v)\n want %s", got, err, want)
		}
	}
}

// TestEscapes tries ways out of the sandbox. Each attempt returns nil or false,
// or fails, if it is shut.
func TestEscapes(t *testing.T) {
	for _, attempt := range []string{
		`io`, `os`, `debug`, `package`, `channel`, `coroutine`, `require`, `module`, `newproxy`, `_printregs`, `_GOPHER_LUA_VERSION`,
		`load`, `loadstring`, `loadfile`, `dofile`, `collectgarbage`, `getfenv`, `setfenv`, `gcinfo`, `string.dump`, `string.gfind`,
		`math.randomseed`, `table.getn`, `table.foreach`, `...`,
		`require("os")`, `dofile("/etc/passwd")`, `loadstring("return 1")()`, `os.getenv("HOME")`, `io.open("/etc/passwd")`,
		`getmetatable("").__index.dump`, `getmetatable(print)`, `getmetatable(1)`, `getmetatable(nil)`, `getmetatable(_G)`,
		`setmetatable("", {})`, `setmetatable(1, {})`, `setmetatable(print, {})`, `setmetatable(nil, {})`,
		`rawget(_G, "_LOADED")`, `_G._G._G.io`, `_ENV`, `_LOADED`, `_REGISTRY`,
		`pcall(string.rep, "x", 1e12) and true`, `pcall(unpack, {}, 1, 1e9) and true`,
		`tostring(print):find("0x")`, `tostring({}):find("0x")`, `("%s"):format({}):find("0x")`, `pcall(error, {}) and true`,
		`select(2, pcall(error)):find("/")`, `select(2, pcall(function() local x = nil .. 1 end)):find("bench")`,
	} {
		for _, code := range []string{
			"local ok, v = pcall(function(...) return " + attempt + " end) return ok and v or false",
			"return xpcall(function(...) return (" + attempt + ") or error() end, tostring) and true",
		} {
			got, err := newBench(t, roomy).run(code)
			if err != nil || got != "false" {
				t.Errorf("%s gave %q (%v), want false", attempt, got, err)
			}
		}
	}
}

// TestRandom draws from the seat's own stream, by the rules of math.random.
func TestRandom(t *testing.T) {
	b := newBench(t, roomy)
	b.machine.rand.Rekey(7)
	got, err := b.run(`
		local seen, low, high = {}, 1, 0
		for i = 1, 2000 do
			local f = math.random()
			assert(f >= 0 and f < 1)
			low, high = math.min(low, f), math.max(high, f)
			local n, m = math.random(6), math.random(-3, 3)
			assert(n >= 1 and n <= 6 and n % 1 == 0 and m >= -3 and m <= 3)
			seen["n" .. n], seen["m" .. m] = true, true
		end
		local count = 0
		for _ in pairs(seen) do count = count + 1 end
		return count, low < 0.01, high > 0.99, math.random(5, 5), math.random(1), math.random(2^53) >= 1`)
	if want := "13 true true 5 1 true"; err != nil || got != want {
		t.Errorf("math.random gives %q (%v), want %q", got, err, want)
	}
	r := game.NewRand(game.Key{})
	r.Rekey(3)
	want := lua.LNumber(r.Float64()).String()
	b.machine.rand.Rekey(3)
	if got, err := b.run(`return math.random()`); err != nil || got != want {
		t.Errorf("math.random() = %s (%v), want %s, the next number of the stream", got, err, want)
	}
}

// TestSameAsLua54 holds what the interpreter got wrong, and what exists of later versions, to
// what lua 5.4 prints.
func TestSameAsLua54(t *testing.T) {
	evaluate(t, "", "", false, [][2]string{
		// several targets
		{`local a, b = 1, 2 a, b = b, a return a, b`, "2 1"},
		{`local a, b, c = 1, 2, 3 a, b, c = c, a, b return a, b, c`, "3 1 2"},
		{`local function f(a, b) a, b = b, a return a, b end return f(1, 2)`, "2 1"},
		{`local a, b = 12, 18 while b ~= 0 do a, b = b, a % b end return a`, "6"},
		{`local a, b = 1, 1 for i = 1, 10 do a, b = b, a + b end return a, b`, "89 144"},
		{`local a, b = 1, 2 local function f() return a end a, b = b, f() return a, b, f()`, "2 1 2"},
		{`local a, t = 1, {x = 5} a, t.x = t.x, a return a, t.x`, "5 1"},
		{`local i, t = 1, {} i, t[i] = i + 1, 7 return i, t[1], t[2]`, "2 7 nil"},
		{`local i, t = 1, {3, 4} t[i], i = i, t[i] return i, t[1]`, "3 1"},
		{`local a, b = 1, 2 a, b = b return a, b`, "2 nil"},
		{`local a, b, c = 1, 2, 3 local function f() return a, b end a, b, c = b, f() return a, b, c`, "2 1 2"},
		{`local a, b = 1, 2 if a < b then if b > a then a, b = b, a end end return a, b`, "2 1"},
		{`local a, b = 1, 2 local f = function() a, b = b, a end f() return a, b`, "2 1"},
		{`local function f(a, b) for i = 3, 4 do if true then a, b = (function() return 1 end)(), i end end return a, b end return f(0, 0)`, "1 4"},
		// logical operators
		{`local a, b, x = 7, 7 x = not a and b return x`, "false"},
		{`local a, b, c = false, 7, 7 c = (not a or b) and c return c`, "7"},
		{`local a, b, c, d = 7, 7, false, 8 c = (a or b) and c or d return c`, "8"},
		{`local a, b, c, d = false, 7, 7, 8 c = (not a or not b) and c or d return c`, "7"},
		{`local a, x = 7, {} x.y = not a and 1 local n = 0 n = (not a or n > 0) and 1 or 2 return x.y, n`, "false 2"},
		{`local v, w = 1, 2 v, w = (nil and -3 or 1), -(w + (true and -(8) or v)) return v, w`, "1 6"},
		{`local function f() return 1, 2 end return #{true and f()}, #{nil or ...}, #{false or (f())}`, "1 0 1"},
		// conditions that never hold
		{`local n = 0 for _, v in ipairs({1, 2}) do if (nil and v == 1) or (v == 9 and true) then local z = v n = n + z end n = n + 1 end return n`, "2"},
		{`local n = 0 while not false and n < 3 do n = n + 1 end repeat local z = n n = n + 1 until n > 5 or nil return n`, "6"},
		{`local function f() for _, v in ipairs({1, 2}) do if false then local z = v end end return 7 end return f()`, "7"},
		{`local x for _, v in ipairs({1, 2, 3}) do if nil then local y = 1 elseif v == 2 then x = v else local z = 1 end end return x`, "2"},
		// variables after an error that was caught
		{`local a local function use() return a end pcall(function() error("x") end) a = 7 return use()`, "7"},
		{`local n = 0 local function more() n = n + 1 end pcall(function() more() error("x") end) n = n + 1 more() return n`, "3"},
		{`return pcall(function(...) return select("#", ...), ... end, nil, 2)`, "true 2 nil 2"},
		// functions and arguments of later versions
		{`return table.unpack({1, 2, 3}, 2)`, "2 3"},
		{`local t = table.pack(1, nil, 3) return t.n, t[1], t[2], t[3]`, "3 1 nil 3"},
		{`return table.concat(table.move({1, 2, 3}, 2, 3, 1), ","), table.concat(table.move({1, 2, 3}, 1, 3, 2), ","), #table.move({1, 2}, 1, 0, 5)`, "2,3,3 1,1,2,3 2"},
		{`return table.concat(table.move({1, 2}, 1, 2, 2, {9}), ",")`, "9,1,2"},
		{`return ("ab"):rep(3, "-"), ("x"):rep(1, "-"), ("x"):rep(0, "-"), (""):rep(3, "-")`, "ab-ab-ab x  --"},
		{`return math.log(8, 2), math.log(1000, 10), math.log(1), math.atan(0, -1) > 3, math.atan(1) < 1`, "3 3 0 true true"},
		{`return math.tointeger(3), math.tointeger(3.5), math.tointeger("x"), math.type(3), math.type(3.5), math.type("3")`, "3 nil nil integer float nil"},
		{`return xpcall(function(...) return ... end, print, 1, nil, 3)`, "true 1 nil 3"},
		{`return xpcall(function(a, b) error(a .. b, 0) end, function(m) return m .. "!" end, "x", "y")`, "false xy!"},
		// escapes
		{`return "\x41\u{42}\u{e4}\z` + "\n\t" + `C", '\x27', [[\x41]], "\\x41", #"\u{1F600}" -- "\x`, `ABäC ' \x41 \x41 4`},
		{`return 1e400 == math.huge, 0xffffffffffffffff > 1e19`, "true true"},
	})
}

// TestLinesStay looks for the line of an error after texts that were rewritten.
func TestLinesStay(t *testing.T) {
	_, err := newBench(t, roomy).run("local a = \"x\\z\n\n  y\" local b = '\\x41'\nlocal c = [[\n\\z]]\nlocal ok, e = pcall(function()\nerror(a .. b) end)\nerror(e, 0)")
	if err == nil || err.Error() != "xyA" {
		t.Errorf("error %v, want xyA", err)
	}
	_, err = Compile("x", "x.lua", []byte("\ufeff#!/usr/bin/lua\nlocal a = \"x\\z\n\n  y\"\nlocal b = nil + 1"), budget.Limits{})
	var se *strategies.Error
	if !errors.As(err, &se) || se.Line != 5 {
		t.Errorf("error %v, want one of line 5", err)
	}
}

// TestLaterSyntax asks what to write instead of the syntax of later versions.
func TestLaterSyntax(t *testing.T) {
	for code, want := range map[string]string{
		`return 7 // 2`: "write math.floor(a / b)", `return t[1]//2`: "operator of Lua 5.3",
		`return 1 << 2`: "<< is an operator of Lua 5.3", `return 8 >> 2`: ">> is an operator of Lua 5.3",
		`return 3 & 1`: "& is an operator of Lua 5.3", `return 3 | 1`: "| is an operator", `return ~1`: "~ is an operator", `return 1 ~ 2`: "~ is an operator",
		`local x <const> = 1`: "<const> is of Lua 5.4", `local x <close> = nil`: "<close> is of Lua 5.4",
		`return a && b`: "in Lua it is and", `return "//" .. 7 // 2`: "// is an operator",
		`do break; local x end`: "write do break end", `return 0x1p4`: "hexadecimal",
	} {
		_, err := Compile("x", "x.lua", []byte("function choose()\n  "+code+"\nend"), budget.Limits{})
		var se *strategies.Error
		if !errors.As(err, &se) || se.Line != 2 || !strings.Contains(se.Hint, want) {
			t.Errorf("%s: error %v, want line 2 and %q", code, err, want)
		}
	}
}

// TestDifferences plays a match and looks for what is said of each line of choose.
func TestDifferences(t *testing.T) {
	for code, want := range map[string]string{
		`local n = 9007199254740993`:                                                  "the number 9007199254740993 is read as 9007199254740992",
		`local n = 0xffffffffffffffff`:                                                "is read as",
		`local _ENV = {} print(_ENV)`:                                                 "_ENV has no effect",
		`setmetatable({}, {__pairs = next})`:                                          "no metamethod __pairs is ever called",
		`local k = 10 / 2 .. ":"`:                                                     "a float becomes text",
		`local k = tostring(2 ^ 3)`:                                                   "a float becomes text",
		`local k = "v" .. 1.0`:                                                        "a float becomes text",
		`local s = ("x"):rep(2.5)`:                                                    "string.rep cuts off the fraction of argument 2",
		`local s = math.random(7 / 2)`:                                                "math.random cuts off the fraction of argument 1",
		`local s = ("%5d %s"):format(3.5, 1)`:                                         "string.format cuts a number with a fraction off for %d",
		`table.insert({}, 3, 1)`:                                                      "table.insert is called with a position outside of the list",
		`table.remove({1}, 5)`:                                                        "table.remove is called with a position outside of the list",
		`local s = ("a b"):find("%f[%a]%a")`:                                          "string.find knows no %f",
		`local s = ("a b"):gsub("%g", "")`:                                            "string.gsub knows no %g",
		`for w in ("a,b"):gmatch("[^,]*") do end`:                                     "string.gmatch finds an empty text right after another match",
		`local s = math.type(3)`:                                                      `math.type says "integer" of every whole number`,
		`local s = ("a"):match("\d+")`:                                                `"\\d" is no escape`,
		`print(10 / 2 .. "")`:                                                         "",
		`local n = 9007199254740992 + 0xff + 1e3 + 0.1 + 1e300`:                       "",
		`local s = ("a b"):find("%g", 1, true)`:                                       "",
		`local s = ("%d %5.1f %%"):format(3, 3.5)`:                                    "",
		`table.insert({1}, 2, 1) table.remove({}, 0) table.remove({1}, 2)`:            "",
		`for w in ("a,b"):gmatch("[^,]+") do end`:                                     "",
		`local s = (" a "):gsub("^%s*(.-)%s*$", "%1"):gsub("%s*$", ""):gsub("", "-")`: "",
		`local s = "\\d \n\x41" -- "\d"`:                                              "",
		`local s = string.rep("x", 2, "y") .. table.unpack({1})`:                      "",
	} {
		f, err := Compile("x", "x.lua", []byte("function choose()\n  "+code+"\n  return 1\nend"), roomy)
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		var said []string
		s, err := f.(script.Watched).NewWatched(context.Background(), strategies.Setup{Rand: game.NewRand(game.Key{})}, func(slip script.Slip) {
			if slip.Line != 2 || !slip.Doubtful {
				t.Errorf("%s: slip %+v, want a doubtful one of line 2", code, slip)
			}
			said = append(said, slip.What)
		})
		if err == nil {
			_, err = s.Choose(context.Background(), &strategies.Turn{MatchID: "R1M1", Opponent: "P02"})
		}
		if err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if ok := slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }); want != "" && !ok || want == "" && len(said) > 0 {
			t.Errorf("%s: said %q, want %q", code, said, want)
		}
		_ = s.Close()
		_ = f.Close()
	}
}

// TestHintsNameWhatIsMissing looks for hints that say that something is missing which is there.
func TestHintsNameWhatIsMissing(t *testing.T) {
	for name := range elsewhere {
		if got, err := newBench(t, roomy).run("return " + name); err == nil && got != "nil" {
			t.Errorf("%s is %s, and there is a hint for when it is not there", name, got)
		}
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
