package jsscript

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies/script"
)

// A script may be an ES module, a CommonJS module or what a bundler makes of one: its hooks
// are then exports instead of global functions.
//
// The parser knows scripts only, so the exports of an ES module are rewritten: each is
// found as the token that the parser refuses, never in a text, a comment or a regular
// expression. Lines stay where they are.

// hooks are the functions that a strategy has.
var hooks = [...]string{"start", "choose", "observe"}

// maxExports bounds the rewriting, which parses the source once more for each export.
const maxExports = 64

// parse returns the syntax tree of a script or of a module that imports nothing, and its
// source as a script.
func parse(source string) (*ast.Program, string, *failure) {
	var after strings.Builder // what follows the source: exports under other names
	for range maxExports + 1 {
		tree, err := parseScript(source + after.String())
		if err == nil {
			return tree, source + after.String(), nil
		}
		at, line := refused(source, err)
		rest := source[at:]
		var failed *failure
		switch {
		case keyword(rest, "return") && !strings.Contains(source, moduleEnd):
			if source, failed = inFunction(source); failed != nil {
				return nil, "", failed
			}
		case keyword(rest, "export"):
			rewritten, names, failed := rewriteExport(rest, line)
			if failed != nil {
				return nil, "", failed
			}
			source = source[:at] + rewritten
			after.WriteString(names)
		case keyword(rest, "import"):
			return nil, "", failAt(line, "bundle the script into one file: esbuild mine.js --bundle --format=esm --outfile=scripts/mine.js",
				"a script cannot import: it has no files and no network")
		default:
			return nil, "", syntaxFailure(err)
		}
	}
	return nil, "", failAt(0, "export start, choose and observe only", "the module has more than %d exports", maxExports)
}

// parseScript parses a script. Source maps would be read from disk, wherever a comment says.
func parseScript(source string) (*ast.Program, error) {
	return parser.ParseFile(nil, chunk, source, 0, parser.WithDisableSourceMaps)
}

// moduleEnd follows a module that is the body of a function.
const moduleEnd = "\n}).call(this, exports, module);"

// inFunction makes a source that returns outside of functions the body of one, as node does
// with every CommonJS module. The hooks that are declared in it are exported first.
func inFunction(source string) (string, *failure) {
	interpreter := ""
	if strings.HasPrefix(source, "#!") {
		interpreter, source, _ = strings.Cut(source, "\n")
		interpreter += "\n"
	}
	const begin = "(function (exports, module) { "
	tree, err := parseScript(interpreter + begin + source + moduleEnd)
	if err != nil {
		return "", syntaxFailure(err)
	}
	hoisted := ""
	script.EachNode(reflect.ValueOf(tree.Body), func(v reflect.Value) {
		f, ok := v.Interface().(*ast.FunctionLiteral)
		if !ok || f.Idx0() > tree.Body[0].Idx0()+1 { // not the outermost
			return
		}
		for _, statement := range f.Body.List {
			if d, ok := statement.(*ast.FunctionDeclaration); ok && slices.Contains(hooks[:], d.Function.Name.Name.String()) {
				hoisted += "exports." + d.Function.Name.Name.String() + " = " + d.Function.Name.Name.String() + "; "
			}
		}
	})
	return interpreter + begin + hoisted + source + moduleEnd, nil
}

// refused returns the place of the first token that the parser refuses: the end of the
// source if that is none of its tokens.
func refused(source string, err error) (at, line int) {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return len(source), 0
	}
	position := list[0].Position
	for range position.Line - 1 {
		next := strings.IndexByte(source[at:], '\n')
		if next < 0 {
			return len(source), position.Line
		}
		at += next + 1
	}
	return min(at+position.Column-1, len(source)), position.Line
}

