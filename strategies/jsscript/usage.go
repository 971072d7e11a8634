package jsscript

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// usage says which built-in functions a script can reach, so that only those
// have to be guarded. It is read off the syntax tree, and that is enough: no
// code can be made at run time.
//
// A global is reached by its name, or through the global object. A method is
// reached by its name as well, or by a member name that is computed: x[k]. Of
// those, survey replaces the ones that might be any text by x[hook(k)], so that
// the sandbox learns of the name in time. Reach is reported too often
// rather than not often enough.
type usage struct {
	names map[string]bool // every name and string literal in the script
	// open says that the script refers to the global object, or to the
	// "constructor" of something: it can get at every global.
	open bool
	// bulk says that it can take methods without saying or computing their
	// names one by one.
	bulk bool

	computes   bool // there are member names that are computed
	appends    bool // there are texts that are put together
	deletes    bool // properties are deleted
	generators bool // there is a function*
	regexps    bool // there may be regular expressions before a string method makes one
	spreads    bool // something iterable is spread, or collected
	fills      bool // collections may be made of something iterable
	chooseLine int  // where choose is declared, 0 if unknown
}

// reaches reports whether a global can be got at.
func (u *usage) reaches(global string) bool { return u.open || u.names[global] }

// mentions reports whether a property can be got at without a computed name.
func (u *usage) mentions(property string) bool { return u.open || u.bulk || u.names[property] }

// bulkNames are built-in functions that hand out others.
var bulkNames = []string{"Reflect", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors", "__lookupGetter__"}

// survey walks a syntax tree. It refuses what the sandbox cannot bound, and hooks
// member names.
func survey(tree *ast.Program) (*usage, *failure) {
	s := &surveyor{
		usage: usage{names: make(map[string]bool)},
		file:  tree.File,
		keys: keys{
			assigned: make(map[string][]ast.Expression), unknown: make(map[string]bool),
			inert: make(map[ast.Expression]bool), drained: make(map[*ast.ArrayPattern]bool),
		},
	}
	for _, stmt := range tree.Body {
		s.visit(reflect.ValueOf(stmt))
	}
	if s.failed != nil {
		return nil, s.failed
	}
	u := &s.usage
	u.open = u.open || u.names["globalThis"] || u.names["constructor"]
	for _, name := range bulkNames {
		u.bulk = u.bulk || u.names[name]
	}
	u.deletes = u.deletes || u.open || u.bulk
	u.names["__proto__"] = u.names["__proto__"] || u.deletes // see objectGuards
	s.settleKinds()
	s.bareRest()
	if s.failed != nil {
		return nil, s.failed
	}
	u.computes = s.hookKeys()
	u.appends = s.hookTexts()
	u.spreads = u.spreads || u.open || u.fills || u.reaches("Array") && u.mentions("from") ||
		u.reaches("Object") && u.mentions("fromEntries")
	u.regexps = u.regexps || u.reaches("RegExp")
	return u, nil
}

// surveyor is a running walk.
type surveyor struct {
	usage
	keys
	file     *file.File
	nesting  int
	function int // functions of their own "this" around the current node
	failed   *failure
}

// visit walks whatever is in v. Reflection sees to it that no kind of node is
// forgotten: what handle does not know is walked through.
func (s *surveyor) visit(v reflect.Value) {
	if s.failed != nil {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			s.visit(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if s.nesting++; s.nesting > maxNesting {
			s.failed = failAt(0, "", "the script is nested too deeply, more than %d levels", maxNesting)
			return
		}
		if !s.handle(v.Interface()) {
			s.visit(v.Elem())
		}
		s.nesting--
	case reflect.Slice:
		for i := range v.Len() {
			s.visit(v.Index(i))
		}
	case reflect.Struct:
		if id, ok := v.Interface().(ast.Identifier); ok {
			s.names[id.Name.String()] = true
			return
		}
		for i := range v.NumField() {
			// The lists of declarations repeat what stands in the bodies.
			if v.Type().Field(i).Name != "DeclarationList" {
				s.visit(v.Field(i))
			}
		}
	}
}

// walk visits a node, or nothing.
func (s *surveyor) walk(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			s.visit(reflect.ValueOf(n))
		}
	}
}

