package luascript

import (
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// TestRewritingKeepsMeaning runs what the instrumenter rewrites: joins, stores
// at computed indices, "...", and assignments that hold several of them.
func TestRewritingKeepsMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, want string }{
		{"join chain", `local a, b = "x", 2 return a .. b .. "y" .. 1 + 2 .. -b`, "x2y3-2"},
		{"join groups", `return ("a" .. "b") .. ("c" .. ("d" .. "e")) .. "f"`, "abcdef"},
		{"join is right associative", `local log = ""
			local mt = {} mt.__concat = function(l, r) log = log .. (type(l) == "table" and l.n or l) .. "+" .. (type(r) == "table" and r.n or r) .. " " return setmetatable({n = "r"}, mt) end
			local x = setmetatable({n = "x"}, mt)
			local _ = "a" .. x .. "b" .. "c"
			return log`, "x+bc a+r "},
		{"join takes one value of a call", `local function f() return "a", "b" end return f() .. f()`, "aa"},
		{"join into a parameter", `local function f(s) s = s .. "x" return s end return f("a")`, "ax"},
		{"call into a parameter", `local function g(x) return x, 2 end local function f(a, b) b = (g(b)) return a, b end return f(1, 3)`, "1 3"},
		{"calls into parameters", `local function g(x) return x + 1, 9 end local function f(a, b) b, a = g(b), g(a) return a, b end return f(1, 3)`, "2 4"},
		{"join in a condition", `local s = "ab" if s .. "c" == "abc" and not (s .. "d" == "abc") then return 1 end`, "1"},
		{"join in a loop", `local s = "" for i = 1, 3 do s = s .. i end while #s < 5 do s = s .. "." end repeat s = s .. "!" until #s > 6 return s`, "123..!!"},
		{"join as an upvalue", `local s = "" local function add(x) s = s .. x end add("a") add("b") return s`, "ab"},
		{"join as a global", `s = "a" s = s .. "b" return s`, "ab"},
		{"join as a field", `local t = {s = "a"} t.s = t.s .. "b" t.t = {} t.t.x = "c" .. t.s return t.t.x`, "cab"},
		{"join as a key", `local t = {} t["a" .. 1] = 2 return t.a1`, "2"},
		{"store", `local t, i = {}, 1 t[i] = "a" t[i + 1] = "b" t["x" .. i] = "c" return t[1], t[2], t.x1`, "a b c"},
		{"store takes one value", `local function f() return 1, 2 end local t, k = {}, 1 t[k] = f() return t[1], t[2]`, "1 nil"},
		{"store of no value", `local function f() end local t, k = {1}, 1 t[k] = f() return t[1]`, "nil"},
		{"store of varargs", `local function f(...) local t, k = {}, 1 t[k] = ... return t[1] end return f(7, 8)`, "7"},
		{"store evaluates once", `local n = 0 local t = {} local function at() n = n + 1 return t end at()[n] = n return n, t[1]`, "1 1"},
		{"store calls __newindex", `local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) local k = 3 t[k] = 4 return t[3]`, "8"},
		{"store through a table", `local u = {} local t = setmetatable({}, {__newindex = u}) local k = 3 t[k] = 4 return rawget(t, 3), u[3]`, "nil 4"},
		{"store in nested tables", `local g = {} for i = 1, 2 do g[i] = {} for j = 1, 2 do g[i][j] = i * j end end return g[2][1], g[2][2]`, "2 4"},
		{"store in a loop", `local t = {} for i = 1, 200 do t[i] = i * 2 end return #t, t[1], t[64], t[65], t[200]`, "200 2 128 130 400"},
		{"store in a loop by a fraction", `local t = {} for i = 0.5, 1.5, 0.5 do t[i] = i end return t[0.5], t[1], t[1.5], #t`, "0.5 1 1.5 1"},
		{"store in a loop over texts", `local t = {} for i = 1, 2 do for _, i in ipairs({"a", "b"}) do t[i] = i .. 1 end end return t.a, t.b, #t`, "a1 b1 0"},
		{"store in a loop whose variable changes", `local t = {} for i = 1, 2 do i = "k" .. i t[i] = i end return t.k1, t.k2, #t`, "k1 k2 0"},
		{"store after a loop", `i = "k" local t = {} for i = 1, 2 do t[i] = i end t[i] = 3 return t[1], t[2], t.k`, "1 2 3"},
		{"store in a function made in a loop", `local t, fs = {}, {} for i = 1, 2 do fs[i] = function(v) t[i] = v end end fs[2](7) fs[1](8) return t[1], t[2]`, "8 7"},
		{"store under a parameter's name", `local t = {} local function put(i) t[i] = 1 end for i = 1, 1 do put("x") t[i] = 2 end return t.x, t[1]`, "1 2"},
		{"store of a comparison in a loop", `local t, u = {}, {3, 4} for i = 1, 2 do t[i] = u[i] == 4 and -u[i] or not t[i] end return t[1], t[2]`, "true -4"},
		{"store in a short loop", `local u, t = {5, 6, 7}, {} for i = 1, #u do t[i] = u[i] end return #t, t[1], t[3]`, "3 5 7"},
		{"store in a loop as long as a text", `local s, t = string.rep("x", 100), {} for i = 1, #s do t[i] = i * 2 end return #t, t[64], t[65], t[100]`, "100 128 130 200"},
		{"store in a loop to a number", `local t, u = {}, {} for i = -1, 3 do t[i] = i end for i = 60, 70 do u[i] = i end return t[-1], t[0], t[3], u[60], u[70]`, "-1 0 3 60 70"},
		{"store on some ways through a short loop", `local u, t = {1, 2, 3, 4}, {} for i = 1, #u do if i == 1 then t[i] = "a" elseif i == 2 then do t[i] = "b" end elseif i == 4 then break else local x = "c" t[i] = x end end return t[1], t[2], t[3], t[4]`, "a b c nil"},
		{"store on some ways through a long loop", `local u, t = string.rep("x", 70), {} for i = 1, #u do if i == 1 then t[i] = "a" elseif i == 66 then do t[i] = "b" end elseif i == 68 then break end end return t[1], t[66], t[68]`, "a b nil"},
		{"store in nested short loops", `local u, g = {1, 2}, {} for i = 1, #u do g[i] = {} for j = 1, #u do g[i][j] = i * j u[j] = g[i] end end return g[2][1], g[2][2], u[1] == g[2]`, "2 4 true"},
		{"store at an outer index in a short loop", `local u, t = {1, 2, 3}, {} for i = 1, 70 do for j = 1, #u do t[i] = j u[j] = i end end return #t, t[70], u[3]`, "70 3 70"},
		{"the length of a short loop is taken once", `local u, t = {1, 2}, {} for i = 1, #u do u[#u + 1] = 9 t[i] = #u end return #u, #t`, "4 2"},
		{"return from a short loop", `local function f(u) local t = {} for i = 1, #u do t[i] = i if u[i] == 2 then return t end end end return #f({1, 2, 3})`, "2"},
		{"short loop by a metamethod", `local u, t = setmetatable({}, {__len = function() return 3 end}), {} for i = 1, #u do t[i] = i end return #t`, "3"},
		{"short loop of nothing", `local u, t = {}, {} for i = 1, #u do t[i] = i end return #t`, "0"},
		{"short loop whose name means more", `local u, t = {1, 2}, {} local function i() end for i = 1, #u do t[i] = i end return #t`, "2"},
		{"goto in a short loop", `local u, t = {1, 2, 3}, {} for i = 1, #u do if i == 2 then goto next end t[i] = i ::next:: end return t[1], t[2], t[3]`, "1 nil 3"},
		{"comparison with nil", `local function f(x) if x == nil then return "none" elseif nil ~= x and x ~= nil then return x end end return f(), f(false), f(1), nil == nil, nil ~= nil, (nil) == false`, "none false 1 true false false"},
		{"a value of a comparison with nil", `local t = {} local a, b = t.x == nil, t.x ~= nil t.x = 1 local c = t.x ~= nil and t.x or 2 return a, b, c`, "true false 1"},
		{"comparison with nil by a metamethod", `local m = setmetatable({}, {__eq = function() return true end}) return m == nil, nil == m`, "false false"},
		{"swap", `local t, i, j = {1, 2}, 1, 2 t[i], t[j] = t[j], t[i] return t[1], t[2]`, "2 1"},
		{"index taken before it changes", `local t, i = {}, 1 i, t[i] = i + 1, 20 return i, t[1], t[2]`, "2 20 nil"},
		{"table taken before it changes", `local a, b = {}, {} local was = a a, a.next, a[1 + 1] = b, b, 5 return a == b, was.next == b, was[2]`, "true true 5"},
		{"several values of a call", `local function f() return 1, 2, 3 end local t, k = {}, 1 t[k], t[k + 1], t[k + 2] = 0, f() return t[1], t[2], t[3]`, "0 1 2"},
		{"too few values", `local t, k = {9, 9}, 1 t[k], t[k + 1] = 5 return t[1], t[2]`, "5 nil"},
		{"too many values", `local n = 0 local function f() n = n + 1 return 4 end local t, k = {}, 1 t[k], t[k + 1] = 5, 6, f(), f() return t[1], t[2], n`, "5 6 2"},
		{"constructor", `local k = "b" return (function(t) return t.a, t.b, t[1], t[2], t[300], t[true] end)({1, 2, a = 3, [k] = 4, [100 * 3] = 5, [true] = 6})`, "3 4 1 2 5 6"},
		{"constructor from varargs", `local function f(...) return {...}, {n = select("#", ...), ...} end local a, b = f(1, nil, 3) return #a, b.n, b[3]`, "3 3 3"},
		{"varargs pass through", `local function f(...) return ... end local function g(...) return f(...), (...) end return g(1, 2)`, "1 1"},
		{"varargs into arg", `local function f(...) return arg.n, arg[2] end return f(1, 2, 3)`, "3 2"},
		{"varargs into locals", `local function f(...) local a, b, c = ... return c, b, a end return f(1, 2)`, "nil 2 1"},
		{"tail calls", `local function f(n) if n == 0 then return "end", "x" end return f(n - 1) end return f(100)`, "end x"},
		{"tail call of a built-in", `local function f(...) return select(2, ...) end return f(1, 2, 3)`, "2 3"},
		{"tail call of a method", `local o = {v = 4} function o:get(x) return self.v, x end local function f() return o:get(5) end return f()`, "4 5"},
		{"goto", `local i = 1 ::again:: i = i + 1 if i < 5 then goto again end return i .. ""`, "5"},
		{"closures in loops", `local fs = {} for i = 1, 3 do fs[i] = function() return i .. "" end end return fs[1]() .. fs[3]()`, "13"},
		{"functions as fields", `local m = {} function m.f(x) return x .. "f" end m.n = {} function m.n.g(x) return x .. "g" end return m.f(1) .. m.n.g(2)`, "1f2g"},
	} {
		got, err := newBench(t, roomy).run(c.code)
		if err != nil || got != c.want {
			t.Errorf("%s: %s\n gave %q (%v)\n want %q", c.name, c.code, got, err, c.want)
		}
	}
}

