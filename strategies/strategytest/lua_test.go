package strategytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func lua(source string) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		return compile("scripts/subject.lua", source, l)
	}
}

// luaFirst answers with an expression in round 1, and even afterwards.
func luaFirst(expression string) strategytest.Maker {
	return lua("function choose(turn)\n  if turn.round == 1 then\n    return " + expression + "\n  end\n  return 'even'\nend")
}

// luaEven runs a body in choose and then answers even.
func luaEven(body string) strategytest.Maker {
	return lua("function choose(turn)\ndo " + body + " end\nreturn 'even'\nend")
}

// luaBytes answers by the bytes of a text that an expression yields.
func luaBytes(expression string) strategytest.Maker {
	return lua(`
function choose(turn)
  local ok, text = pcall(function() return tostring(` + expression + `) end)
  local sum = turn.round
  for i = 1, #tostring(text) do sum = sum * 31 % 65521 + string.byte(tostring(text), i) end
  return sum % 2 == 0 and "even" or "odd"
end`)
}

func luaSubject() strategytest.Subject {
	return strategytest.Subject{
		Kind: strategies.Lua, Lines: true, Instructions: true,
		Random: lua(`function choose(turn) return math.random() < 0.5 and "even" or "odd" end`),
		Memory: lua(`
local mine = false
asked = asked or false
function choose(turn)
  local before = mine or asked or string.asked or math.asked or table.asked or ("").asked
  mine, asked = true, true
  pcall(function() string.asked = true end)
  pcall(function() math.asked = true end)
  pcall(function() table.asked = true end)
  pcall(function() getmetatable("").__index.asked = true end)
  return before and "odd" or "even"
end`),
		Vandal: lua(`
local function wreck(t)
  for k, v in pairs(t) do
    if type(v) == "table" then wreck(v) end
    pcall(function() t[k] = "hacked" end)
  end
  pcall(function() t[1] = "hacked" end)
end
local kept
function start(setup) kept = setup; wreck(setup) end
function choose(turn) wreck(kept); wreck(turn); return "even" end
function observe(outcome) wreck(outcome) end`),
		Escape: lua(`
local ways = {
  "io", "os", "package", "debug", "require", "module", "dofile", "loadfile", "load", "loadstring", "channel",
}
function choose(turn)
  for _, name in ipairs(ways) do
    if _G[name] ~= nil then error(name .. " can be reached") end
  end
  for _, lib in ipairs({"string", "table", "math"}) do
    if type(_G[lib]) ~= "table" then error(lib .. " is missing") end
  end
  if math.randomseed ~= nil and pcall(math.randomseed, 1) then
    local a = math.random()
    math.randomseed(1)
    if a == math.random() then error("math.randomseed can be reached") end
  end
  return "even"
end`),
		Print:      luaEven(fmt.Sprintf("print(%q)", strategytest.Printed)),
		Valid:      luaValid(),
		Invalid:    luaInvalid(),
		Unseeded:   seldom(luaUnseeded()),
		Unloadable: luaUnloadable(),
		Hostile:    unleashed(luaHostile()),
		Hungry:     unleashed(luaHungry()),
		ThrowStart: lua("function start(setup)\n  error('no start')\nend\nfunction choose(turn) return 'even' end"),
		ThrowObserve: lua("function choose(turn) return 'even' end\n" +
			"function observe(outcome)\n  local nothing = nil\n  return nothing.field\nend"),
		ThrowChoose: lua("function choose(turn)\n  if turn.round == 1 then error({code = 7}) end\n  return 'even'\nend"),
		SpinStart:   lua("function start(setup) while true do end end\nfunction choose(turn) return 'even' end"),
		SpinObserve: lua("function choose(turn) return 'even' end\nfunction observe(outcome) while true do end end"),
		SpinChoose:  luaEven("while turn.round == 1 do pcall(function() while true do end end) end"),
		Echo:        luaEcho,
	}
}

