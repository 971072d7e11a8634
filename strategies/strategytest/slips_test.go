package strategytest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// load compiles a script by the extension of its path.
func load(path, source string) (strategies.Factory, error) {
	formats := catalog.Formats()
	at := slices.IndexFunc(formats, func(f catalog.Format) bool { return strings.HasSuffix(path, f.Ext) })
	return formats[at].Load(context.Background(), "mine", path, []byte(source), budget.Limits{})
}

// What a script reads although it does not exist is found where it stands, with the
// right name; what may be absent, or is the script's own, is not.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, source, want string }{
		{"field of the turn", "a.lua", "function choose(turn)\n return turn.Round and 1 or 0 end", `error slip: a.lua:2: turn has no field "Round" (did you mean round?`},
		{"field of the turn", "a.js", "function choose(turn) {\n return turn.Round ? 1 : 0 }", `error slip: a.js:2: turn has no field "Round" (did you mean round?`},
		{"field of another", "a.lua", "function choose(turn)\n return turn.opponentChoice and 1 or 0 end", "(an outcome has opponent_choice;"},
		{"field of another", "a.js", "function choose(turn) {\n return turn.opponentChoice ? 1 : 0 }", "(an outcome has opponent_choice;"},
		{"field of an outcome", "a.lua", "function observe(o)\n x = o.drawnNumber end\nfunction choose() return 1 end", `a.lua:2: an outcome has no field "drawnNumber" (did you mean drawn_number?`},
		{"field of an outcome", "a.js", "function observe(o) {\n o.drawnNumber }\nfunction choose() { return 1 }", `a.js:2: an outcome has no field "drawnNumber" (did you mean drawn_number?`},
		{"field of the setup", "a.lua", "function start(s)\n x = s.round end\nfunction choose() return 1 end", `a.lua:2: setup has no field "round" (`},
		{"field of the setup", "a.js", "function start(s) {\n s.round }\nfunction choose() { return 1 }", `a.js:2: setup has no field "round" (`},
		{"lists from 0", "a.lua", "function choose(turn)\n return turn.history[0] and 1 or 0 end", "warning slip: a.lua:2: history is read at 0 (lists begin at 1"},
		{"lists from 1", "a.js", "function choose(turn) {\n return turn.history[turn.history.length] ? 1 : 0 }", "warning slip: a.js:2: history is read after its last entry (lists begin at 0"},
		{"negative", "a.js", "function choose(turn) {\n return turn.history[-1] ? 1 : 0 }", "a.js:2: history is read at -1 ("},
		{"length", "a.lua", "function choose(turn)\n return turn.history.length and 1 or 0 end", `a.lua:2: history is a list and has no field "length" (#list`},
		{"length", "a.js", "function choose(turn) {\n return turn.history.size ? 1 : 0 }", `a.js:2: history is a list and has no field "size" (its length`},
		{"hook in the wrong case", "a.lua", "\nfunction Observe(o) end\nfunction choose() return 1 end", "a.lua:2: function Observe is never called (did you mean observe?)"},
		{"hook in the wrong case", "a.js", "\nconst onObserve = (o) => {};\nfunction choose() { return 1 }", "a.js:2: function onObserve is never called (did you mean observe?)"},
		{"variable", "a.lua", "function choose(turn)\n return None or 1 end", "a.lua:2: the variable None is never set (use nil)"},
		{"library of Lua 5.4", "a.lua", "function choose(turn)\n local f = math.maxinteger return 1 end", "a.lua:2: there is no math.maxinteger (use math.huge)"},
		{"number of Lua 5.4", "a.lua", "function choose(turn)\n local n = 0x7fffffffffffffff return 1 end", "warning slip: a.lua:2: the number 0x7fffffffffffffff is read as "},
		{"argument of Lua 5.4", "a.lua", "function choose(turn)\n local s = ('x'):rep(2.5) return 1 end", "warning slip: a.lua:2: string.rep cuts off the fraction of argument 2: Lua 5.3 refuses it"},
		{"comparisons in a row", "a.js", "function choose(turn) {\n return 0 < turn.round < 5 ? 1 : 0 }", "warning slip: a.js:2: a comparison is compared, here from the right and in node from the left (write a < b && b < c)"},
		{"comparisons", "a.js", "function choose(turn) {\n return 0 < turn.round && turn.round < 5 ? 1 : 0 }", ""},
		{"classes of letters", "a.js", "function choose(turn) {\n return /^\\p{L}/u.test('x') ? 1 : 0 }", "warning slip: a.js:2: \\p in a regular expression never matches here"},
		{"library", "a.lua", "function choose(turn)\n local f = math.flor return 1 end", "a.lua:2: there is no math.flor (did you mean math.floor?)"},

		{"the last of an empty list", "a.lua", "function choose(turn) return turn.history[#turn.history] and 1 or 0 end", ""},
		{"the last of an empty list", "a.js", "function choose(turn) { return turn.history[turn.history.length - 1] ? 1 : 0 }", ""},
		{"absent values", "a.lua", "function observe(o) x = {o.drawn_number, o.opponent_choice, o.choice} end\nfunction choose(turn) return turn.opponent and 1 or 0 end", ""},
		{"its own field", "a.lua", "function observe(o) if not o.seen then o.seen = true end end\nfunction choose() return 1 end", ""},
		{"its own field", "a.js", "function observe(o) { if (!o.seen) o.seen = true }\nfunction choose() { return 1 }", ""},
		{"its own variable", "a.lua", "function choose() n = (n or 0) + 1 return n % 2 end", ""},
		{"methods and copies", "a.js", "function choose(turn) { JSON.stringify(turn); [...turn.history].map(o => ({ ...o })); for (const o of turn.history) Object.keys(o); return turn.hasOwnProperty('round') ? 1 : 0 }", ""},
		{"all of a table", "a.lua", "function choose(turn) for k, v in pairs(turn) do end for i, o in ipairs(turn.history) do end return 1 end", ""},
	} {
		t.Run(tt.path+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := load(tt.path, tt.source)
			must(t, err)
			defer f.Close()
			found := strategytest.Slips(t.Context(), f, strategytest.Config{Seed: 1}, true)
			if tt.want == "" && len(found) > 0 || tt.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), tt.want)) {
				t.Errorf("found %v, want %q", found, tt.want)
			}
		})
	}
}

