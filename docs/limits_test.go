package docs_test

import (
	"go/ast"
	"testing"
)

// longestFunction is what a reader can take in at once.
const longestFunction = 80

func TestFunctionsAreShort(t *testing.T) {
	pkgs, fset := load(t)
	for _, p := range pkgs {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || ast.IsGenerated(f) {
					continue
				}
				from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
				if lines := to.Line - from.Line + 1; lines > longestFunction {
					t.Errorf("%s: function %s has %d lines, more than %d: split it into steps with names", from, fn.Name.Name, lines, longestFunction)
				}
			}
		}
	}
}
