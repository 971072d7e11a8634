package luascript

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

// portable returns a source as the parser, which knows Lua 5.1, understands it: without a
// byte order mark, with the first line a comment if it names an interpreter, and with the
// escapes \x41, \u{41} and \z of later versions, of which the parser would drop the
// backslash. Every line keeps its number. It also returns the escapes that no version has.
func portable(source []byte) ([]byte, []script.Slip) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if bytes.HasPrefix(source, []byte("#")) {
		source = append([]byte("--"), source...)
	}
	if !bytes.ContainsRune(source, '\\') {
		return source, nil
	}
	r := &rewriting{rest: source, line: 1}
	for len(r.rest) > 0 {
		switch c := r.rest[0]; {
		case bytes.HasPrefix(r.rest, []byte("--")):
			if n := longBracket(r.rest[2:]); n > 0 {
				r.copy(2 + n)
				break
			}
			end := bytes.IndexAny(r.rest, "\r\n")
			if end < 0 {
				end = len(r.rest)
			}
			r.copy(end)
		case c == '[':
			r.copy(max(longBracket(r.rest), 1))
		case c == '"' || c == '\'':
			r.quoted(c)
		default:
			r.copy(1)
		}
	}
	return r.out, r.unknown
}

// longBracket returns the length of the [[text]] or [=[text]=] at the beginning of a source,
// 0 without one.
func longBracket(source []byte) int {
	rest, ok := bytes.CutPrefix(source, []byte("["))
	if !ok {
		return 0
	}
	level := len(rest) - len(bytes.TrimLeft(rest, "="))
	if level == len(rest) || rest[level] != '[' {
		return 0
	}
	closing := "]" + strings.Repeat("=", level) + "]"
	if end := bytes.Index(rest[level:], []byte(closing)); end >= 0 {
		return 1 + level + end + len(closing)
	}
	return len(source)
}

// rewriting is a source on its way.
type rewriting struct {
	rest, out []byte
	line      int
	unknown   []script.Slip
}

// copy takes n bytes over.
func (r *rewriting) copy(n int) {
	r.line += bytes.Count(r.rest[:n], []byte("\n"))
	r.out = append(r.out, r.rest[:n]...)
	r.rest = r.rest[n:]
}

// replace takes n bytes away and puts bytes as decimal escapes there.
func (r *rewriting) replace(n int, by string) {
	r.line += bytes.Count(r.rest[:n], []byte("\n"))
	r.rest = r.rest[n:]
	for i := range len(by) {
		r.out = fmt.Appendf(r.out, `\%03d`, by[i])
	}
}

// quoted rewrites a text in quotes. The line breaks that \z skips follow the text.
func (r *rewriting) quoted(quote byte) {
	first := r.line
	skipped := 0
	for r.copy(1); len(r.rest) > 0; {
		switch c := r.rest[0]; {
		case c == quote:
			r.copy(1)
			r.out = append(r.out, bytes.Repeat([]byte("\n"), skipped)...)
			return
		case c == '\n' || c == '\r':
			return // the parser says that it is not closed
		case c != '\\' || len(r.rest) == 1:
			r.copy(1)
		default:
			before := r.line
			if r.escape(); before != r.line && len(r.out) > 0 && r.out[len(r.out)-1] != '\n' {
				skipped += r.line - before
			}
		}
	}
	r.line = max(r.line, first)
}

// escape rewrites the escape at the beginning of the rest.
func (r *rewriting) escape() {
	switch c := r.rest[1]; {
	case c == 'z':
		n := len(r.rest) - len(bytes.TrimLeft(r.rest[2:], " \t\r\n\v\f"))
		r.replace(n, "")
		return
	case c == 'x' && len(r.rest) >= 4:
		if code, err := strconv.ParseUint(string(r.rest[2:4]), 16, 8); err == nil {
			r.replace(4, string([]byte{byte(code)}))
			return
		}
	case c == 'u' && len(r.rest) >= 4 && r.rest[2] == '{':
		digits, _, closed := bytes.Cut(r.rest[3:min(len(r.rest), 3+9)], []byte("}"))
		if code, err := strconv.ParseUint(string(digits), 16, 31); err == nil && closed && utf8.ValidRune(rune(code)) {
			r.replace(4+len(digits), string(rune(code)))
			return
		}
	case c == '\r' && len(r.rest) > 2 && r.rest[2] == '\n':
		r.copy(3)
		return
	case strings.IndexByte("abfnrtv\\\"'\n\r0123456789", c) >= 0:
		r.copy(2)
		return
	}
	r.unknown = append(r.unknown, script.Slip{Line: r.line, Doubtful: true,
		What: fmt.Sprintf("%q is no escape: the backslash is dropped, and later versions of Lua refuse it", r.rest[:2]),
		Hint: `in patterns the escape character is %, as in "%d"; a backslash is "\\"`})
	r.copy(1) // what follows may be of more than one byte
	r.copy(1)
}
