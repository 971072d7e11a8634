package luascript

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// assign rewrites an assignment whose parts have been rewritten already.
func (in *instrumenter) assign(s *ast.AssignStmt) ast.Stmt {
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		if target, ok := computed(s.Lhs[0]); ok {
			return in.loops.store(s, target, s.Rhs[0])
		}
		if c, ok := s.Rhs[0].(*ast.FuncCallExpr); ok {
			// One target takes one value anyway. Told to cut the results down
			// to one, gopher-lua 1.1.2 miscompiles a call that is assigned to
			// the last parameter of a function.
			c.AdjustRet = false
		}
		return s
	}
	if in.plain(s) {
		return s
	}
	return in.spreadOut(s)
}

// plain reports whether an assignment to several targets can be left as it is.
// It cannot if it stores at a computed index, nor if it assigns the result of
// a call to a name: see assign.
func (in *instrumenter) plain(s *ast.AssignStmt) bool {
	for _, l := range s.Lhs {
		if _, ok := computed(l); ok {
			return false
		}
	}
	for _, r := range s.Rhs {
		if _, ok := r.(*ast.FuncCallExpr); ok {
			return false
		}
	}
	return true
}

// spreadOut turns an assignment to several targets into a block that takes
// down all tables, keys and values before it stores anything, from right to
// left, as C Lua does.
func (in *instrumenter) spreadOut(s *ast.AssignStmt) ast.Stmt {
	block := &ast.DoBlockStmt{}
	place(block, s)
	targets := make([]ast.Expr, len(s.Lhs))
	for i, l := range s.Lhs {
		target, ok := l.(*ast.AttrGetExpr)
		if !ok {
			targets[i] = l
			continue
		}
		object := in.local(block, s, single(target.Object))
		key := target.Key
		if !harmless(key) {
			key = in.local(block, s, single(key))
		}
		get := &ast.AttrGetExpr{Object: object, Key: key}
		place(get, s)
		targets[i] = get
	}
	values := in.locals(block, s, len(s.Lhs), s.Rhs...)
	for i := len(targets) - 1; i >= 0; i-- {
		if target, ok := computed(targets[i]); ok {
			block.Stmts = append(block.Stmts, store(s, target, values[i]))
			continue
		}
		one := &ast.AssignStmt{Lhs: targets[i : i+1], Rhs: values[i : i+1]}
		place(one, s)
		block.Stmts = append(block.Stmts, one)
	}
	return block
}

func (in *instrumenter) local(b *ast.DoBlockStmt, at ast.PositionHolder, value ast.Expr) ast.Expr {
	return in.locals(b, at, 1, value)[0]
}

// locals declares n local variables, under names that no script can write, and
// returns expressions for them.
func (in *instrumenter) locals(b *ast.DoBlockStmt, at ast.PositionHolder, n int, values ...ast.Expr) []ast.Expr {
	decl := &ast.LocalAssignStmt{Exprs: values}
	place(decl, at)
	idents := make([]ast.Expr, n)
	for i := range idents {
		in.temps++
		id := &ast.IdentExpr{Value: fmt.Sprintf("\x00%d", in.temps)}
		place(id, at)
		decl.Names = append(decl.Names, id.Value)
		idents[i] = id
	}
	b.Stmts = append(b.Stmts, decl)
	return idents
}

// computed returns a target whose index is not known to be harmless.
func computed(target ast.Expr) (*ast.AttrGetExpr, bool) {
	get, ok := target.(*ast.AttrGetExpr)
	if !ok || harmless(get.Key) {
		return nil, false
	}
	return get, true
}

func store(at ast.PositionHolder, target *ast.AttrGetExpr, value ast.Expr) ast.Stmt {
	s := &ast.FuncCallStmt{Expr: call(at, hookStore, false, target.Object, target.Key, single(value))}
	place(s, at)
	return s
}
