package luascript

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// Three operations of the language can take any amount of memory in a single
// instruction: joining strings, storing at a computed index (the array is
// filled with nils up to it) and spreading "...". They are rewritten, in the
// syntax tree, into calls of hooks that charge for what they do.
//
// In the tree a hook is a string constant, which no script may contain; once
// the code is compiled the constant is replaced by the function. So scripts
// cannot see a hook by any name, let alone replace it.
const (
	hookPrefix = "\x00luascript hook: "
	hookConcat = hookPrefix + "concat"
	hookStore  = hookPrefix + "store"
	hookSpread = hookPrefix + "spread"
	hookKey    = hookPrefix + "key"
	// theNil is no hook but nil: see instrumenter.compared.
	theNil = hookPrefix + "nil"
)

const (
	// maxNesting bounds the recursion of the compiler, as it does in C Lua.
	maxNesting = 200
	// maxConstructor bounds the positional items of a table constructor:
	// beyond 25550 the compiler of gopher-lua 1.1.2 numbers them wrongly.
	maxConstructor = 25000
	// smallIndex is the highest constant index that is stored directly.
	smallIndex = 64
)

// refusal is why a chunk cannot be used. It is raised, by panic, within this
// file only.
type refusal struct {
	line    int
	message string
}

func refuse(at ast.PositionHolder, format string, args ...any) {
	panic(&refusal{at.Line(), fmt.Sprintf(format, args...)})
}

// instrumenter rewrites a syntax tree in place.
type instrumenter struct {
	depth int
	temps int
	loops loops
}

// instrument rewrites a chunk in place. It returns why not if it cannot: the
// chunk is nested too deeply, or some part of it is too large.
func instrument(chunk []ast.Stmt) (why *refusal) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *refusal:
			why = r
		default:
			panic(r)
		}
	}()
	var in instrumenter
	in.block(chunk)
	in.loops.settle()
	return nil
}

func (in *instrumenter) enter(at ast.PositionHolder) {
	if in.depth++; in.depth > maxNesting {
		refuse(at, "nested more than %d levels deep", maxNesting)
	}
}

func (in *instrumenter) leave() { in.depth-- }

func (in *instrumenter) block(stmts []ast.Stmt) {
	for i, s := range stmts {
		stmts[i] = in.stmt(s)
	}
}

func (in *instrumenter) stmt(stmt ast.Stmt) ast.Stmt {
	in.enter(stmt)
	defer in.leave()
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		in.loops.assigned(s.Lhs...)
		in.exprs(s.Lhs)
		in.exprs(s.Rhs)
		return in.assign(s)
	case *ast.LocalAssignStmt:
		in.loops.declared(s.Names...)
		in.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = in.expr(s.Expr)
	case *ast.DoBlockStmt:
		in.block(s.Stmts)
	case *ast.WhileStmt:
		in.loops.complicate()
		s.Condition = in.expr(s.Condition)
		in.block(s.Stmts)
	case *ast.RepeatStmt:
		in.loops.complicate()
		in.block(s.Stmts)
		s.Condition = in.expr(s.Condition)
	case *ast.IfStmt:
		s.Condition = in.expr(s.Condition)
		in.block(s.Then)
		in.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = in.expr(s.Init), in.expr(s.Limit)
		if s.Step != nil {
			s.Step = in.expr(s.Step)
		}
		in.loops.enter(s)
		in.block(s.Stmts)
		return in.loops.leave(s)
	case *ast.GenericForStmt:
		in.loops.complicate()
		in.loops.declared(s.Names...)
		in.exprs(s.Exprs)
		in.block(s.Stmts)
	case *ast.FuncDefStmt: // its name is made of constant fields
		in.loops.complicate()
		in.loops.assigned(s.Name.Func)
		in.loops.declared(s.Func.ParList.Names...)
		in.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		in.exprs(s.Exprs)
	case *ast.GotoStmt, *ast.LabelStmt:
		in.loops.complicate()
	}
	return stmt
}