func luaEcho(path string) strategytest.Maker {
	path = strings.NewReplacer("history.length", "#turn.history", "history.first", "turn.history[1]",
		"history.last", "turn.history[#turn.history]").Replace(path)
	return lua(`
local setup, outcome
function start(s) setup = s end
function observe(o) outcome = o end
function choose(turn)
  local v = ` + path + `
  if v == nil then error("saw <none>") end
  if type(v) == "table" then v = table.concat(v, ",") end
  error("saw <" .. type(v) .. " " .. tostring(v) .. ">")
end`)
}

func luaValid() (answers []strategytest.Answer) {
	for expression, want := range map[string]strategies.Choice{
		`"even"`: strategies.Even, `"odd"`: strategies.Odd, `"ev" .. "en"`: strategies.Even,
		"1": strategies.Even, "0": strategies.Odd, "0.25": 0.25, "1/4 + 1/2": 0.75, `"odd", "even"`: strategies.Odd,
	} {
		answers = append(answers, strategytest.Answer{
			Name: "return " + expression, Make: lua("function choose(turn) return " + expression + " end"), Want: want,
		})
	}
	return append(answers, strategytest.Answer{
		Name: "a local choose made global later", Want: strategies.Odd,
		Make: lua("local function mine(turn) return 'odd' end\nchoose = mine"),
	})
}

func luaInvalid() (invalid []strategytest.Named) {
	for _, expression := range []string{
		`"Even"`, `"EVEN"`, `" even"`, `""`, `"0.5"`, `"1"`, "nil", "2", "-0.5", "0/0", "1/0", "-1/0", "true", "false",
		"{}", `{"even"}`, "function() return 'even' end", "setmetatable({}, {__tostring = function() return 'even' end})",
		`("x"):rep(100000)`,
	} {
		invalid = append(invalid, strategytest.Named{Name: "return " + expression, Make: luaFirst(expression)})
	}
	return append(invalid, strategytest.Named{
		Name: "return nothing", Make: lua("function choose(turn)\n  if turn.round > 1 then return 'even' end\nend"),
	})
}

func luaUnseeded() (unseeded []strategytest.Named) {
	for _, expression := range []string{
		"{}", "print", "function() end", "setmetatable({}, {})", "tostring", "turn", "turn.history",
		`string.format("%s", {})`, `string.format("%p", {})`, "os.time()", "os.clock()", "os.date()",
		`collectgarbage("count")`, "select(2, pcall(error, {}))", "next(_G)", "{} .. {}", "newproxy()", "{} < {}",
		"coroutine.create(print)", "select(2, pcall(string.rep))",
	} {
		unseeded = append(unseeded, strategytest.Named{Name: "the text of " + expression, Make: luaBytes(expression)})
	}
	return append(unseeded,
		strategytest.Named{Name: "randomness of the top level", Make: lua(
			"local first = math.random()\nfunction choose(turn) return first < 0.5 and 'even' or 'odd' end")},
		strategytest.Named{Name: "order of pairs", Make: lua(`
function choose(turn)
  local t, sum = {}, 0
  for i = 1, 40 do t["k" .. i * 7 % 41] = i end
  for k, v in pairs(t) do sum = (sum * 31 + v) % 65521 end
  return sum % 2 == 0 and "even" or "odd"
end`)},
		strategytest.Named{Name: "order of pairs by address", Make: lua(`
function choose(turn)
  local t, sum = {}, 0
  for i = 1, 40 do t[{}] = i; t[function() end] = -i end
  for k, v in pairs(t) do sum = (sum * 31 + v) % 65521 end
  return sum % 2 == 0 and "even" or "odd"
end`)})
}

func luaUnloadable() []strategytest.Named {
	return []strategytest.Named{
		{Name: "empty", Make: lua("")},
		{Name: "syntax", Make: lua("function choose(turn)\n  return 'even\nend")},
		{Name: "not text", Make: lua("\x00\x01\x02\xff\xfe")},
		{Name: "bytecode", Make: lua("\x1bLua")},
		{Name: "no end", Make: lua("function choose(turn)\n  return 'even'\n")},
		{Name: "no choose", Make: lua("function chose(turn) return 'even' end")},
		{Name: "local choose", Make: lua("local function choose(turn) return 'even' end")},
		{Name: "choose is no function", Make: lua("choose = 'even'")},
		{Name: "throws", Make: lua("function choose(turn) return 'even' end\nerror('top level')")},
		{Name: "loops", Make: lua("function choose(turn) return 'even' end\nwhile true do end")},
		{Name: "recurses", Make: lua("function choose(turn) return 'even' end\nlocal function f() return 1 + f() end\nf()")},
	}
}

