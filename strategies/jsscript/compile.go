// Package jsscript runs strategies written in JavaScript, on goja.
//
// A script runs in strict mode. scripts/README.md describes the interface for authors, which is the
// same as that of Lua: functions declared at the top level, or exported from an ES module without
// imports, from CommonJS, or from a bundle of either. They are looked up once, after start.
//
// # Sandbox
//
// Every seat has a runtime of its own and runs the top level from scratch. There are no files,
// network, modules, timers or clock: Date and the like are not defined. Math.random is the seat's
// stream. There is no code from strings, no promises, since choose answers at once.
//
// # Limits
//
// Time: one watchdog per factory interrupts calls; neither catch nor finally runs then. Depth:
// nested calls are limited.
//
// Nothing here bounds memory, or the time of a built-in function: goja does not check for
// interrupts inside one. Both are limits of the process that runs the script.
package jsscript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/script"
)

// Compile compiles a script. It runs the top level once within the limits and checks that there is
// a function choose; it does not ask for choices. name is the name of the strategy, path the file
// in errors. Errors in the script are *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a script can change.
func Compile(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
	f := &factory{
		Host:   script.NewHost(script.Describe(strategies.JavaScript, name, path, source, script.Comment(source)), limits),
		source: string(source),
		text:   script.NewText(source, "//", jsHabits),
	}
	var err error
	if f.params, err = f.Params(params.Head(source)); err != nil {
		return nil, err
	}
	f.chooseLine = f.text.First(declaresChoose())
	var failed *failure
	if f.main, f.exporting, f.differ, failed = compile(source); failed != nil {
		if failed.hint == "" {
			failed.hint = cmp.Or(f.text.Habit(failed.line), f.text.Habit(failed.line-1))
		}
		return nil, f.fail(strategies.OpLoad, failed)
	}
	err = f.Try(func(ctx context.Context) (io.Closer, error) {
		return f.open(ctx, strategies.Setup{Rand: game.NewRand(game.Key{})})
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factory makes the seats of one script. Its fields are constant.
type factory struct {
	*script.Host
	source string // for NewBare
	text   *script.Text
	main   *goja.Program
	params []params.Param
	exporting
	chooseLine int           // where choose is declared, 0 if unknown
	differ     []script.Slip // where other interpreters do something else
}

// New makes a seat: it runs the top level, and start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	st, err := f.open(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := st.begin(ctx, &s); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// fail makes the error that a host sees of a failure.
func (f *factory) fail(op strategies.Op, failed *failure) error {
	return f.Fail(op, failed.line, failed.hint, failed.err)
}

// failure is an error in a script and its place.
type failure struct {
	line int // 0 if unknown
	err  error
	hint string
	// over reports an exceeded limit, which ends the seat.
	over bool
}

func failAt(line int, hint, format string, args ...any) *failure {
	return &failure{line: line, hint: hint, err: fmt.Errorf(format, args...)}
}

// chunk is the name of a script in Error.stack. It does not contain the path, so that
// the path cannot influence choices.
const chunk = "script.js"

// compile compiles a source for any runtime.
func compile(source []byte) (prg *goja.Program, e exporting, differ []script.Slip, failed *failure) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	switch {
	case len(source) > script.MaxSource:
		return nil, e, nil, failAt(0, "", "the script has %d bytes, more than %d", len(source), script.MaxSource)
	case !utf8.Valid(source):
		return nil, e, nil, failAt(0, "save the file as UTF-8", "the script is not text in UTF-8")
	}
	defer func() {
		if r := recover(); r != nil { // the compiler panics on some code
			prg, failed = nil, failAt(0, "", "the compiler failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage))
		}
	}()
	tree, rewritten, failed := parse(string(source))
	if failed != nil {
		return nil, e, nil, failed
	}
	prg, err := goja.CompileAST(tree, true)
	if err != nil {
		return nil, e, nil, compilerFailure(err)
	}
	return prg, exportingOf(tree, rewritten), differences(tree), nil
}

func syntaxFailure(err error) *failure {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return failAt(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
	}
	hint := ""
	if strings.Contains(list[0].Message, "end of input") {
		hint = "is a closing bracket missing?"
	}
	return failAt(list[0].Position.Line, hint, "%s", strategies.OneLine(list[0].Message, maxMessage))
}

func compilerFailure(err error) *failure {
	var se *goja.CompilerSyntaxError
	if errors.As(err, &se) {
		return failAt(lineAt(se.File, se.Offset), "", "%s", strategies.OneLine(se.Message, maxMessage))
	}
	return failAt(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
}

// differences returns where a script silently means something else here than in node.
func differences(tree *ast.Program) (found []script.Slip) {
	slip := func(at file.Idx, what, hint string) {
		found = append(found, script.Slip{Line: tree.File.Position(int(at) - tree.File.Base()).Line, Doubtful: true, What: what, Hint: hint})
	}
	script.EachNode(reflect.ValueOf(tree.Body), func(v reflect.Value) {
		switch e := v.Interface().(type) {
		case *ast.RegExpLiteral:
			if unicodeClass().MatchString(e.Pattern) {
				slip(e.Idx, "\\p in a regular expression never matches here", "write the letters out, such as [A-Za-z]")
			}
		case *ast.BinaryExpression:
			if right, ok := e.Right.(*ast.BinaryExpression); ok && compares(e.Operator) && compares(right.Operator) {
				slip(e.Idx0(), "a comparison is compared, here from the right and in node from the left", "write a < b && b < c")
			}
		}
	})
	return found
}

func compares(operator token.Token) bool {
	return slices.Contains([]token.Token{token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL}, operator)
}

// unicodeClass matches the classes of characters in a regular expression that this
// interpreter takes for the letter p.
var unicodeClass = script.Pattern(`(?:^|[^\\])(?:\\\\)*\\[pP]\{`)

func lineAt(f *file.File, offset int) int {
	if f == nil {
		return 0
	}
	return f.Position(offset).Line
}

// jsHabits are the forms of other languages, the most specific first.
var jsHabits = script.Habits([][2]string{
	{`\belif\b|\belseif\b`, "write else if"},
	{`\blocal\b`, "declare a variable with const or let"},
	{`^\s*def\b`, "declare a function with function choose(turn) { ... }"},
	{`~=`, "\"not equal\" is !=="},
	{`\bnil\b|\bNone\b`, "use null"},
	{`\bthen\b|\bend\b\s*$`, "blocks are if (...) { ... }"},
	{`\band\b`, "in JavaScript it is &&"}, {`\bor\b`, "in JavaScript it is ||"}, {`\bnot\b`, "in JavaScript it is !"},
	{`\b(if|while|for)\b.*:\s*$|\belse\s*:`, "blocks are if (...) { ... }"},
	{`\b(if|while)\s+[^(\s]`, "put the condition in brackets: if (...) { ... }"},
	{`\.\.[^.]`, "join texts with +"},
	{`:\s*(number|string|boolean|any)\b`, "scripts are JavaScript: leave out the types of TypeScript"},
})

var (
	jsFunction = script.Pattern(`\bfunction\s+(\w+)\s*\(|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:function\b|\(?[\w\s,]*\)?\s*=>)`)
	inObject   = script.Pattern(`\bchoose\s*:|^\s*(?:static\s+)?choose\s*\([^()]*\)\s*\{|\.choose\s*=[^=]`)
)

// declaresChoose matches what makes choose a name at the top level.
var declaresChoose = script.Pattern(`\bfunction\s*\*?\s*choose\b|\bchoose\s*=[^=]|^\s*choose\b`)

// indentedChoose matches a function choose inside of something.
var indentedChoose = script.Pattern(`^\s+(?:async\s+)?function\s*\*?\s*choose\b`)

// noChoose returns the failure of a script without a function choose at its top level:
// with the place where one is declared in another way.
func (f *factory) noChoose() *failure {
	line, hint := 0, "every strategy has function choose(turn) { ... }"
	if n := f.text.First(inObject()); n > 0 {
		line, hint = n, "declare function choose(turn) { ... } by itself, outside of any class or object"
	} else if name, n := f.text.Declared("choose", jsFunction()); n > 0 {
		line, hint = n, fmt.Sprintf("rename %s to choose: upper and lower case matter", name)
	} else if n := f.text.First(indentedChoose()); n > 0 {
		return failAt(n, "build it with --format=esm, or add globalThis.choose = choose; as the last line inside that function",
			"choose is declared inside a function, where nobody can call it")
	}
	return failAt(line, hint, "there is no function choose")
}
