package jsscript

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// maxMessage bounds an error's text, in bytes.
const maxMessage = 300

// explain says what went wrong in a call, from the error that the interpreter
// returned. It is called while the watchdog still watches: of what was thrown
// it may have to ask a getter.
func (b *sandbox) explain(err error) *failure {
	var (
		exception   *goja.Exception
		interrupted *goja.InterruptedError
		overflow    *goja.StackOverflowError
	)
	switch {
	case b.over != nil:
		return b.over
	case errors.As(err, &interrupted):
		return &failure{line: lineIn(interrupted.Stack()), err: errStopped}
	case errors.As(err, &overflow):
		return &failure{
			line: lineIn(overflow.Stack()), over: true,
			err:  fmt.Errorf("%w: calls nested too deeply", strategies.ErrBudget),
			hint: fmt.Sprintf("at most %d calls may be under way at once; is there a recursion that never ends?", callDepth),
		}
	case errors.As(err, &exception):
		message, hint := b.thrown(exception.Value())
		return failAt(lineIn(exception.Stack()), hint, "%s", message)
	}
	return failAt(0, "", "the interpreter failed: %s", strategies.OneLine(err.Error(), maxMessage))
}

// recovered says what went wrong in a call that ended in a panic.
func (b *sandbox) recovered(r any) *failure {
	if _, ok := r.(overrun); ok {
		if b.over != nil {
			return b.over
		}
		return &failure{line: b.line, err: errStopped}
	}
	if ex, ok := r.(*goja.Exception); ok { // of a getter, while explaining
		return failAt(lineIn(ex.Stack()), "", "what was thrown cannot be shown")
	}
	// A bug of the interpreter that a script has found, such as a slice out of
	// range. Nobody knows what state it has left behind.
	return &failure{err: fmt.Errorf("the interpreter failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage)), over: true}
}

// lineIn returns the innermost line of the script in a stack.
func lineIn(stack []goja.StackFrame) int {
	for i := range stack {
		if stack[i].SrcName() == chunk {
			return stack[i].Position().Line
		}
	}
	return 0
}

// thrown puts a thrown value into words, without asking it to.
func (b *sandbox) thrown(v goja.Value) (message, hint string) {
	o, ok := v.(*goja.Object)
	if !ok {
		return strategies.OneLine(textOf(v), maxMessage), ""
	}
	if isProxy(o) || o.ClassName() != "Error" {
		return "threw " + shown(v), "throw new Error(\"...\") says what happened and where"
	}
	name, message := property(o, "name"), property(o, "message")
	switch {
	case name == "":
		return strategies.OneLine(message, maxMessage), ""
	case message == "":
		return strategies.OneLine(name, maxMessage), ""
	}
	return strategies.OneLine(name+": "+message, maxMessage), missingHint(name, message)
}

// property returns a property that is a text.
func property(o *goja.Object, name string) string {
	if s, ok := o.Get(name).(goja.String); ok {
		return textOf(s)
	}
	return ""
}

// textOf returns the text of a value that is no object, or its beginning.
func textOf(v goja.Value) string {
	if s, ok := v.(goja.String); ok && s.Length() > 2*maxMessage {
		v = s.Substring(0, 2*maxMessage)
	}
	switch v := v.(type) {
	case nil:
		return "undefined"
	case *goja.Symbol:
		return "Symbol(" + v.String() + ")"
	}
	return v.String()
}

// missing are names that scripts look for in vain, and why.
var missing = map[string]string{
	"Date": "scripts see no clock", "performance": "scripts see no clock",
	"setTimeout": "there are no timers: choose has to answer at once", "setInterval": "there are no timers",
	"Promise": asyncHint, "BigInt": "use numbers", "eval": "code cannot be made of strings",
	"require": "there are no modules: everything has to be in one file", "module": exportsHint, "exports": exportsHint,
	"process": "scripts see nothing of the machine", "fetch": "there is no network",
}

const exportsHint = "there are no modules: the functions at the top level are found by their names"

func missingHint(name, message string) string {
	if what, ok := strings.CutSuffix(message, " is not defined"); ok && name == "ReferenceError" {
		return missing[what]
	}
	return ""
}

// overtime says that a call was stopped by the watchdog, and why.
func (f *factory) overtime(ctx context.Context, cause error, line int) *failure {
	if ctx.Err() != nil {
		return &failure{line: line, over: true, err: fmt.Errorf("%w: %w", strategies.ErrTimeout, context.Cause(ctx))}
	}
	if errors.Is(cause, budget.ErrMemory) {
		return &failure{line: line, over: true, err: fmt.Errorf("%w: %w", strategies.ErrBudget, cause)}
	}
	return &failure{
		line: line, over: true, hint: "is there a loop that never ends?",
		err: fmt.Errorf("%w: more than %v in one call", strategies.ErrTimeout, f.Limits().Time),
	}
}
