// Package luascript runs strategies written in Lua 5.1, on gopher-lua.
//
// Compile compiles a script once; every seat runs it in a new Lua state. scripts/README.md
// describes the interface for authors, which is the same as that of JavaScript.
//
// # Limits
//
// Every call of a hook, and the run of the top level, has a budget of instructions
// (Limits.Instructions) and of time (Limits.Time). The count does not depend on the machine: the
// same script in the same league exceeds its budget at the same instruction. It relies on
// gopher-lua asking its context once per instruction, which a test checks. Calls nest 200 deep at
// most.
//
// Exceeding a limit ends the seat. A script cannot catch the end of its instructions or its time:
// pcall returns, and the next instruction raises it again.
//
// Nothing here bounds memory, or the time of a built-in function. Both are limits of the process
// that runs the script.
//
// # Sandbox
//
// Scripts cannot reach files, network, clock, environment, other states or the host's memory: the
// functions do not exist. There are no coroutines and no code from strings. Randomness comes from
// the seat's stream. Nothing that differs between runs is visible: tables and functions print
// without address, pairs follows the order of insertion, errors name the script by a fixed word.
//
// Where gopher-lua differs from Lua 5.1 so does this package, except in the functions it replaces
// (tables, tonumber, tostring, string.format, math.random), which follow the reference manual, and
// in what repair repairs. Some functions, arguments and escapes of later versions exist as well;
// what else differs silently from Lua 5.4 is a slip.
package luascript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/script"
)

// callDepth is the limit of nested calls, registers and maxRegisters the initial and
// largest size of their value stack.
const (
	callDepth    = 200
	registers    = 256
	maxRegisters = 16384
)

// gopher-lua fills an array up to every index below this limit, of which its own is so high
// that a single store takes a GiB. It keeps the limit in a variable.
func init() { lua.MaxArrayIndex = 1 << 20 }