// keyword reports whether a text begins with a word.
func keyword(text, word string) bool {
	rest, ok := strings.CutPrefix(text, word)
	return ok && (rest == "" || !strings.ContainsAny(rest[:1], "$_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

// The forms of an export. Comments between its words are not among them: bundlers write
// none, and people neither.
var (
	exportFrom    = script.Pattern(`^export\s*(?:\*|\{[^{}]*\}\s*from\b)`)
	exportList    = script.Pattern(`^export\s*\{([^{}]*)\}`)
	exportDefault = script.Pattern(`^export\s+default\b(\s*(?:async\s+)?(?:function\b\s*\*?|class\b)\s*([\pL_$][\pL\pN_$]*)?)?`)
	exportName    = script.Pattern(`^([\pL_$][\pL\pN_$]*)(?:\s+as\s+["']?([\pL_$][\pL\pN_$]*)["']?)?$`)
	comments      = script.Pattern(`(?s)/\*.*?\*/|//[^\n]*`)
)

// rewriteExport rewrites the export that a text begins with, and returns the code that
// sets its names after the script has run.
func rewriteExport(text string, line int) (rewritten, names string, _ *failure) {
	const word = len("export")
	if exportFrom().MatchString(text) {
		return "", "", failAt(line, "bundle the script into one file", "a script cannot export from another file: it has no files")
	}
	if m := exportList().FindStringSubmatch(text); m != nil {
		for _, item := range strings.Split(comments().ReplaceAllString(m[1], ""), ",") {
			if item = strings.TrimSpace(item); item == "" {
				continue
			}
			name := exportName().FindStringSubmatch(item)
			if name == nil {
				return "", "", failAt(line, "", "%.60q is no export", item)
			}
			if as := name[2]; as == "default" || as != name[1] && slices.Contains(hooks[:], as) {
				names += "\nexports." + as + " = " + name[1] + ";"
			}
		}
		return blank(m[0]) + text[len(m[0]):], names, nil
	}
	if m := exportDefault().FindStringSubmatchIndex(text); m != nil {
		end := m[1]
		if m[4] >= 0 { // a declaration with a name
			return blank(text[:m[2]]) + text[m[2]:], "\nexports.default = " + text[m[4]:m[5]] + ";", nil
		}
		if m[2] >= 0 {
			end = m[2]
		}
		return "exports.default =" + lines(text[:end]) + text[end:], "", nil
	}
	return blank(text[:word]) + text[word:], "", nil // of a declaration, which stays
}

// blank returns white space of the same length and lines.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// lines returns the line breaks of a text, and a space.
func lines(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) + " " }

// exporting is where the hooks of a script can be beside its global functions.
type exporting struct {
	exports bool     // it names exports: CommonJS, or an ES module that was rewritten
	bundles []string // global variables that the result of a function is assigned to
}

// exportingOf returns where a script can have put its hooks.
func exportingOf(tree *ast.Program, source string) (e exporting) {
	e.exports = strings.Contains(source, "exports")
	for _, declared := range tree.DeclarationList {
		for _, b := range declared.List {
			call, isCall := b.Initializer.(*ast.CallExpression)
			name, isName := b.Target.(*ast.Identifier)
			if !isCall || !isName {
				continue
			}
			switch call.Callee.(type) {
			case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
				e.bundles = append(e.bundles, name.Name.String())
			}
		}
	}
	return e
}

// install defines module and exports for a script that names them.
func (e *exporting) install(vm *goja.Runtime) {
	if !e.exports {
		return
	}
	module, exports := vm.NewObject(), vm.NewObject()
	_ = module.Set("exports", exports)
	_ = vm.GlobalObject().Set("module", module)
	_ = vm.GlobalObject().Set("exports", exports)
}

// find returns a hook: a global function, or an export, bound to the object that it is a
// method of; nil if there is none. It may run code of the script.
func (e *exporting) find(vm *goja.Runtime, name string) goja.Value {
	if v := vm.Get(name); isFunction(v) {
		return v
	}
	var places []goja.Value
	if module, ok := vm.Get("module").(*goja.Object); e.exports && ok {
		places = append(places, module.Get("exports"))
	}
	for _, bundle := range e.bundles {
		places = append(places, vm.Get(bundle))
	}
	for _, place := range places {
		for range 2 { // the exports, then their default
			o, ok := place.(*goja.Object)
			if !ok {
				break
			}
			v := o.Get(name)
			if name == "choose" && !isFunction(v) && isFunction(o) {
				return o
			}
			if isFunction(v) {
				bind, _ := goja.AssertFunction(v.(*goja.Object).Get("bind"))
				if bound, err := bind(v, o); err == nil {
					return bound
				}
				return v
			}
			place = o.Get("default")
		}
	}
	return nil
}

func isFunction(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}
