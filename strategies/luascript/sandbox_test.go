package luascript

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
)

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
