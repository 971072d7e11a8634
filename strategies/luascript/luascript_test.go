package luascript_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func TestInfo(t *testing.T) {
	source := "\n-- Mine: a title\n-- One line.\n--\n---- And another. \n\n-- not this\nfunction choose() return 0.5 end"
	digest := sha256.Sum256([]byte(source))
	want := strategies.Info{
		Name: "mine", Kind: strategies.Lua, Title: "Mine: a title", Description: "One line. And another.",
		Source: "scripts/mine.lua", Fingerprint: hex.EncodeToString(digest[:]),
	}
	if diff := cmp.Diff(want, mustCompile(t, source).Info()); diff != "" {
		t.Errorf("Info (-want +got):\n%s", diff)
	}
	for source, want := range map[string][2]string{
		"function choose() return 1 end\n-- late":                     {"", ""},
		"-- Title only\nfunction choose() return 1 end":               {"Title only", ""},
		"\ufeff-- Saved by Notepad\r\nfunction choose() return 1 end": {"Saved by Notepad", ""},
		"--\x1b[31mred\nfunction choose() return 1 end":               {"\ufffd[31mred", ""},
		"--" + strings.Repeat("x", 500) + "\nfunction choose() return 1 end": {
			strings.Repeat("x", 120) + "...", ""},
	} {
		info := mustCompile(t, source).Info()
		if got := [2]string{info.Title, info.Description}; got != want {
			t.Errorf("header of %.40q: %q, want %q", source, got, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	const ok = "\nfunction choose() return 1 end"
	for _, c := range []struct {
		name, source, want string
		fault              game.Fault
	}{
		{"empty", "", "scripts/mine.lua: load: there is no function choose (every strategy has function choose(turn) ... end)", game.FaultError},
		{"other name", "function chose() end", "there is no function choose", game.FaultError},
		{"no function", "choose = 1", "there is no function choose", game.FaultError},
		{"local", "local function choose() end", "there is no function choose", game.FaultError},
		{"syntax", "x = 1\nfunction choose( return 1 end", `scripts/mine.lua:2: load: syntax error near "return"`, game.FaultError},
		{"end of file", "function choose()\n  return 1\n", `scripts/mine.lua:2: load: syntax error at the end of the file (is an "end" missing?)`, game.FaultError},
		{"unfinished string", "x = 'abc\n", `scripts/mine.lua:2: load: unterminated string near "abc"`, game.FaultError},
		{"bad goto", "goto nowhere" + ok, `no visible label 'nowhere'`, game.FaultError},
		{"break outside", "x = 1\ndo break end" + ok, `scripts/mine.lua:2: load: no loop to break`, game.FaultError},
		{"binary", "\x1bLua\x51\x00\x01", "load: ", game.FaultError},
		{"JavaScript", "function choose(turn) { return 0.5; }", "scripts/mine.lua:1: load: ", game.FaultError},
		{"error", "x = 1\nerror('no')" + ok, "scripts/mine.lua:2: load: no", game.FaultError},
		{"runtime error", "local t\nt.x = 1" + ok, "scripts/mine.lua:2: load: attempt to index", game.FaultError},
		{"loop", "x = 1\nwhile true do end" + ok, "scripts/mine.lua:2: load: exceeded its budget: more than 5000000 instructions in one call", game.FaultBudget},
		{"recursion", "local function f() return 1 + f() end\nf()" + ok, "scripts/mine.lua:1: load: exceeded its budget: calls nested too deeply", game.FaultBudget},
		{"no print of files", "dofile('/etc/passwd')" + ok, "scripts/mine.lua:1: load: attempt to call a non-function object", game.FaultError},
		{"too long", strings.Repeat("-", 300<<10) + ok, "the script has 307231 bytes, more than 262144", game.FaultError},
		{"too many locals", strings.Repeat("local x\n", 250) + ok, "load: ", game.FaultError},
	} {
		_, err := compile(t, c.source, roomy)
		var se *strategies.Error
		if !errors.As(err, &se) || se.Op != strategies.OpLoad || se.Source != "scripts/mine.lua" {
			t.Errorf("%s: %v, want a *strategies.Error of loading", c.name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("%s: %q, want one line with %q", c.name, err, c.want)
		}
		if got := strategies.FaultOf(err); got != c.fault {
			t.Errorf("%s: fault %v, want %v", c.name, got, c.fault)
		}
	}
}

func TestInvalidAnswers(t *testing.T) {
	for answer, shown := range map[string]string{
		``: "nil", `nil`: "nil", `"Even"`: `"Even"`, `"even "`: `"even "`, `""`: `""`, `"0.5"`: `"0.5"`,
		`2`: "2", `-0.1`: "-0.1", `1.0001`: "1.0001", `0/0`: "NaN", `1/0`: "+Inf", `true`: "true",
		`{}`: "a table", `{"even"}`: "a table", `print`: "a function",
		`setmetatable({}, {__tostring = function() return "even" end})`: "a table",
		`setmetatable({}, {__tostring = function() error("x") end})`:    "a table",
		`("x"):rep(1000)`: `"` + strings.Repeat("x", 79) + "...", `"\27[31m"`: `"\x1b[31m"`,
	} {
		s := sit(t, "x = 1\n\nfunction choose(turn)\n  return "+answer+"\nend")
		_, err := s.Choose(t.Context(), turn(0))
		line := "3" // where choose begins
		if strings.HasPrefix(shown, `"`) && answer == shown {
			line = "4" // where the text stands
		}
		want := "scripts/mine.lua:" + line + ": choose: invalid choice: answered " + shown +
			`, want "even", "odd" or a probability of even in [0, 1]` + map[string]string{
			"nil": " (does choose return on every path?)", "true": " (true and false are no choices)",
			"a function": " (did you forget to call it?)",
			`"Even"`:     " (use lower case without spaces)", `"even "`: " (use lower case without spaces)",
		}[shown]
		if !errors.Is(err, strategies.ErrInvalidChoice) || err.Error() != want {
			t.Errorf("answer %s:\n %v\n want %s", answer, err, want)
		}
	}
	if _, err := sit(t, "choose = tostring").Choose(t.Context(), turn(0)); !errors.Is(err, strategies.ErrInvalidChoice) {
		t.Errorf("tostring as choose: %v, want an invalid choice", err)
	}
}

// hookFailures are bodies of hooks that fail, and what is told of it.
var hookFailures = []struct {
	name, body, want string
	fault            game.Fault
}{
	{"error", "error('no')", "no", game.FaultError},
	{"error with no position", "error('no', 0)", "no", game.FaultError},
	{"error of the caller", "local function f() error('no', 2) end f()", "no", game.FaultError},
	{"error of several lines", "error('a\\nb\\27[2J')", "a b\ufffd[2J", game.FaultError},
	{"long error", "error(('x'):rep(1e6))", strings.Repeat("x", 300) + "...", game.FaultError},
	{"table", "error({code = 7})", "the error value is a table", game.FaultError},
	{"nil", "error(nil)", "the error value is nil", game.FaultError},
	{"printable table that fails", "error(setmetatable({}, {__tostring = function() while true do end end}))", "the error value is a table", game.FaultError},
	{"assert", "assert(false, 'no')", "no", game.FaultError},
	{"index", "local x = nil; x.y.z = 1", "attempt to index a non-table object(nil) with key 'y'", game.FaultError},
	{"arithmetic", "local x = 1 + {}", "cannot perform add operation between number and table", game.FaultError},
	{"call", "local x = 5; x()", "attempt to call a non-function object", game.FaultError},
	{"bad argument", "math.floor({})", "bad argument #1 to floor (number expected, got table)", game.FaultError},
	{"loop", "while true do end", "exceeded its budget: more than 5000000 instructions in one call (is there an endless loop?)", game.FaultBudget},
	{"swallowed loop", "while true do pcall(function() while true do end end) end", "exceeded its budget: more than 5000000 instructions in one call (is there an endless loop?)", game.FaultBudget},
	{"recursion", "local function f() return f() + 1 end f()", "exceeded its budget: calls nested too deeply (at most 200 nested calls; is there an endless recursion?)", game.FaultBudget},
}

// TestFailures has every hook fail in every way, on its third line.
func TestFailures(t *testing.T) {
	for _, op := range []strategies.Op{strategies.OpStart, strategies.OpChoose, strategies.OpObserve} {
		for _, c := range hookFailures {
			t.Run(string(op)+"/"+c.name, func(t *testing.T) {
				source := fmt.Sprintf("-- title\nfunction %s(x)\n%s\nend\n", op, c.body)
				if op != strategies.OpChoose {
					source += "function choose() return 1 end\n"
				}
				f := mustCompile(t, source)
				s, err := f.New(t.Context(), setup())
				if op == strategies.OpStart && s != nil {
					t.Error("New returned a seat whose start had failed")
				}
				if op != strategies.OpStart {
					defer s.Close()
				}
				switch op {
				case strategies.OpChoose:
					_, err = s.Choose(t.Context(), turn(0))
				case strategies.OpObserve:
					err = s.Observe(t.Context(), outcome(0))
				}
				want := fmt.Sprintf("scripts/mine.lua:3: %s: %s", op, c.want)
				if err == nil || err.Error() != want || strategies.FaultOf(err) != c.fault {
					t.Errorf("error %v\n want %s\n fault %v, want %v", err, want, strategies.FaultOf(err), c.fault)
				}
			})
		}
	}
}