func (in *instrumenter) exprs(exprs []ast.Expr) {
	for i, e := range exprs {
		exprs[i] = in.expr(e)
	}
}

func (in *instrumenter) expr(expr ast.Expr) ast.Expr {
	in.enter(expr)
	defer in.leave()
	switch e := expr.(type) {
	case *ast.StringExpr:
		if strings.HasPrefix(e.Value, hookPrefix) {
			refuse(e, "the string %q is reserved", e.Value)
		}
	case *ast.Comma3Expr:
		if !e.AdjustRet {
			return call(e, hookSpread, false, e)
		}
	case *ast.AttrGetExpr:
		e.Object, e.Key = in.expr(e.Object), in.expr(e.Key)
	case *ast.TableExpr:
		in.table(e)
	case *ast.FuncCallExpr:
		if e.Func != nil {
			e.Func = in.expr(e.Func)
		} else {
			e.Receiver = in.expr(e.Receiver)
		}
		in.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = in.expr(e.Lhs), in.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = in.compared(e, e.Lhs), in.compared(e, e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = in.expr(e.Lhs), in.expr(e.Rhs)
	case *ast.StringConcatOpExpr:
		return in.concat(e)
	case *ast.UnaryMinusOpExpr:
		e.Expr = in.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = in.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = in.expr(e.Expr)
	case *ast.FunctionExpr:
		in.loops.complicate()
		in.loops.declared(e.ParList.Names...)
		in.block(e.Stmts)
	}
	return expr
}

// compared rewrites an operand of a comparison. The compiler of gopher-lua has no
// constant for nil and loads it every time; with one, x == nil is an
// instruction shorter.
func (in *instrumenter) compared(e *ast.RelationalOpExpr, operand ast.Expr) ast.Expr {
	if _, ok := operand.(*ast.NilExpr); !ok || e.Operator != "==" && e.Operator != "~=" {
		return in.expr(operand)
	}
	n := &ast.StringExpr{Value: theNil}
	place(n, operand)
	return n
}

// concat turns a..(b..(c..d)) into one call. The operator associates to the
// right, so the tree leans that way and parentheses there change nothing.
func (in *instrumenter) concat(e *ast.StringConcatOpExpr) ast.Expr {
	args := []ast.Expr{in.expr(e.Lhs)}
	rest := e.Rhs
	for {
		next, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		args = append(args, in.expr(next.Lhs))
		rest = next.Rhs
	}
	rest = single(in.expr(rest))
	return call(e, hookConcat, true, append(args, rest)...)
}

// single cuts an expression down to one value where it would give several.
func single(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

// table has the computed keys of a constructor pass through a hook. The table
// is new, so the key alone says how large it may become.
func (in *instrumenter) table(e *ast.TableExpr) {
	positional := 0
	for _, f := range e.Fields {
		f.Value = in.expr(f.Value)
		if f.Key == nil {
			positional++
			continue
		}
		if f.Key = in.expr(f.Key); !harmless(f.Key) {
			f.Key = call(f.Key, hookKey, true, single(f.Key))
		}
	}
	if positional > maxConstructor {
		refuse(e, "more than %d items in one table constructor", maxConstructor)
	}
}

// harmless reports whether a store at this key cannot make a table large.
func harmless(key ast.Expr) bool {
	switch k := key.(type) {
	case *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr:
		return true
	case *ast.NumberExpr:
		n, err := strconv.ParseFloat(k.Value, 64)
		return err == nil && n <= smallIndex
	}
	return false
}

func call(at ast.PositionHolder, hook string, one bool, args ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.StringExpr{Value: hook}
	place(f, at)
	c := &ast.FuncCallExpr{Func: f, Args: args, AdjustRet: one}
	place(c, at)
	return c
}

func place(node, at ast.PositionHolder) {
	node.SetLine(at.Line())
	node.SetLastLine(at.LastLine())
}

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
