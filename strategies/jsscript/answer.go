package jsscript

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// choice parses an answer of choose. It does not query objects, which would run code of the script.
func choice(answer goja.Value) (strategies.Choice, *failure) {
	switch {
	case answer == parities[game.Even]:
		return strategies.Even, nil
	case answer == parities[game.Odd]:
		return strategies.Odd, nil
	case goja.IsNumber(answer):
		if c := strategies.Choice(answer.ToFloat()); c.Valid() {
			return c + 0, nil // -0 is 0
		}
	}
	if s, ok := answer.(goja.String); ok && s.Length() <= len("even") {
		// A text that was put together may be represented in another way.
		switch s.String() {
		case "even":
			return strategies.Even, nil
		case "odd":
			return strategies.Odd, nil
		}
	}
	return 0, &failure{err: strategies.InvalidChoice(shown(answer)), hint: choiceHint(answer)}
}

func choiceHint(answer goja.Value) string {
	switch v := answer.(type) {
	case nil:
		return script.AnswerHint("nothing", "")
	case goja.String:
		return script.AnswerHint("text", textOf(v))
	case *goja.Object:
		if _, ok := goja.AssertFunction(v); ok {
			return script.AnswerHint("function", "")
		}
		if v.ExportType() == promiseType {
			return asyncHint
		}
	default:
		if goja.IsUndefined(v) {
			return script.AnswerHint("nothing", "")
		}
		if t := v.ExportType(); t != nil && t.Kind() == reflect.Bool {
			return script.AnswerHint("boolean", "")
		}
	}
	return ""
}

// shown formats a value for a message.
func shown(v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case goja.String:
		return strconv.Quote(textOf(v))
	case *goja.Symbol:
		return "a symbol"
	case *goja.Object:
		return shownObject(v)
	}
	if goja.IsNumber(v) {
		if f := v.ToFloat(); math.IsNaN(f) {
			return "NaN"
		}
	}
	return strategies.OneLine(v.String(), maxMessage)
}

func shownObject(o *goja.Object) string {
	if isProxy(o) {
		return "a proxy"
	}
	switch class := o.ClassName(); class {
	case "Function":
		return "a function"
	case "Array":
		return "an array"
	case "String", "Number", "Boolean":
		return "an object of class " + class
	}
	return "an object"
}

// plain makes values of texts and numbers that belong to no runtime.
var plain = new(goja.Runtime)

// The values of enumerations in scripts.
var (
	parities = script.Words(game.Odd, word)
	roles    = script.Words(game.RoleB, word)
	results  = script.Words(game.TechnicalLoss, word)
)

// word returns the value of a text; empty means unknown.
func word(s string) goja.Value {
	if s == "" {
		return goja.Null()
	}
	return plain.ToValue(s)
}

func number(n int) goja.Value { return plain.ToValue(n) }

// Exported types distinguish some kinds of objects without running code of the script.
var (
	proxyType   = reflect.TypeFor[goja.Proxy]()
	promiseType = reflect.TypeFor[*goja.Promise]()
	mapType     = reflect.TypeFor[[][2]any]()
	setType     = reflect.TypeFor[[]any]() // and that of arrays
)

// isProxy reports whether o is a proxy. Other queries of a proxy may run code of the script.
func isProxy(o *goja.Object) bool { return o.ExportType() == proxyType }

// className returns the class of o.
func className(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == proxyType:
		return "Proxy"
	case t == mapType:
		return "Map"
	case t == setType && o.ClassName() != "Array":
		return "Set"
	}
	return o.ClassName()
}

// maxMessage bounds an error's text, in bytes.
const maxMessage = 300

// explain returns the failure for an error of the interpreter. The watchdog must
// still be active: the thrown value may have getters.
func (b *sandbox) explain(err error) *failure {
	var (
		exception   *goja.Exception
		interrupted *goja.InterruptedError
		overflow    *goja.StackOverflowError
	)
	switch {
	case errors.As(err, &interrupted):
		return &failure{line: lineIn(interrupted.Stack()), err: errStopped}
	case errors.As(err, &overflow):
		return &failure{
			line: lineIn(overflow.Stack()), over: true,
			err:  fmt.Errorf("%w: calls nested too deeply", strategies.ErrBudget),
			hint: fmt.Sprintf("at most %d nested calls; is there an endless recursion?", callDepth),
		}
	case errors.As(err, &exception):
		message, hint := b.thrown(exception.Value())
		return failAt(lineIn(exception.Stack()), hint, "%s", message)
	}
	return failAt(0, "", "the interpreter failed: %s", strategies.OneLine(err.Error(), maxMessage))
}

// recovered returns the failure for a panic.
func recovered(r any) *failure {
	if ex, ok := r.(*goja.Exception); ok { // of a getter, while explaining
		return failAt(lineIn(ex.Stack()), "", "the thrown value cannot be shown")
	}
	// A bug of the interpreter, such as an index out of range. Its state is undefined.
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

// thrown formats a thrown value without running its toString.
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
	return strategies.OneLine(name+": "+message, maxMessage), b.thrownHint(name, message)
}

// property returns a string property.
func property(o *goja.Object, name string) string {
	if s, ok := o.Get(name).(goja.String); ok {
		return textOf(s)
	}
	return ""
}

// textOf returns the text of a primitive value, clipped.
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

// missing maps names that do not exist to hints.
var missing = map[string]string{
	"Date": "scripts see no clock", "performance": "scripts see no clock",
	"setTimeout": "there are no timers: choose has to answer at once", "setInterval": "there are no timers",
	"Promise": asyncHint,
	"require": "there are no modules: everything has to be in one file",
	"process": "scripts see nothing of the machine", "fetch": "there is no network",
}

const asyncHint = "choose has to answer at once: there is nothing to wait for"

// thrownHint returns what may be behind an error of the interpreter: a name that does not
// exist here, a misspelled one, or an outcome that does not exist yet.
func (b *sandbox) thrownHint(name, message string) string {
	if what, ok := strings.CutSuffix(message, " is not defined"); ok && name == "ReferenceError" {
		if missing[what] != "" {
			return missing[what]
		}
		if b.text.Assigns(what) {
			return fmt.Sprintf("declare it: let %s; scripts run in strict mode", what)
		}
		if near := b.text.NearestName(what); near != "" && len(what) > 2 {
			return fmt.Sprintf("did you mean %s?", near)
		}
	}
	if name == "TypeError" && strings.HasPrefix(message, "Cannot read property ") && strings.HasSuffix(message, " of undefined") && b.text.LineOf("history") > 0 {
		return "the history is empty in the first match against an opponent: test for undefined"
	}
	return ""
}

// overtime returns the failure for a call stopped by the watchdog, with the cause that
// Guard.Leave returned.
func (s *seat) overtime(ctx context.Context, cause error, line int) *failure {
	failed := &failure{line: line, over: true, err: s.factory.Overtime(ctx, cause, s.total)}
	switch {
	case ctx.Err() != nil:
	case errors.Is(cause, budget.ErrTotal):
		failed.hint = "do less in one call"
	default:
		failed.hint = "is there an endless loop?"
	}
	return failed
}
