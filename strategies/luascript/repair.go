package luascript

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/yuin/gopher-lua/ast"

	"github.com/strategylab/strategylab/strategies/script"
)

// repair rewrites what the compiler of gopher-lua translates wrongly, in silence:
//
//   - a, b = b, a with local variables writes a before it reads it for b;
//   - if false then ... end inside of for ... in loses what follows it;
//   - a number that is too large becomes NaN.
//
// Everything else stays as it is, with the same number of instructions.
func repair(block []ast.Stmt) {
	script.EachNode(reflect.ValueOf(block), func(v reflect.Value) {
		if n, ok := v.Interface().(*ast.NumberExpr); ok {
			if f, _ := readNumber(n.Value); f >= 1<<63 {
				n.Value = strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
		block, _ := v.Interface().([]ast.Stmt)
		for i, stmt := range block {
			switch stmt := stmt.(type) {
			case *ast.AssignStmt:
				if overlaps(stmt) {
					block[i] = inTurn(stmt)
				}
			case *ast.IfStmt:
				switch stmt.Condition.(type) {
				case *ast.FalseExpr, *ast.NilExpr:
					block[i] = at(stmt, &ast.DoBlockStmt{Stmts: stmt.Else})
				}
			}
		}
	})
}

// overlaps reports whether an assignment to several targets reads, for another target, a
// variable that it assigns to: by its name, or perhaps in a function that it calls later.
func overlaps(stmt *ast.AssignStmt) bool {
	if len(stmt.Lhs) == 1 {
		return false
	}
	const several = -1
	readFor := make(map[string]int) // the target that a variable is read for, or several
	lastCall := -1
	read := func(e ast.Expr, i int) {
		script.EachNode(reflect.ValueOf(&e).Elem(), func(v reflect.Value) {
			switch e := v.Interface().(type) {
			case *ast.IdentExpr:
				if of, ok := readFor[e.Value]; ok && of != i {
					readFor[e.Value] = several
				} else {
					readFor[e.Value] = i
				}
			case *ast.FuncCallExpr:
				lastCall = max(lastCall, i)
			}
		})
	}
	for i, value := range stmt.Rhs {
		read(value, i)
	}
	for i, target := range stmt.Lhs {
		if _, ok := target.(*ast.IdentExpr); !ok {
			read(target, i)
		}
	}
	for i, target := range stmt.Lhs {
		if variable, ok := target.(*ast.IdentExpr); ok {
			if of, read := readFor[variable.Value]; read && of != i || lastCall > i {
				return true
			}
		}
	}
	return false
}

// inTurn returns an assignment that evaluates all values before it assigns the first.
// Variables are assigned to after fields, which may name them.
func inTurn(stmt *ast.AssignStmt) ast.Stmt {
	values := &ast.LocalAssignStmt{Names: make([]string, len(stmt.Lhs)), Exprs: stmt.Rhs}
	var fields, variables []ast.Stmt
	for i, target := range slices.Backward(stmt.Lhs) {
		name := fmt.Sprintf("(value %d)", i+1) // no script can use it
		values.Names[i] = name
		value := at(stmt, &ast.IdentExpr{Value: name})
		assign := at(stmt, &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{value}})
		if _, ok := target.(*ast.IdentExpr); ok {
			variables = append(variables, assign)
		} else {
			fields = append(fields, assign)
		}
	}
	return at(stmt, &ast.DoBlockStmt{Stmts: slices.Concat([]ast.Stmt{at(stmt, values)}, fields, variables)})
}

// at gives a new node the lines of another.
func at[N ast.PositionHolder](old ast.PositionHolder, n N) N {
	n.SetLine(old.Line())
	n.SetLastLine(old.LastLine())
	return n
}
