package luascript_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

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

// TestFailures has choose fail in every way, on its third line, and the other hooks in two.
func TestFailures(t *testing.T) {
	const endless = "exceeded its budget: more than 5000000 instructions in one call (is there an endless loop?)"
	for _, c := range []struct {
		body, want string
		fault      game.Fault
		ops        []strategies.Op // beside choose
	}{
		{"error('no')", "no", game.FaultError, []strategies.Op{strategies.OpStart, strategies.OpObserve}},
		{"error('no', 0)", "no", game.FaultError, nil},
		{"local function f() error('no', 2) end f()", "no", game.FaultError, nil},
		{"error('a\\nb\\27[2J')", "a b\ufffd[2J", game.FaultError, nil},
		{"error(('x'):rep(1e6))", strings.Repeat("x", 300) + "...", game.FaultError, nil},
		{"error({code = 7})", "the error value is a table", game.FaultError, nil},
		{"error(nil)", "the error value is nil", game.FaultError, nil},
		{"error(setmetatable({}, {__tostring = function() while true do end end}))", "the error value is a table", game.FaultError, nil},
		{"assert(false, 'no')", "no", game.FaultError, nil},
		{"local x = nil; x.y.z = 1", "attempt to index a non-table object(nil) with key 'y'", game.FaultError, nil},
		{"local x = 1 + {}", "cannot perform add operation between number and table", game.FaultError, nil},
		{"local x = 5; x()", "attempt to call a non-function object", game.FaultError, nil},
		{"math.floor({})", "bad argument #1 to floor (number expected, got table)", game.FaultError, nil},
		{"while true do end", endless, game.FaultBudget, []strategies.Op{strategies.OpStart, strategies.OpObserve}},
		{"while true do pcall(function() while true do end end) end", endless, game.FaultBudget, nil},
		{"local function f() return f() + 1 end f()", "exceeded its budget: calls nested too deeply (at most 200 nested calls; is there an endless recursion?)", game.FaultBudget, nil},
	} {
		for _, op := range append(c.ops, strategies.OpChoose) {
			source := fmt.Sprintf("-- title\nfunction %s(x)\n%s\nend\n", op, c.body)
			if op != strategies.OpChoose {
				source += "function choose() return 1 end\n"
			}
			s, err := mustCompile(t, source).New(t.Context(), setup())
			if op == strategies.OpStart && s != nil {
				t.Error("New returned a seat whose start had failed")
			}
			switch op {
			case strategies.OpChoose:
				_, err = s.Choose(t.Context(), turn(0))
			case strategies.OpObserve:
				err = s.Observe(t.Context(), outcome(0))
			}
			want := fmt.Sprintf("scripts/mine.lua:3: %s: %s", op, c.want)
			if err == nil || err.Error() != want || strategies.FaultOf(err) != c.fault {
				t.Errorf("%s:\n error %v\n want %s\n fault %v, want %v", c.body, err, want, strategies.FaultOf(err), c.fault)
			}
		}
	}
}
