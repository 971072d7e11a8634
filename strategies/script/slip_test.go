package script

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/strategies"
)

func TestMissingField(t *testing.T) {
	const setup, turn = "setup has id, name, players, rounds, legs", "turn has match_id, round, opponent, role, played, wins, draws, losses, points, history"
	const outcome = "outcome has match_id, round, opponent, role, choice, opponent_choice, drawn_number, result, points"
	for _, c := range []struct{ object, field, what, hint string }{
		{"turn", "colour", `turn has no field "colour"`, turn},
		{"outcome", "colour", `an outcome has no field "colour"`, outcome},
		{"turn", "oponent", `turn has no field "oponent"`, "did you mean opponent? " + turn},
		{"turn", "matchId", `turn has no field "matchId"`, "did you mean match_id? " + turn},
		{"turn", "Round", `turn has no field "Round"`, "did you mean round? " + turn},
		// A field of another object is named with it, whatever its spelling.
		{"turn", "result", `turn has no field "result"`, "an outcome has result; " + turn},
		{"turn", "opponentChoice", `turn has no field "opponentChoice"`, "an outcome has opponent_choice; " + turn},
		{"outcome", "LEGS", `an outcome has no field "LEGS"`, "setup has legs; " + outcome},
		{"setup", "round", `setup has no field "round"`, "turn has round; " + setup},
		{"turn", "", `turn has no field ""`, turn},
		{"turn", "round", "", ""}, {"outcome", "choice", "", ""}, {"setup", "id", "", ""}, {"nothing", "round", "", ""},
	} {
		if what, hint := Missing(c.object, c.field); what != c.what || hint != c.hint {
			t.Errorf("%s.%s: %q, hint %q; want %q, hint %q", c.object, c.field, what, hint, c.what, c.hint)
		}
	}
}

const lua = `-- copies "even"
local history = {}
function setup(s) history = {} end
function chose(turn) -- a typo
  if turn.round == 1 then return "even" end
  print("don't -- count this", 'nor \' this')
  history[#history + 1] = turn.opponent
  return 'odd'
end
on_outcome = function(o) return "even" end`

func text(source string) *Text {
	return NewText([]byte(source), "--", func() []Habit {
		return []Habit{
			{regexp.MustCompile(`\+\+`), "x = x + 1"},
			{regexp.MustCompile(`!=`), "~="},
			{regexp.MustCompile(`!`), "not"},
		}
	})
}

func TestHabit(t *testing.T) {
	source := "a++\nif a != b then\nif !a then\nprint(\"a++ != b\")\nprint('!') -- a++\na = 1"
	x := text(source)
	for range 2 { // the second time from memory
		for line, want := range []string{"", "x = x + 1", "~=", "not", "", "", "", "", ""} {
			if got := x.Habit(line); got != want {
				t.Errorf("line %d: %q, want %q", line, got, want)
			}
		}
	}
	if got := x.Habit(-1); got != "" {
		t.Errorf("before the first line: %q", got)
	}
}

func TestFirstLine(t *testing.T) {
	x := text(lua)
	for word, want := range map[string]int{
		"history": 2, "setup": 3, "chose": 4, "turn": 4, "opponent": 7, "on_outcome": 10,
		"typo": 0, "even": 0, "count": 0, "his": 0, "tory": 0, ".*": 0,
	} {
		if got := x.LineOf(word); got != want {
			t.Errorf("%s is first found in line %d, want %d", word, got, want)
		}
	}
	if got := x.First(regexp.MustCompile(`return`)); got != 5 {
		t.Errorf("the first return is in line %d, want 5", got)
	}
	if empty, dollar := text("").LineOf("x"), text("let a = 1\n$b = a").LineOf("$b"); empty != 0 || dollar != 2 {
		t.Errorf("an empty script has a word in line %d, $b is in line %d, want 2", empty, dollar)
	}
}

func TestNearestName(t *testing.T) {
	x := text(lua)
	for missing, want := range map[string]string{
		"histroy": "history", "oponent": "opponent", "choose": "chose", "prnt": "print",
		"typos":   "", // which is in a comment
		"history": "", // is the only one like it
		"zzzzzz":  "",
		"nothing": "", // tostring is another word
	} {
		if got := x.NearestName(missing); got != want {
			t.Errorf("the name nearest to %s is %q, want %q", missing, got, want)
		}
	}
}

func TestLineOfText(t *testing.T) {
	x := text("a = 'once'\nb = \"twice\"\nc = 'twice'\nd = 'here' .. \"here\"\ne = 'it\\'s'\nf = ''")
	for range 2 { // the second time from memory
		for quoted, want := range map[string]int{"once": 1, "twice": 0, "here": 4, `it\'s`: 5, "nowhere": 0, "": 6} {
			if got := x.LineOfText(quoted); got != want {
				t.Errorf("%q is in line %d, want %d", quoted, got, want)
			}
		}
	}
	// A script that makes up texts does not fill the memory.
	for i := range 1000 {
		x.LineOfText(strings.Repeat("x", i))
	}
	if len(x.quotes) > 100 {
		t.Errorf("%d texts are remembered", len(x.quotes))
	}
}

