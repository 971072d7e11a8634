package luascript

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// loop is a numeric loop of a script.
type loop struct {
	stmt   *ast.NumberForStmt
	block  *ast.DoBlockStmt // stands in its place, if it tells
	plain  bool             // there is no loop, function, label or goto in it
	first  int              // of stores, in those of the whole script
	stores []loopStore      // in it
}

// tells reports whether the limit of a loop tells that its variable stays small:
// it counts upwards by one, and its limit is a number for certain. Most are
// "for i = 1, #t".
func (p *loop) tells() bool {
	if !p.plain || p.stmt.Step != nil {
		return false
	}
	if _, ok := p.stmt.Init.(*ast.NumberExpr); !ok {
		return false
	}
	for _, s := range p.stores {
		if s.name == p.stmt.Name {
			switch p.stmt.Limit.(type) {
			case *ast.UnaryLenOpExpr, *ast.NumberExpr:
				return true
			}
		}
	}
	return false
}

// limitName is that of a variable which no script can write.
const limitName = "\x00limit"

// twice writes a loop in two ways, of which one is carried out: if the limit is
// small the stores need no look at the index.
//
//	local limit = #t
//	if limit <= smallIndex then for i = 1, limit do t[i] = v end
//	else for i = 1, limit do hook(t, i, v) end end
//
// A length that a metamethod has made up is compared like any other value.
func (p *loop) twice() {
	direct, hooked := make(map[*ast.DoBlockStmt]ast.Stmt), make(map[*ast.DoBlockStmt]ast.Stmt)
	for _, s := range p.stores {
		if s.name == p.stmt.Name {
			direct[s.block], hooked[s.block] = s.direct, s.hooked
		}
	}
	if n, ok := p.stmt.Limit.(*ast.NumberExpr); ok {
		if harmless(n) {
			p.stmt.Stmts = rewritten(p.stmt.Stmts, direct)
		}
		return
	}
	limit := func() ast.Expr {
		id := &ast.IdentExpr{Value: limitName}
		place(id, p.stmt.Limit)
		return id
	}
	way := func(stores map[*ast.DoBlockStmt]ast.Stmt) []ast.Stmt {
		s := *p.stmt
		s.Limit, s.Stmts = limit(), rewritten(p.stmt.Stmts, stores)
		return []ast.Stmt{&s}
	}
	known := &ast.LocalAssignStmt{Names: []string{limitName}, Exprs: []ast.Expr{p.stmt.Limit}}
	bound := &ast.NumberExpr{Value: strconv.Itoa(smallIndex)}
	small := &ast.RelationalOpExpr{Operator: "<=", Lhs: limit(), Rhs: bound}
	choice := &ast.IfStmt{Condition: small, Then: way(direct), Else: way(hooked)}
	for _, node := range []ast.PositionHolder{known, bound, small, choice} {
		place(node, p.stmt)
	}
	p.block.Stmts = []ast.Stmt{known, choice}
}

// rewritten copies statements with others in the place of some blocks. What has
// no such block in it is the same in both.
func rewritten(stmts []ast.Stmt, with map[*ast.DoBlockStmt]ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, len(stmts))
	for i, stmt := range stmts {
		switch s := stmt.(type) {
		case *ast.DoBlockStmt:
			if other, ok := with[s]; ok {
				out[i] = other
				continue
			}
			inner := *s
			inner.Stmts = rewritten(s.Stmts, with)
			out[i] = &inner
		case *ast.IfStmt:
			inner := *s
			inner.Then, inner.Else = rewritten(s.Then, with), rewritten(s.Else, with)
			out[i] = &inner
		default:
			out[i] = stmt
		}
	}
	return out
}
