package strategytest_test

import (
	"fmt"
	"slices"
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

// named makes a behaviour of each text, named after it.
func named(what string, write func(string) strategytest.Maker, texts ...string) (list []strategytest.Named) {
	for _, text := range texts {
		list = append(list, strategytest.Named{Name: what + text, Make: write(text)})
	}
	return list
}

// answering makes of each source a behaviour with an answer.
func answering(write func(string) strategytest.Maker, want strategies.Choice, sources ...string) (list []strategytest.Answer) {
	for _, n := range named("", write, sources...) {
		list = append(list, strategytest.Answer{Name: n.Name, Make: n.Make, Want: want})
	}
	return list
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
  local trap = function() error("trap") end
  setmetatable(t, {__index = trap, __newindex = trap, __len = function() return 1e9 end})
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
		Print: luaEven(fmt.Sprintf("print(%q)", strategytest.Printed)),
		Valid: slices.Concat(
			answering(lua, 0.25, "function choose(turn) return 0.25 end"), answering(lua, 0.75, "function choose(turn) return 1/4 + 1/2 end"),
			answering(lua, strategies.Even,
				`function choose(turn) return "even" end`, `function choose(turn) return "ev" .. "en" end`, "function choose(turn) return 1 end",
				"function choose(turn) return #turn.history == math.floor(turn.played / 2) and 'even' or 'odd' end", // without observe
				`
local kept = {}
function choose(turn)
  local mine = kept[turn.opponent] or {}
  for i, o in ipairs(mine) do assert(rawequal(turn.history[i], o) and o.note == "mine", "not the same table") end
  return #turn.history == #mine and "even" or "odd"
end
function observe(outcome)
  kept[outcome.opponent] = kept[outcome.opponent] or {}
  table.insert(kept[outcome.opponent], outcome)
  outcome.note = "mine"
end`),
			answering(lua, strategies.Odd,
				`function choose(turn) return "odd" end`, "function choose(turn) return 0 end", "function choose(turn) return -0 end",
				`function choose(turn) return "odd", "even" end`, "local function mine(turn) return 'odd' end\nchoose = mine")),
		Invalid: named("return ", luaFirst,
			`"Even"`, `"EVEN"`, `" even"`, `""`, `"0.5"`, `"1"`, "nil", "2", "-0.5", "0/0", "1/0", "-1/0", "true", "false", "",
			"{}", `{"even"}`, "function() return 'even' end", "setmetatable({}, {__tostring = function() return 'even' end})", `("x"):rep(100000)`),
		Unseeded: slices.Concat(
			named("the text of ", luaBytes,
				"{}", "print", "function() end", "setmetatable({}, {})", "tostring", "turn", "turn.history",
				`string.format("%s", {})`, `string.format("%p", {})`, "os.time()", "os.clock()", "os.date()",
				`collectgarbage("count")`, "select(2, pcall(error, {}))", "next(_G)", "{} .. {}", "newproxy()", "{} < {}",
				"coroutine.create(print)", "select(2, pcall(string.rep))",
				"(function(s) for _, t in ipairs({_G, string, math, turn}) do for k in pairs(t) do s = s .. k end end return s end)('')"),
			named("", lua, "local first = math.random()\nfunction choose(turn) return first < 0.5 and 'even' or 'odd' end", `
function choose(turn)
  local t, sum = {}, 0
  for i = 1, 40 do t["k" .. i * 7 % 41] = i end
  for k, v in pairs(t) do sum = (sum * 31 + v) % 65521 end
  return sum % 2 == 0 and "even" or "odd"
end`, `
function choose(turn)
  local t, sum = {}, 0
  for i = 1, 40 do t[{}] = i; t[function() end] = -i end -- by their addresses?
  for k, v in pairs(t) do sum = (sum * 31 + v) % 65521 end
  return sum % 2 == 0 and "even" or "odd"
end`)),
		Unloadable: named("", lua,
			"", "function choose(turn)\n  return 'even\nend", "\x00\x01\x02\xff\xfe", "\x1bLua", "function choose(turn)\n  return 'even'\n",
			"function chose(turn) return 'even' end", "local function choose(turn) return 'even' end", "choose = 'even'",
			"function choose(turn) return 'even' end\nerror('top level')", "function choose(turn) return 'even' end\nwhile true do end",
			"function choose(turn) return 'even' end\nlocal function f() return 1 + f() end\nf()"),
		ThrowStart: lua("function start(setup)\n  error('no start')\nend\nfunction choose(turn) return 'even' end"),
		ThrowObserve: lua("function choose(turn) return 'even' end\n" +
			"function observe(outcome)\n  local nothing = nil\n  return nothing.field\nend"),
		ThrowChoose: lua("function choose(turn)\n  if turn.round == 1 then error({code = 7}) end\n  return 'even'\nend"),
		SpinStart:   lua("function start(setup) while true do end end\nfunction choose(turn) return 'even' end"),
		SpinObserve: lua("function choose(turn) return 'even' end\nfunction observe(outcome) while true do end end"),
		SpinChoose:  luaEven("while turn.round == 1 do pcall(function() while true do end end) end"),
		Echo: lua(`
local setup, outcome
function start(s) setup = s end
function observe(o) outcome = o end
local function show(line, object, fields)
  for field in fields:gmatch("%S+") do
    local v = object and object[field]
    if type(v) == "table" then v = table.concat(v, ",") end
    line = line .. " " .. field .. "=" .. (v == nil and "none" or type(v) .. " " .. tostring(v))
  end
  print(line)
end
function choose(turn)
  local fields = "match_id round opponent role choice opponent_choice drawn_number result points"
  show("setup", setup, "id name players rounds legs")
  show("turn", turn, "match_id round opponent role played wins draws losses points")
  show("outcome", outcome, fields)
  show("first of " .. #turn.history, turn.history[1], fields)
  show("last", turn.history[#turn.history], fields)
  return "even"
end`),
	}
}

func TestLuaRuntime(t *testing.T) {
	t.Parallel()
	strategytest.RunRuntime(t, sampled(luaSubject()))
}