// handle notes what is to be known of a node. It returns true if it has walked
// through the node's parts itself.
func (s *surveyor) handle(node any) bool {
	switch n := node.(type) {
	case *ast.StringLiteral:
		s.names[n.Value.String()] = true
		return true
	case *ast.NumberLiteral:
		if _, ok := n.Value.(*big.Int); ok {
			s.refuse(n.Idx, "use numbers", "BigInt is not available")
		}
		return true
	case *ast.RegExpLiteral:
		s.regexps = true
		if err := checkPattern(n.Pattern, n.Flags); err != nil {
			s.refuse(n.Idx, "", "%s", err.Error())
		}
		return true
	case *ast.ThisExpression:
		s.open = s.open || s.function == 0
		return true
	case *ast.AwaitExpression:
		s.refuse(n.Await, asyncHint, "await is not available")
	case *ast.SpreadElement:
		s.spreads = true
		n.Expression = call(hookSpread, n.Expression)
	case *ast.NewExpression:
		if id, ok := n.Callee.(*ast.Identifier); ok && collections[id.Name.String()] && len(n.ArgumentList) == 0 {
			s.names[id.Name.String()] = true
			return true
		}
	case *ast.ObjectLiteral:
		s.object(n)
		return true
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
		return s.code(node)
	default:
		s.mark(node)
		return s.note(node) // what keys want to know
	}
	return false
}

// collections are constructors that take something to iterate over.
var collections = map[string]bool{"Map": true, "Set": true, "WeakMap": true, "WeakSet": true}

// object walks an object literal. Its keys are no names that the script reads.
func (s *surveyor) object(n *ast.ObjectLiteral) {
	for _, p := range n.Value {
		switch p := p.(type) {
		case *ast.PropertyKeyed:
			s.definition(p.Key, p.Computed)
			s.walk(p.Value)
		case *ast.SpreadElement:
			s.names[hookCopy] = true
			p.Expression = call(hookCopy, p.Expression)
			s.walk(p.Expression)
		default:
			s.walk(p)
		}
	}
}

const asyncHint = "choose has to answer at once: there is nothing to wait for"

// code walks through what has a body of statements.
func (s *surveyor) code(node any) bool {
	switch n := node.(type) {
	case *ast.FunctionLiteral:
		if n.Async {
			s.refuse(n.Function, asyncHint, "async functions are not available")
		}
		s.generators = s.generators || n.Generator
		if n.Name != nil {
			s.declare(n.Name, nil)
			s.forget(n.Name)
		}
		s.params(n.ParameterList)
		s.function++
		s.walk(n.ParameterList.Rest)
		s.visit(reflect.ValueOf(n.ParameterList.List))
		s.walk(n.Body)
		s.function--
	case *ast.ArrowFunctionLiteral:
		if n.Async {
			s.refuse(n.Start, asyncHint, "async functions are not available")
		}
		s.params(n.ParameterList)
		return false
	case *ast.ClassLiteral:
		if n.Name != nil {
			s.declare(n.Name, nil)
			s.forget(n.Name)
		}
		if n.SuperClass != nil {
			s.names[hookSuper] = true
			n.SuperClass = call(hookSuper, n.SuperClass)
			s.walk(n.SuperClass)
		}
		for _, e := range n.Body {
			s.element(e)
		}
	}
	return true
}

// element walks a part of a class. In it, "this" is never the global object.
func (s *surveyor) element(e ast.ClassElement) {
	switch e := e.(type) {
	case *ast.MethodDefinition:
		s.definition(e.Key, e.Computed)
		s.walk(e.Body)
	case *ast.FieldDefinition:
		s.definition(e.Key, e.Computed)
		s.function++
		s.walk(e.Initializer)
		s.function--
	default:
		s.function++
		s.walk(e)
		s.function--
	}
}

// definition walks the key of something that is defined. It is no name that the
// script reads, but "next" matters wherever it stands: see bareRest.
func (s *surveyor) definition(key ast.Expression, computed bool) {
	if computed {
		s.all = append(s.all, key)
		s.walk(key)
	} else if name, ok := key.(*ast.StringLiteral); ok && name.Value == "next" {
		s.names["next"] = true
	}
}

func (s *surveyor) refuse(at file.Idx, hint, format string, args ...any) {
	if s.failed == nil {
		s.failed = failAt(s.line(at), hint, format, args...)
	}
}

func (s *surveyor) line(at file.Idx) int {
	return lineAt(s.file, int(at)-s.file.Base())
}
