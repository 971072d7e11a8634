package luascript

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// loops knows the variables of numeric loops. Most stores of honest scripts at a
// computed index are t[i] = v in such a loop, and i is small. As i is a number
// for certain, a comparison tells, which is far cheaper than a call of the hook:
//
//	if i <= smallIndex then t[i] = v else hook(t, i, v) end
//
// A name is the variable of a loop only if it means nothing else anywhere in the
// script, which is known at the end.
type loops struct {
	open   map[string]int  // loops around the current node, by variable
	other  map[string]bool // names that are declared or assigned otherwise
	stores []loopStore
}

// loopStore is a store that may be written in the cheap way.
type loopStore struct {
	name   string
	hooked *ast.DoBlockStmt
	direct *ast.AssignStmt
}

func (l *loops) enter(name string) {
	if l.open == nil {
		l.open = make(map[string]int)
	}
	l.open[name]++
}

func (l *loops) leave(name string) { l.open[name]-- }

// declared is told of names of variables that are not those of numeric loops.
func (l *loops) declared(names ...string) {
	if l.other == nil {
		l.other = make(map[string]bool)
	}
	for _, n := range names {
		l.other[n] = true
	}
}

// assigned is told of the targets of assignments.
func (l *loops) assigned(targets ...ast.Expr) {
	for _, t := range targets {
		if id, ok := t.(*ast.IdentExpr); ok {
			l.declared(id.Value)
		}
	}
}

// store is store, or the cheap way if it turns out to be open.
func (l *loops) store(at ast.PositionHolder, target *ast.AttrGetExpr, value ast.Expr) ast.Stmt {
	hooked := store(at, target, value)
	id, ok := target.Key.(*ast.IdentExpr)
	if !ok || l.open[id.Value] == 0 {
		return hooked
	}
	if nodes := mostRepeated; !repeatable(&nodes, target.Object, value) {
		return hooked
	}
	direct := &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{value}}
	block := &ast.DoBlockStmt{Stmts: []ast.Stmt{hooked}}
	place(direct, at)
	place(block, at)
	l.stores = append(l.stores, loopStore{id.Value, block, direct})
	return block
}

// settle writes the stores in the cheap way whose index is a loop's for certain.
func (l *loops) settle() {
	for _, s := range l.stores {
		if l.other[s.name] {
			continue
		}
		bound := &ast.NumberExpr{Value: strconv.Itoa(smallIndex)}
		small := &ast.RelationalOpExpr{Operator: "<=", Lhs: s.direct.Lhs[0].(*ast.AttrGetExpr).Key, Rhs: bound}
		choice := &ast.IfStmt{Condition: small, Then: []ast.Stmt{s.direct}, Else: s.hooked.Stmts}
		place(bound, s.direct)
		place(small, s.direct)
		place(choice, s.direct)
		s.hooked.Stmts = []ast.Stmt{choice}
	}
}

// mostRepeated is how many parts of expressions are compiled twice, once for
// either way of a store, so that no script becomes much longer by that.
const mostRepeated = 24

// repeatable reports whether expressions are short and simple enough to stand
// in the code twice. Only one of the two is ever carried out.
func repeatable(nodes *int, exprs ...ast.Expr) bool {
	for _, expr := range exprs {
		if *nodes--; *nodes < 0 {
			return false
		}
		ok := true
		switch e := expr.(type) {
		case *ast.IdentExpr, *ast.NumberExpr, *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.NilExpr:
		case *ast.AttrGetExpr:
			ok = repeatable(nodes, e.Object, e.Key)
		case *ast.ArithmeticOpExpr:
			ok = repeatable(nodes, e.Lhs, e.Rhs)
		case *ast.RelationalOpExpr:
			ok = repeatable(nodes, e.Lhs, e.Rhs)
		case *ast.LogicalOpExpr:
			ok = repeatable(nodes, e.Lhs, e.Rhs)
		case *ast.UnaryMinusOpExpr:
			ok = repeatable(nodes, e.Expr)
		case *ast.UnaryNotOpExpr:
			ok = repeatable(nodes, e.Expr)
		case *ast.UnaryLenOpExpr:
			ok = repeatable(nodes, e.Expr)
		default: // calls, which the compiler is told how to cut down, functions, tables
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}