// A script that reads the history and answers the same all the time is pointed out;
// one that varies, or that reads nothing, is not.
func TestConstantAnswers(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"function choose(turn)\n if #turn.history > 99 then return 0 end return 1 end": "a.lua:2: answers even in all 50 matches",
		"function choose(turn) return #turn.history % 2 end":                           "",
		"-- no history\nfunction choose(turn) return 1 end":                            "",
	} {
		f, err := load("a.lua", source)
		must(t, err)
		defer f.Close()
		got := ""
		for _, finding := range strategytest.Check(t.Context(), f, strategytest.Config{Seed: 1}) {
			if finding.ID == "constant" {
				got = finding.String()
			}
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

// The error of a script that does not load says what its author may have meant.
func TestLoadHints(t *testing.T) {
	t.Parallel()
	const lua, js = "\nfunction choose(turn) return 1 end", "\nfunction choose(turn) { return 1 }"
	for _, tt := range []struct{ path, source, want string }{
		{"a.lua", "x = 1\nx += 1" + lua, "a.lua:2: load: .*write x = x + 1"},
		{"a.lua", "if x != 1 then end" + lua, "a.lua:1: load: .*is ~="},
		{"a.lua", "if x = 1 then end" + lua, "a.lua:1: load: .*compare with =="},
		{"a.lua", "function choose(turn)\nif x then\nelse if y then\nend\nend", "load: .*In line 3, write elseif"},
		{"a.lua", "local json = require('json')" + lua, "a.lua:1: load: .*there are no modules"},
		{"a.lua", "print(utf8.char(1))" + lua, "a.lua:1: load: .*Lua 5.1 has no utf8"},
		{"a.lua", "\nfunction Choose(turn) return 1 end", "a.lua:2: load: .*rename Choose to choose"},
		{"a.lua", "\nlocal function choose(turn) return 1 end", "a.lua:2: load: .*leave out local"},
		{"a.lua", "local M = {}\nfunction M.choose(turn) return 1 end\nreturn M", "a.lua:2: load: .*outside of any table"},
		{"a.lua", "\nreturn { choose = function(turn) return 1 end }", "a.lua:2: load: .*outside of any table"},
		{"a.js", "import x from 'y';" + js, "a.js:1: load: a script cannot import.*esbuild"},
		{"a.js", "if (true and false) {}" + js, "a.js:1: load: .*it is &&"},
		{"a.js", "\nfunction Choose(turn) { return 1 }", "a.js:2: load: .*rename Choose to choose"},
		{"a.js", "class Mine {\n  choose(turn) { return 1 }\n}", "a.js:2: load: .*outside of any class"},
		{"a.js", "const mine = {\n  choose: turn => 1 };", "a.js:2: load: .*outside of any class"},
		{"a.js", "i = 0;" + js, "a.js:1: load: .*declare it: let i"},
		{"a.js", "const counts = [];\ncount.push(1);" + js, "a.js:2: load: .*did you mean counts?"},
	} {
		_, err := load(tt.path, tt.source)
		first, second, _ := strings.Cut(tt.want, ".*")
		if err == nil || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), second) {
			t.Errorf("%q: %v, want %q", tt.source, err, tt.want)
		}
	}
}

// Watching a script takes no longer than a league may, although each of its calls is within its limits.
func TestSlipsAreBounded(t *testing.T) {
	t.Parallel()
	f, err := load("busy.lua", "function choose() for i = 1, 1e6 do end return 1 end")
	must(t, err)
	defer f.Close()
	found := strategytest.Slips(t.Context(), f, strategytest.Config{Seed: 1}, true)
	if len(found) == 0 || !strings.Contains(found[0].String(), "in one league") {
		t.Errorf("found %v", found)
	}
}
