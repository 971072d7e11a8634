package luascript

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// loops knows the variables of numeric loops. Most stores of honest scripts at a
// computed index are t[i] = v in such a loop, and i is small. As i is always a
// number, a comparison is enough, which is far cheaper than a call of the hook:
//
//	if i <= smallIndex then t[i] = v else hook(t, i, v) end
//
// And if the limit of the loop shows that i stays small, the limit is compared
// once instead: see twice.
//
// A name is the variable of a loop only if it means nothing else anywhere in the
// script, which is known at the end.
type loops struct {
	open   map[string]int  // loops around the current node, by variable
	around []*loop         // the same, innermost last
	other  map[string]bool // names that are declared or assigned otherwise
	stores []loopStore
	short  []*loop // whose limit may tell
}

// loopStore is a store that may need only the comparison.
type loopStore struct {
	name   string
	block  *ast.DoBlockStmt // stands in its place
	hooked ast.Stmt
	direct *ast.AssignStmt
}

func (l *loops) enter(s *ast.NumberForStmt) {
	if l.open == nil {
		l.open = make(map[string]int)
	}
	l.open[s.Name]++
	l.complicate()
	l.around = append(l.around, &loop{stmt: s, plain: true, first: len(l.stores)})
}

// leave returns the replacement of the loop.
func (l *loops) leave(s *ast.NumberForStmt) ast.Stmt {
	l.open[s.Name]--
	last := len(l.around) - 1
	this := l.around[last]
	l.around = l.around[:last]
	this.stores = l.stores[this.first:len(l.stores):len(l.stores)]
	if !this.tells() {
		return s
	}
	this.block = &ast.DoBlockStmt{Stmts: []ast.Stmt{s}}
	place(this.block, s)
	l.short = append(l.short, this)
	return this.block
}

// complicate notes that the enclosing loops contain code that must not be duplicated.
func (l *loops) complicate() {
	for _, around := range l.around {
		around.plain = false
	}
}

// declared notes variables other than those of numeric loops.
func (l *loops) declared(names ...string) {
	if l.other == nil {
		l.other = make(map[string]bool)
	}
	for _, n := range names {
		l.other[n] = true
	}
}

// assigned notes the targets of assignments.
func (l *loops) assigned(targets ...ast.Expr) {
	for _, t := range targets {
		if id, ok := t.(*ast.IdentExpr); ok {
			l.declared(id.Value)
		}
	}
}

// store is store, or a comparison if the index proves to be a loop variable.
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
	l.stores = append(l.stores, loopStore{id.Value, block, hooked, direct})
	return block
}

// settle rewrites the stores whose index is certainly a loop variable.
func (l *loops) settle() {
	for _, s := range l.stores {
		if l.other[s.name] {
			continue
		}
		bound := &ast.NumberExpr{Value: strconv.Itoa(smallIndex)}
		small := &ast.RelationalOpExpr{Operator: "<=", Lhs: s.direct.Lhs[0].(*ast.AttrGetExpr).Key, Rhs: bound}
		choice := &ast.IfStmt{Condition: small, Then: []ast.Stmt{s.direct}, Else: []ast.Stmt{s.hooked}}
		place(bound, s.direct)
		place(small, s.direct)
		place(choice, s.direct)
		s.block.Stmts = []ast.Stmt{choice}
	}
	for _, short := range l.short {
		if !l.other[short.stmt.Name] {
			short.twice()
		}
	}
}

// mostRepeated is the number of parts of expressions that may be compiled twice,
// once per form of a store, which bounds the growth of a script.
const mostRepeated = 24

// repeatable reports whether expressions are short and simple enough to stand
// in the code twice. Only one of the two ever runs.
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
		default: // calls with adjusted results, functions, tables
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// loop is a numeric loop of a script.
type loop struct {
	stmt   *ast.NumberForStmt
	block  *ast.DoBlockStmt // stands in its place, if it tells
	plain  bool             // there is no loop, function, label or goto in it
	first  int              // of stores, in those of the whole script
	stores []loopStore      // in it
}

// tells reports whether the limit of a loop shows that its variable stays small:
// it counts upwards by one, and its limit is always a number. Most are
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

// limitName is a variable name that no script can write.
const limitName = "\x00limit"

// twice writes a loop in two forms, of which one runs: if the limit is small the
// stores need no check of the index.
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

// rewritten copies statements with replacements for some blocks. Statements
// without such blocks are shared.
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