// TestNothingUnmeteredIsLeft looks at the code itself: no join, no tail call.
// (That stores go through their hook shows in what they cost: see
// TestUnitsBoundMemory.)
func TestNothingUnmeteredIsLeft(t *testing.T) {
	t.Parallel()
	source := `
		local t, k = {}, 5
		t[k] = "a" .. k .. "b"
		t[k], t[k + 1], t.x, t[3] = "x" .. k, 2, 3, 4
		function f(...) local s = ... return f(s .. s, ...) end
		return function() return t[k](t .. "x") end`
	count := func(p *lua.FunctionProto) map[int]int {
		seen := map[int]int{}
		var walk func(*lua.FunctionProto)
		walk = func(p *lua.FunctionProto) {
			for _, inst := range p.Code {
				seen[int(inst>>26)]++
			}
			for _, child := range p.FunctionPrototypes {
				walk(child)
			}
		}
		walk(p)
		return seen
	}
	stock := lua.NewState()
	defer stock.Close()
	plain, err := stock.LoadString(source)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := newBench(t, roomy).factory.compile([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	before, after := count(plain.Proto), count(ours)
	for _, op := range []int{lua.OP_CONCAT, lua.OP_TAILCALL} {
		if before[op] == 0 || after[op] != 0 {
			t.Errorf("operation %d: %d times before, %d times after, want some and none", op, before[op], after[op])
		}
	}
}

func TestHooksCannotBeReached(t *testing.T) {
	t.Parallel()
	b := newBench(t, roomy)
	for _, code := range []string{
		`return ("\0luascript hook: concat")(1, 2)`,
		`_G["\0luascript hook: concat"] = nil`,
		`local t = { ["\0luascript hook: store"] = 1 }`,
		`local t = { "\0luascript hook: store" }`,
	} {
		if _, err := b.factory.compile([]byte(code)); err == nil || !strings.Contains(err.Error(), "is reserved") {
			t.Errorf("%s: error %v, want a refusal", code, err)
		}
	}
	got, err := b.run(`
		local n = 0
		for k, v in pairs(_G) do if k:find("hook") then n = n + 1 end end
		return n, _G["\0luascript " .. "hook: concat"]`)
	if err != nil || got != "0 nil" {
		t.Errorf("looking for hooks gave %q (%v), want none", got, err)
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	deep := func(n int) map[string]string {
		return map[string]string{
			"parentheses": "return " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
			"not":         "return " + strings.Repeat("not ", n) + "1",
			"minus":       "return " + strings.Repeat("- ", n) + "1",
			"sums":        "return 1" + strings.Repeat(" + 1", n),
			"joins":       "return 1" + strings.Repeat(" .. ''", n/2),
			"tables":      "return " + strings.Repeat("{", n) + strings.Repeat("}", n),
			"fields":      "local t return t" + strings.Repeat(".t", n),
			"calls":       "local f return f" + strings.Repeat("()", n),
			"blocks":      strings.Repeat("do ", n) + strings.Repeat("end ", n),
			"functions":   strings.Repeat("return function() ", n) + strings.Repeat("end ", n),
			"branches":    "if a then" + strings.Repeat(" elseif b then", n) + " end",
			"loops":       strings.Repeat("while x do ", n) + strings.Repeat("end ", n),
		}
	}
	b := newBench(t, roomy)
	for name, source := range deep(60) {
		if _, err := b.factory.compile([]byte(source)); err != nil {
			t.Errorf("%s, 60 deep: %v, want no error", name, err)
		}
	}
	for name, source := range deep(20_000) {
		if _, err := b.factory.compile([]byte(source)); err == nil && name != "parentheses" {
			t.Errorf("%s, 20000 deep: no error", name)
		}
	}
}

func TestConstructorLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, roomy)
	items := func(n int) string { return "local t = {" + strings.Repeat("1,", n) + "} return #t, t[1], t[#t]" }
	if got, err := b.run(items(maxConstructor)); err != nil || got != fmt.Sprintf("%d 1 1", maxConstructor) {
		t.Errorf("%d items: %s (%v)", maxConstructor, got, err)
	}
	if _, err := b.run(items(maxConstructor + 1)); err == nil || !strings.Contains(err.Error(), "items in one table constructor") {
		t.Errorf("one more: error %v, want one that says so", err)
	}
}
