package luascript

import (
	"fmt"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Three operations of the language can take any amount of memory in a single
// instruction: joining strings, storing at a computed index (the array is
// filled with nils up to it) and spreading "...". They are rewritten, in the
// syntax tree, into calls of hooks that charge for what they do.
//
// In the tree a hook is a string constant that no script would write; once the
// code is compiled the constant is replaced by the function. So scripts cannot
// see a hook by any name, let alone replace it.
const (
	hookConcat = "\x00luascript hook: concat\x00"
	hookStore  = "\x00luascript hook: store\x00"
	hookSpread = "\x00luascript hook: spread\x00"
	hookKey    = "\x00luascript hook: key\x00"
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

// nestingError is raised, by panic, within this file only.
type nestingError struct {
	line    int
	message string
}

// instrumenter rewrites a syntax tree in place.
type instrumenter struct {
	depth int
	temps int
}

// instrument rewrites a chunk. It fails if the chunk is nested too deeply.
func instrument(chunk []ast.Stmt) (out []ast.Stmt, failed *nestingError) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *nestingError:
			failed = r
		default:
			panic(r)
		}
	}()
	var in instrumenter
	in.block(chunk)
	return chunk, nil
}

func (in *instrumenter) enter(at ast.PositionHolder) {
	if in.depth++; in.depth > maxNesting {
		panic(&nestingError{at.Line(), fmt.Sprintf("nested more than %d levels deep", maxNesting)})
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
		in.exprs(s.Lhs)
		in.exprs(s.Rhs)
		return in.assign(s)
	case *ast.LocalAssignStmt:
		in.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = in.expr(s.Expr)
	case *ast.DoBlockStmt:
		in.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = in.expr(s.Condition)
		in.block(s.Stmts)
	case *ast.RepeatStmt:
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
		in.block(s.Stmts)
	case *ast.GenericForStmt:
		in.exprs(s.Exprs)
		in.block(s.Stmts)
	case *ast.FuncDefStmt: // its name is made of constant fields
		in.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		in.exprs(s.Exprs)
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
		e.Lhs, e.Rhs = in.expr(e.Lhs), in.expr(e.Rhs)
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
		in.block(e.Stmts)
	}
	return expr
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
		panic(&nestingError{e.Line(), fmt.Sprintf("more than %d items in one table constructor", maxConstructor)})
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

// assign rewrites an assignment whose parts have been rewritten already.
func (in *instrumenter) assign(s *ast.AssignStmt) ast.Stmt {
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		if target, ok := computed(s.Lhs[0]); ok {
			return store(s, target, s.Rhs[0])
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

// link puts the hooks where the compiled code names them, and turns tail calls
// into calls. A tail call forgets its caller's line, and the interpreter keeps
// a line of traceback for each of them, by the million if need be.
func link(proto *lua.FunctionProto, hooks map[string]*lua.LFunction) {
	for i, c := range proto.Constants {
		if s, ok := c.(lua.LString); ok {
			if hook, ok := hooks[string(s)]; ok {
				proto.Constants[i] = hook
			}
		}
	}
	const opShift = 26
	for pc, inst := range proto.Code {
		if int(inst>>opShift) == lua.OP_TAILCALL {
			// The compiler made it from a call for all results, and has put a
			// return of them all behind it.
			proto.Code[pc] = inst&(1<<opShift-1) | uint32(lua.OP_CALL)<<opShift
		}
	}
	for _, p := range proto.FunctionPrototypes {
		link(p, hooks)
	}
}
