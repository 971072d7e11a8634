package luascript

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// TestSameAsLua54 holds what the interpreter got wrong, and what exists of later versions, to
// what lua 5.4 prints.
func TestSameAsLua54(t *testing.T) {
	for _, c := range []struct{ code, want string }{
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
	} {
		got, err := newBench(t, roomy).run(c.code)
		if err != nil || got != c.want {
			t.Errorf("%s\n gave %s (%v)\n want %s", c.code, got, err, c.want)
		}
	}
}

// TestLinesStay looks for the line of an error after texts that were rewritten.
func TestLinesStay(t *testing.T) {
	_, err := newBench(t, roomy).run("local a = \"x\\z\n\n  y\" local b = '\\x41'\nlocal c = [[\n\\z]]\nlocal ok, e = pcall(function()\nerror(a .. b) end)\nerror(e, 0)")
	if err == nil || err.Error() != "xyA" {
		t.Errorf("error %v, want xyA", err)
	}
	_, err = Compile("x", "x.lua", []byte("#!/usr/bin/lua\nlocal a = \"x\\z\n\n  y\"\nlocal b = nil + 1"), Config{})
	var se *strategies.Error
	if !errors.As(err, &se) || se.Line != 5 {
		t.Errorf("error %v, want one of line 5", err)
	}
}

// TestInterpreterLine reads a script that a shell can start, with a byte order mark.
func TestInterpreterLine(t *testing.T) {
	f, err := Compile("x", "x.lua", []byte("\ufeff#!/usr/bin/env lua\r\n-- Mine: a title\r\nfunction choose() return 1 end\r\n"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := f.Info().Title; got != "Mine: a title" {
		t.Errorf("title %q", got)
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
		_, err := Compile("x", "x.lua", []byte("function choose()\n  "+code+"\nend"), Config{})
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
		f, err := Compile("x", "x.lua", []byte("function choose()\n  "+code+"\n  return 1\nend"), Config{Limits: roomy})
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
