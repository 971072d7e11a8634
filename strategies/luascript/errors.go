package luascript

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

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