// Compile compiles a script. It runs the top level once within the limits and checks that there is
// a function choose; it does not ask for choices. name is the name of the strategy, path the file
// in errors. Errors in the script are *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a script can change.
func Compile(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
	f := &factory{
		Host: script.NewHost(script.Describe(strategies.Lua, name, path, source, script.Comment(source)), limits),
		text: script.NewText(source, "--", luaHabits),
	}
	var err error
	if f.params, err = f.Params(params.Head(source)); err != nil {
		return nil, err
	}
	if f.main, err = f.compile(source); err != nil {
		return nil, err
	}
	err = f.Try(func(ctx context.Context) (io.Closer, error) {
		return f.open(ctx, strategies.Setup{Rand: game.NewRand(game.Key{})}, nil)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factory makes the seats of one script. Its fields are constant.
type factory struct {
	*script.Host
	text   *script.Text
	main   *lua.FunctionProto
	differ []script.Slip // where later versions of Lua do something else
	params []params.Param
}

// New makes a seat: it runs the top level, and start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat, err := f.open(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	if err := seat.begin(ctx, s); err != nil {
		_ = seat.Close()
		return nil, err
	}
	return seat, nil
}

func (f *factory) loadError(line int, hint, format string, args ...any) error {
	return f.Fail(strategies.OpLoad, line, hint, fmt.Errorf(format, args...))
}

// compile compiles source for any state.
func (f *factory) compile(source []byte) (proto *lua.FunctionProto, err error) {
	if len(source) > script.MaxSource {
		return nil, f.loadError(0, "", "the script has %d bytes, more than %d", len(source), script.MaxSource)
	}
	defer func() {
		if r := recover(); r != nil { // the compiler panics on some code
			err = f.loadError(0, "", "the compiler failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage))
		}
	}()
	source, f.differ = portable(source)
	tree, err := parse.Parse(bytes.NewReader(source), chunk)
	if err != nil {
		return nil, f.syntaxError(source, err)
	}
	f.differ = append(f.differ, differences(tree)...)
	repair(tree)
	var ce *lua.CompileError
	if proto, err = lua.Compile(tree, chunk); errors.As(err, &ce) {
		return nil, f.loadError(ce.Line, "", "%s", ce.Message)
	} else if err != nil {
		return nil, f.loadError(0, "", "%w", err)
	}
	return proto, nil
}

func (f *factory) syntaxError(source []byte, err error) error {
	var pe *parse.Error
	if !errors.As(err, &pe) {
		return f.loadError(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
	}
	if pe.Pos.Line == parse.EOF {
		lines := bytes.Count(bytes.TrimRight(source, "\n"), []byte("\n")) + 1
		hint := "is an \"end\" missing?"
		if n := f.text.First(elseIf()); n > 0 {
			hint = fmt.Sprintf("is an \"end\" missing? In line %d, write elseif: else if needs an end of its own", n)
		}
		return f.loadError(lines, hint, "%s at the end of the file", pe.Message)
	}
	hint := cmp.Or(laterSyntax(source, pe.Token, pe.Pos.Line, pe.Pos.Column), f.syntaxHint(pe.Pos.Line))
	return f.loadError(pe.Pos.Line, hint, "%s near %q", pe.Message, strategies.OneLine(pe.Token, 40))
}

// newMachine makes a state with everything that a script may reach.
func (f *factory) newMachine(s *strategies.Setup) *machine {
	m := &machine{rand: s.Rand, log: script.Log{Script: f.Info().Name, To: s.Log}, limit: f.Limits().Instructions, total: math.MaxInt64}
	m.state = lua.NewState(lua.Options{
		CallStackSize: callDepth,
		RegistrySize:  registers, RegistryMaxSize: maxRegisters, RegistryGrowStep: registers,
		SkipOpenLibs: true,
	})
	theSandbox().furnish(m.state)
	f.setParams(m.state)
	m.state.SetContext(m)
	return m
}

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

// chunk is the name of a script in messages that it can see. It does not contain the
// path, so that the path cannot influence choices.
const chunk = "script"

// maxMessage bounds an error's text, in bytes.
const maxMessage = 300

// failure is an error of the interpreter.
type failure struct {
	message string // as raised, without its position; not yet cleaned
	line    int    // 0 if unknown
}

// failure parses an error of the interpreter and notes whether it ends the machine.
// A script can forge the text; it then forfeits.
func (m *machine) failure(err error) failure {
	var api *lua.ApiError
	if !errors.As(err, &api) {
		return failure{message: err.Error()}
	}
	f := failure{line: lineIn(api.StackTrace)}
	s, ok := api.Object.(lua.LString)
	if !ok {
		f.message = "the error value is a " + api.Object.Type().String()
		if api.Object == lua.LNil {
			f.message = "the error value is nil"
		}
		return f
	}
	f.message = string(s)
	if line, rest, ok := cutPosition(f.message); ok {
		f.line, f.message = line, rest
	}
	if api.Type == lua.ApiErrorPanic {
		f.message = "the interpreter failed: " + f.message
	}
	if f.message == "stack overflow" || f.message == "registry overflow" {
		m.abort(overDepth)
	}
	return f
}

// hintAt returns what may be behind an error of the interpreter: a name that this Lua
// does not have, or an outcome that does not exist yet.
func (f *factory) hintAt(seen failure) string {
	if !strings.HasPrefix(seen.message, "attempt to ") {
		return "" // the script's own error
	}
	if hint := f.text.Habit(seen.line); hint != "" {
		return hint
	}
	if strings.HasPrefix(seen.message, "attempt to index a non-table object(nil) with key ") && f.text.LineOf("history") > 0 {
		return "the history is empty in the first match against an opponent: test for nil"
	}
	return ""
}

// cutPosition splits "script:12: text".
func cutPosition(s string) (line int, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, chunk+":")
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(s, ":")
	if !ok {
		return 0, "", false
	}
	line, err := strconv.Atoi(number)
	return line, strings.TrimPrefix(rest, " "), err == nil && line > 0
}

// lineIn finds the innermost line of the script in a traceback.
func lineIn(trace string) int {
	for entry := range strings.Lines(trace) {
		if line, _, ok := cutPosition(strings.TrimLeft(entry, "\t")); ok {
			return line
		}
	}
	return 0
}

// fail returns the error for a failed call. err is from the interpreter; nil if only
// the end of the call revealed an exceeded limit.
func (f *factory) fail(ctx context.Context, m *machine, op strategies.Op, total budget.Total, err error) error {
	var seen failure
	if err != nil {
		seen = m.failure(err)
	}
	out := &strategies.Error{Source: f.Info().Source, Line: seen.line, Op: op}
	switch m.over {
	case overInstructions:
		out.Err = fmt.Errorf("%w: more than %d instructions in one call", strategies.ErrBudget, f.Limits().Instructions)
		out.Hint = "is there an endless loop?"
		if m.inAll {
			out.Err = fmt.Errorf("%w: more than %d instructions in one league", strategies.ErrBudget, m.total)
			out.Hint = "do less in one call"
		}
	case overDepth:
		out.Err = fmt.Errorf("%w: calls nested too deeply", strategies.ErrBudget)
		out.Hint = fmt.Sprintf("at most %d nested calls; is there an endless recursion?", callDepth)
	case overTime:
		out.Err = f.Overtime(ctx, m.cause, total)
	default:
		out.Err = errors.New(strategies.OneLine(seen.message, maxMessage))
		out.Hint = f.hintAt(seen)
	}
	return out
}
