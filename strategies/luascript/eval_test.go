package luascript

import (
	"errors"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
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
	f, err := Compile("bench", "bench.lua", []byte("function choose() return 1 end"), Config{Limits: limits})
	if err != nil {
		tb.Fatal(err)
	}
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

// TestValues holds what built-ins return to the manual of Lua 5.1 and to what
// lua 5.1.5 prints.
func TestValues(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
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
	} {
		got, err := newBench(t, roomy).run("return " + c.expr)
		if err != nil || got != c.want {
			t.Errorf("%s\n gave %s (%v)\n want %s", c.expr, got, err, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ expr, want string }{ // as printf of glibc has it
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
	} {
		got, err := newBench(t, roomy).run("return string.format(" + c.expr + ")")
		if err != nil || got != c.want {
			t.Errorf("format(%s)\n gave %q (%v)\n want %q", c.expr, got, err, c.want)
		}
	}
}

// TestErrors are the messages that a script's author gets to read.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ code, want string }{
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
	} {
		got, err := newBench(t, roomy).run(c.code)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n gave %q, error %v\n want error with %q", c.code, got, err, c.want)
		}
	}
}
