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
//   - if false then ... end inside of for ... in loses what follows it, and so do other
//     constants in conditions;
//   - x = not a and b with a local variable does not write x, or writes it before it is read;
//   - nil and a or b, and other operators with a constant before them, spoil other values;
//   - a number that is too large becomes NaN.
//
// Everything else stays as it is, with the same number of instructions.
func repair(block []ast.Stmt) {
	script.EachNode(reflect.ValueOf(block), func(v reflect.Value) {
		switch e := v.Interface().(type) {
		case *ast.NumberExpr:
			if f, _ := readNumber(e.Value); f >= 1<<63 {
				e.Value = strconv.FormatFloat(f, 'g', -1, 64)
			}
		case *ast.LogicalOpExpr:
			if v.Kind() == reflect.Interface {
				v.Set(reflect.ValueOf(decided(e)))
			}
		}
		block, _ := v.Interface().([]ast.Stmt)
		for i, stmt := range block {
			switch stmt := stmt.(type) {
			case *ast.AssignStmt:
				several := len(stmt.Lhs) > 1 && slices.ContainsFunc(stmt.Lhs, isVariable)
				if several || slices.ContainsFunc(stmt.Rhs, nested) {
					block[i] = inTurn(stmt)
				}
			case *ast.IfStmt:
				stmt.Condition = condition(stmt.Condition)
			case *ast.WhileStmt:
				if _, forever := stmt.Condition.(*ast.TrueExpr); !forever {
					stmt.Condition = condition(stmt.Condition)
				}
			case *ast.RepeatStmt:
				stmt.Condition = condition(stmt.Condition)
			}
		}
	})
}

// condition returns a condition without constants: each becomes a comparison.
func condition(e ast.Expr) ast.Expr {
	constant := func(value string) ast.Expr {
		one, other := at(e, &ast.NumberExpr{Value: "1"}), at(e, &ast.NumberExpr{Value: value})
		return at(e, &ast.RelationalOpExpr{Operator: "==", Lhs: one, Rhs: other})
	}
	switch e := e.(type) {
	case *ast.FalseExpr, *ast.NilExpr:
		return constant("0")
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return constant("1")
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = condition(e.Lhs), condition(e.Rhs)
	case *ast.UnaryNotOpExpr:
		e.Expr = condition(e.Expr)
	}
	return e
}

// decided returns the operand that a logical operator with a constant before it has as its
// value, or else the operation.
func decided(e *ast.LogicalOpExpr) ast.Expr {
	holds := true
	switch e.Lhs.(type) {
	case *ast.FalseExpr, *ast.NilExpr:
		holds = false
	case *ast.TrueExpr, *ast.StringExpr:
	default:
		if !isNumber(e.Lhs) {
			return e
		}
	}
	if holds == (e.Operator == "or") {
		return e.Lhs
	}
	switch value := e.Rhs.(type) { // an operator has one value
	case *ast.FuncCallExpr:
		value.AdjustRet = true
	case *ast.Comma3Expr:
		value.AdjustRet = true
	}
	return e.Rhs
}

// nested reports whether an expression is a logical operator with another one, or a not, as
// an operand.
func nested(e ast.Expr) bool {
	op, ok := e.(*ast.LogicalOpExpr)
	return ok && slices.ContainsFunc([]ast.Expr{op.Lhs, op.Rhs}, func(e ast.Expr) bool {
		switch e.(type) {
		case *ast.LogicalOpExpr, *ast.UnaryNotOpExpr:
			return true
		}
		return false
	})
}

// isNumber reports whether the compiler makes a number of an expression.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return true
	case *ast.UnaryMinusOpExpr:
		return isNumber(e.Expr)
	case *ast.ArithmeticOpExpr:
		return isNumber(e.Lhs) && isNumber(e.Rhs)
	}
	return false
}

// isVariable reports whether an expression is a variable.
func isVariable(e ast.Expr) bool {
	_, ok := e.(*ast.IdentExpr)
	return ok
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
		if isVariable(target) {
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