func luaHostile() (hostile []strategytest.Named) {
	for name, body := range map[string]string{
		"recursion":            "local function f() return 1 + f() end f()",
		"recursion caught":     "local function f() pcall(f) f() end f()",
		"tail calls":           "local function f() return f() end f()",
		"metatable recursion":  "local t = {} setmetatable(t, {__index = function(t, k) return t[k .. 'x'] end}) return t.x",
		"catches everything":   "while true do pcall(function() while true do end end) end",
		"catches by xpcall":    "xpcall(function() error('x') end, function() while true do end end)",
		"table.insert":         "local t = {} for i = 1, 1e12 do table.insert(t, 1, i) end",
		"pattern":              "local s = ('a'):rep(30000) .. 'b' string.find(s, '.-.-.-.-.-.-c')",
		"gmatch":               "for i = 1, 1e9 do for w in (('a '):rep(1e5)):gmatch('%a+') do end end",
		"sort":                 "local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return true end)",
		"tostring metamethod":  "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
		"goto":                 "::again:: goto again",
		"coroutine":            "local c = coroutine.wrap(function() while true do end end) c()",
		"error of a long text": "error(('x'):rep(1e6))",
		"error of a table":     "error(setmetatable({}, {__tostring = function() while true do end end}))",
	} {
		hostile = append(hostile, strategytest.Named{Name: name, Make: luaEven(body)})
	}
	return append(hostile,
		strategytest.Named{Name: "nested deep", Make: luaFirst(strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000))},
		strategytest.Named{Name: "answer whose text loops", Make: luaFirst(
			"setmetatable({}, {__tostring = function() while true do end end})")},
		strategytest.Named{Name: "goes on after its end", Make: lua(`
function choose(turn)
  local ok = pcall(function() while true do end end)
  while true do ok = pcall(function() error("again") end) end
end`)})
}

func luaHungry() (hungry []strategytest.Named) {
	for name, body := range map[string]string{
		"string.rep":           "local s = ('x'):rep(1e12)",
		"string.rep with more": "local s = ('x'):rep(1e9, ('y'):rep(1e6))",
		"string doubling":      "local s = 'x' while true do s = s .. s end",
		"string doubling kept": "local t, s = {}, 'x' while true do s = s .. s t[#t + 1] = s end",
		"many strings":         "local t = {} for i = 1, 1e12 do t[i] = ('x'):rep(1000) .. i end",
		"table filling":        "local t = {} for i = 1, 1e12 do t[i] = {} end",
		"hash filling":         "local t = {} for i = 1, 1e12 do t['k' .. i] = {} end",
		"table with a gap":     "local t = {} t[2^26] = 1 for i = 2^26, 1, -1 do t[i] = i end",
		"table.concat":         "local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1e5) end local s = table.concat(t)",
		"unpack":               "local u = unpack or table.unpack local n = select('#', u({}, 1, 1e8))",
		"string.format":        "local s = string.format('%99999999d', 1) local t = string.format('%.99999999f', 1)",
		"pattern of captures":  "string.find(('a'):rep(5000), ('(a*)'):rep(30) .. 'b')",
		"gsub":                 "local s = ('a'):rep(1e5) for i = 1, 1e9 do s = s:gsub('a', 'aa') end",
		"concat metamethod":    "local t = setmetatable({}, {}) getmetatable(t).__concat = function(a, b) return t .. t end return t .. t",
		"coroutines":           "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() coroutine.yield() end) coroutine.resume(t[i]) end",
		"print":                "while true do print(('x'):rep(1e6)) end",
		"long history":         "for i = 1, 1e12 do turn.history[#turn.history + 1] = {} end",
	} {
		hungry = append(hungry, strategytest.Named{Name: name, Make: luaEven(body)})
	}
	return hungry
}

// Not parallel: it looks at the heap of the process.
func TestLuaRuntime(t *testing.T) {
	strategytest.RunRuntime(t, luaSubject())
}
