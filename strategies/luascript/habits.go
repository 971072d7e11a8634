package luascript

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/strategies/script"
)

// elsewhere has the names of other versions of Lua and of other languages, and what to use instead.
var elsewhere = map[string]string{
	"math.maxinteger": "use math.huge", "math.mininteger": "use -math.huge", "math.ult": "compare with <",
	"string.pack": "keep tables", "string.unpack": "keep tables", "rawlen": "use #", "math.randomseed": "randomness is seeded already: call math.random",
	"string.trim": "in Lua 5.1: s:match(\"^%s*(.-)%s*$\")", "string.split": "in Lua 5.1: s:gmatch(\"[^,]+\")",
	"utf8": "Lua 5.1 has no utf8: texts are bytes", "require": "there are no modules: everything has to be in one file",
	"module": "there are no modules: everything has to be in one file", "package": "there are no modules: everything has to be in one file",
	"io": "scripts see no files", "os": "scripts see no clock and nothing of the machine", "debug": "scripts see nothing of the machine",
	"coroutine": "there are no coroutines: keep state in variables", "load": "there is no code from strings",
	"loadstring": "there is no code from strings", "dofile": "there is no code from files", "loadfile": "there is no code from files",
	"collectgarbage": "memory is freed by itself", "bit32": "Lua 5.1 has no bit operators: use math.floor and %",
	"console": "use print", "Math": "use math, in lower case", "JSON": "there is no JSON: keep tables",
	"null": "use nil", "undefined": "use nil", "None": "use nil", "True": "use true", "False": "use false",
}

// habits are the forms of other languages, the most specific first.
func habits() [][2]string {
	list := [][2]string{
		{`\blocal\s+function\s+choose\b|\blocal\s+choose\b`, "leave out local: choose has to be a global function"},
		{`!=|!==`, "in Lua \"not equal\" is ~="},
		{`===`, "in Lua \"equal\" is =="},
		{`&&`, "in Lua it is and"}, {`\|\|`, "in Lua it is or"},
		{`\+\+|[-+*/%.]=`, "in Lua write x = x + 1"},
		{`\b(if|while|elseif)\b[^=~<>]*[^=~<>]=[^=].*\b(then|do)\b`, "= assigns: compare with =="},
		{`\b(else\s+if|elif)\b`, "write elseif: else if needs an end of its own"},
		{`=>`, "write function(x) return ... end"},
		{`^\s*(const|let|var)\b`, "declare a variable with local"},
		{`^\s*def\b`, "declare a function with function choose(turn) ... end"},
		{`\?.*:`, "write condition and a or b"},
		{`^\s*(import|from)\b`, "there are no modules: everything has to be in one file"},
		{`\b(if|while|for)\b.*\{\s*$|^\s*\}`, "blocks are if ... then ... end and for ... do ... end, without braces"},
		{`\b(if|while)\b.*:\s*$|\belse\s*:`, "blocks are if ... then ... end, without colons"},
		{`!\s*\w`, "in Lua it is not"},
	}
	for _, name := range slices.Sorted(maps.Keys(elsewhere)) {
		form := `(^|[^\w.:])` + regexp.QuoteMeta(name) + `\b\s*[.(]?`
		if strings.Contains(name, ".") {
			form = `\b` + regexp.QuoteMeta(name) + `\b`
		}
		list = append(list, [2]string{form, name + ": " + elsewhere[name]})
	}
	return list
}

var luaHabits = script.Habits(habits())

var (
	luaFunction = script.Pattern(`\bfunction\s+(\w+)\s*\(|\b(?:local\s+)?(\w+)\s*=\s*function\b`)
	elseIf      = script.Pattern(`\belse\s+if\b`)
	inTable     = script.Pattern(`\bfunction\s+\w+[.:]choose\b|\bchoose\s*=\s*function\b`)
	localChoose = script.Pattern(`\blocal\s+(function\s+)?choose\b`)
)

// noChoose returns the error of a script without a global function choose: with the
// place where one is declared in another way.
func (f *factory) noChoose() error {
	line, hint := 0, "every strategy has function choose(turn) ... end"
	if n := f.text.First(localChoose()); n > 0 {
		line, hint = n, "leave out local: choose has to be a global function"
	} else if n := f.text.First(inTable()); n > 0 {
		line, hint = n, "scripts are not modules: declare function choose(turn) ... end by itself, outside of any table, and return nothing"
	} else if name, n := f.text.Declared("choose", luaFunction()); n > 0 {
		line, hint = n, fmt.Sprintf("rename %s to choose: upper and lower case matter", name)
	}
	return f.loadError(line, hint, "there is no function choose")
}

// syntaxHint returns what may be wrong where a script does not parse, and the line:
// often that above the one where the parser noticed.
func (f *factory) syntaxHint(line int) string {
	if hint := f.text.Habit(line); hint != "" {
		return hint
	}
	return f.text.Habit(line - 1)
}
