package docs_test

import (
	"go/ast"
	"go/token"
	"testing"
)

func TestNoMutablePackageState(t *testing.T) {
	pkgs, fset := load(t)
	for dir, p := range pkgs {
		vars := map[string]bool{}
		for _, f := range p.files {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
					for _, s := range g.Specs {
						for _, n := range s.(*ast.ValueSpec).Names {
							vars[n.Name] = n.Name != "_"
						}
					}
				}
			}
		}
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				if fn.Recv == nil && fn.Name.Name == "init" && initialises[dir] == "" {
					t.Errorf("%s: %s has an init function: wire things where they are used, so that importing a package does nothing", fset.Position(fn.Pos()), dir)
				}
				if initialises[dir] != "" && ast.IsGenerated(f) {
					continue
				}
				for _, pos := range writes(fn, vars) {
					t.Errorf("%s writes to a package variable: two experiments in one process would share it; make it a field", fset.Position(pos))
				}
			}
		}
	}
}

// writes returns where fn assigns to a package-level variable, or through one,
// that it does not shadow.
func writes(fn *ast.FuncDecl, vars map[string]bool) (found []token.Pos) {
	local := map[string]bool{}
	declare := func(fields *ast.FieldList) {
		if fields == nil {
			return
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				local[n.Name] = true
			}
		}
	}
	declare(fn.Recv)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			declare(n.Params)
			declare(n.Results)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				}
			}
		}
		return true
	})
	check := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.Ident:
				if vars[x.Name] && !local[x.Name] {
					found = append(found, x.Pos())
				}
				return
			default:
				return
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				check(e)
			}
		case *ast.IncDecStmt:
			check(n.X)
		}
		return true
	})
	return found
}