func TestAssigns(t *testing.T) {
	for source, want := range map[string]bool{
		"x = 1": true, "x=1": true, "local x = 2": true, "x += 1": true, "x ||= 1": true, "x++": true, "x--": true, "function x() end": true,
		"$x = 1": false, "x == 1": false, "return x": false, "xx = 1": false, "ax = 1": false, "function xy() end": false, "x(1)": false, "": false,
	} {
		if got := text(source).Assigns("x"); got != want {
			t.Errorf("%q assigns to x: %t, want %t", source, got, want)
		}
	}
}

func TestDeclared(t *testing.T) {
	function := regexp.MustCompile(`function\s+([\w$]+)|(\w+)\s*=\s*function`)
	for _, c := range []struct {
		source, missing, name string
		line                  int
	}{
		{lua, "choose", "chose", 4},
		{lua, "outcome", "on_outcome", 10},
		{lua, "Setup", "setup", 3},
		{lua, "something", "", 0},
		{"function Choose(t) end", "choose", "Choose", 1},
		{"\n\nfunction chooose(t) end", "choose", "chooose", 3},
		{"function chose(t) end\nfunction help() return chose() end", "choose", "", 0}, // it is called
		{"function chase_it(t) end", "choose", "", 0},                                  // too different
		{"-- function chose()", "choose", "", 0},
		{"", "choose", "", 0},
		{"function chose$(t) {}", "choose", "chose$", 1}, // with a sign of regular expressions, as JavaScript has them
	} {
		if name, line := text(c.source).Declared(c.missing, function); name != c.name || line != c.line {
			t.Errorf("%s in %q: %q in line %d, want %q in line %d", c.missing, c.source, name, line, c.name, c.line)
		}
	}
}

// Texts are asked by the seats of many leagues at once.
func TestTextIsSafe(t *testing.T) {
	x := text(lua)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for line := range 12 {
				x.Habit(line)
				x.LineOfText("even")
				x.NearestName("choose")
			}
		})
	}
	all.Wait()
	if x.NearestName("choose") != "chose" {
		t.Error("the names are lost")
	}
}

// Whatever a script holds, a hint points to one of its lines and to a name in it.
func FuzzText(f *testing.F) {
	f.Add(lua, "choose")
	f.Add("'\n\"\\", "$")
	f.Add("--\r\n\x00", "(")
	f.Add("a = \xff", "\xff")
	function := regexp.MustCompile(`function\s+(\S+)`)
	f.Fuzz(func(t *testing.T, source, word string) {
		x := text(source)
		lines := strings.Split(source, "\n")
		_, declared := x.Declared(word, function)
		for _, line := range []int{x.LineOf(word), x.LineOfText(word), declared} {
			if line < 0 || line > len(lines) {
				t.Errorf("line %d of %d", line, len(lines))
			}
		}
		if near := x.NearestName(word); near != "" && !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, near) }) {
			t.Errorf("%q is not in the script", near)
		}
		x.Assigns(word)
	})
}

func TestNearest(t *testing.T) {
	names := strings.Fields("alternate always-even always-odd markov-1 markov-2 random")
	for in, want := range map[string]string{
		"markv-2":     "markov-2",
		"markov":      "markov-1", // as near as markov-2, and first
		"Random":      "random",
		"radnom":      "random",
		"always_odd":  "always-odd",
		"alwayseven":  "always-even",
		"zzz":         "",
		"animate":     "", // four edits from alternate
		"rock-paper":  "",
		"":            "",
		"rand":        "random",
		"amrkov-2":    "markov-2", // a swap of neighbours is one edit
		"alternating": "alternate",
	} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// A script is described by its first comment, whatever its language.
func TestDescribe(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct{ head, title, description string }{
		{"", "", ""},
		{"// Title\n", "Title", ""},
		{"// Title\n//\n// It does this,\n// and that.\n\n// not this\n", "Title", "It does this, and that."},
		{"/* Title\n   more of it */\n", "Title", "more of it"},
		{"/**\n * Title\n *\n * Some more\n * of it.\n */\n", "Title", "Some more of it."},
		{"\ufeff// Title\n", "Title", ""},
		{"\ufeff#!/usr/bin/env node\r\n// Title\r\n", "Title", ""},
		{"\n\n  // Title\r\n  // more\r\n", "Title", "more"},
		{"// Title\n\"use strict\";\n", "Title", ""},
		{"'use strict'; // Title\n", "", ""},
		{"// Ti\x1btle\tof it\n", "Ti\ufffdtle of it", ""},
		{"\n-- Mine: a title\n-- One line.\n--\n---- And another. \n\n-- not this\n", "Mine: a title", "One line. And another."},
		{"x = 1\n-- late\n", "", ""},
		{"--" + long + "\n-- " + long + "\n", long[:120] + "...", long[:2000] + "..."},
	} {
		source := []byte(tt.head + "function choose() return 1 end")
		sum := sha256.Sum256(source)
		want := strategies.Info{Name: "mine", Kind: strategies.Lua, Source: "scripts/mine.lua", Title: tt.title, Description: tt.description, Fingerprint: hex.EncodeToString(sum[:])}
		if diff := cmp.Diff(want, Describe(strategies.Lua, "mine", "scripts/mine.lua", source, Comment(source))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.head, diff)
		}
	}
}
