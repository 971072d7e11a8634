package jsscript

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// keys is what is known of the expressions that name members.
type keys struct {
	members  []*ast.Expression           // k of every x[k] whose value may be used as a function
	inert    map[ast.Expression]bool     // whose value is used as something else
	joints   []joint                     // where strings may be put together
	all      []ast.Expression            // every computed name, of whatever is read, written or defined
	drained  map[*ast.ArrayPattern]bool  // patterns with a rest element that the sandbox sees to
	bare     file.Idx                    // one that it does not see to, or 0
	assigned map[string][]ast.Expression // all that is assigned to a variable, whatever its scope
	unknown  map[string]bool             // variables to which something else may be assigned
	kinds    map[string]kind
}

// joint is a place where two values are added, or put into one template.
type joint struct {
	part  *ast.Expression
	other ast.Expression
}

// note gathers what decides about computed member names. It returns true if it
// has walked through the node itself.
func (s *surveyor) note(node any) bool {
	switch n := node.(type) {
	case *ast.BracketExpression:
		s.all = append(s.all, n.Member)
		if !s.inert[n] {
			s.members = append(s.members, &n.Member)
		}
	case *ast.DotExpression:
		if isMath(n.Left) { // the one harmless way to say Math
			s.names["Math"], s.names[n.Identifier.Name.String()] = true, true
			return true
		}
	case *ast.Identifier:
		s.names[n.Name.String()] = true
		s.fills = s.fills || collections[n.Name.String()]
		s.unknown["Math"] = s.unknown["Math"] || n.Name == "Math"
		return true
	case *ast.BinaryExpression:
		if n.Operator == token.PLUS {
			s.joints = append(s.joints, joint{&n.Right, n.Left})
		}
	case *ast.TemplateLiteral:
		for i := range n.Expressions {
			if i > 0 {
				s.joints = append(s.joints, joint{&n.Expressions[i], n.Expressions[0]})
			}
		}
	case *ast.Binding:
		s.assign(n.Target, n.Initializer)
		s.rest(n.Target, &n.Initializer)
	case *ast.AssignExpression:
		s.assignment(n)
		s.rest(n.Left, &n.Right)
	case *ast.UnaryExpression:
		s.deletes = s.deletes || n.Operator == token.DELETE
		if n.Operator == token.INCREMENT || n.Operator == token.DECREMENT {
			s.tampered(n.Operand)
		}
	default:
		s.target(node)
	}
	return false
}

// target notes what variables are assigned to other than by "=".
func (s *surveyor) target(node any) {
	switch n := node.(type) {
	case *ast.ForIntoVar:
		s.forget(n.Binding.Target)
	case *ast.ForDeclaration:
		s.forget(n.Target)
	case *ast.ForIntoExpression:
		s.forget(n.Expression)
	case *ast.CatchStatement:
		if n.Parameter != nil {
			s.forget(n.Parameter)
		}
	case *ast.ArrayPattern:
		if n.Rest != nil && !s.drained[n] {
			s.bare = n.LeftBracket
		}
		s.forget(n)
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			if keyed, ok := p.(*ast.PropertyKeyed); ok && keyed.Computed {
				s.members = append(s.members, &keyed.Key)
				s.all = append(s.all, keyed.Key)
			}
		}
		s.forget(n)
	}
}

func isMath(e ast.Expression) bool {
	id, ok := e.(*ast.Identifier)
	return ok && id.Name == "Math"
}

// mark notes the parts of a node that it makes numbers, texts or truth of, or
// that it assigns to: whatever member is named there, it is not called.
func (s *surveyor) mark(node any) {
	switch n := node.(type) {
	case *ast.BinaryExpression:
		switch n.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE: // either may be the value
			s.inert[n.Left], s.inert[n.Right] = s.inert[n], s.inert[n]
		default:
			s.inert[n.Left], s.inert[n.Right] = true, true
		}
	case *ast.ConditionalExpression:
		s.inert[n.Test] = true
		s.inert[n.Consequent], s.inert[n.Alternate] = s.inert[n], s.inert[n]
	case *ast.UnaryExpression:
		s.inert[n.Operand] = true
	case *ast.AssignExpression:
		switch n.Operator {
		case token.ASSIGN:
			s.inert[n.Left] = true
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		default:
			s.inert[n.Left], s.inert[n.Right] = true, true
		}
	case *ast.BracketExpression:
		s.inert[n.Member] = true
	case *ast.TemplateLiteral:
		for _, e := range n.Expressions {
			s.inert[e] = n.Tag == nil
		}
	case *ast.ExpressionStatement:
		s.inert[n.Expression] = true
	case *ast.IfStatement:
		s.inert[n.Test] = true
	}
}

// params notes that anything may be passed for a parameter.
func (s *surveyor) params(list *ast.ParameterList) {
	for _, b := range list.List {
		s.forget(b.Target)
	}
	if list.Rest != nil {
		s.forget(list.Rest)
	}
}

func (s *surveyor) assignment(n *ast.AssignExpression) {
	switch n.Operator {
	case token.ASSIGN, token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		s.assign(n.Left, n.Right)
	case token.PLUS:
		s.joints = append(s.joints, joint{&n.Right, n.Left})
		s.assign(n.Left, &ast.BinaryExpression{Operator: token.PLUS, Left: n.Left, Right: n.Right})
	default: // what is left is a number
		s.tampered(n.Left)
	}
}

// assign notes an assignment to a target, of nothing if value is nil.
func (s *surveyor) assign(target, value ast.Expression) {
	id, ok := target.(*ast.Identifier)
	if !ok {
		s.forget(target)
		return
	}
	s.declare(id, value)
}

// declare notes the value of a variable. Without one it is undefined, which is
// no name of anything built in.
func (s *surveyor) declare(id *ast.Identifier, value ast.Expression) {
	name := id.Name.String()
	s.names[name] = true
	if name == "choose" && s.chooseLine == 0 {
		s.chooseLine = s.line(id.Idx)
	}
	if value != nil {
		s.assigned[name] = append(s.assigned[name], value)
	}
}

// forget notes that nothing is known of what is assigned to a target.
func (s *surveyor) forget(target ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		s.unknown[t.Name.String()] = true
	case *ast.AssignExpression: // a default within a pattern
		s.forget(t.Left)
	case *ast.Binding:
		s.forget(t.Target)
	case *ast.PropertyShort:
		s.unknown[t.Name.Name.String()] = true
	case *ast.PropertyKeyed:
		s.forget(t.Value)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			s.forget(e)
		}
		s.forget(t.Rest)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			s.forget(p)
		}
		s.forget(t.Rest)
	default:
		s.tampered(target)
	}
}

// tampered notes an assignment to a member of Math.
func (s *surveyor) tampered(target ast.Expression) {
	if dot, ok := target.(*ast.DotExpression); ok && isMath(dot.Left) {
		s.unknown["Math"] = true
	}
}

// What the host calls the functions that survey has the script call. No script
// can say such a name.
const (
	hookKey    = "%key"    // a computed member name
	hookSpread = "%spread" // something iterable, about to be drained
	hookCopy   = "%copy"   // an object, about to be copied into another
	hookText   = "%text"   // what may be a string, about to be appended to one
	hookSuper  = "%super"  // a class, about to be extended
)

// call is an expression that hands another one to a hook.
func call(hook unistring.String, e ast.Expression) ast.Expression {
	at := e.Idx0()
	return &ast.CallExpression{
		Callee: &ast.Identifier{Name: hook, Idx: at}, LeftParenthesis: at,
		ArgumentList: []ast.Expression{e}, RightParenthesis: at,
	}
}

// rest has the sandbox look at what a pattern such as [a, ...b] is about to
// drain.
func (s *surveyor) rest(target ast.Expression, value *ast.Expression) {
	if p, ok := target.(*ast.ArrayPattern); ok && p.Rest != nil && *value != nil {
		s.spreads, s.drained[p] = true, true
		*value = call(hookSpread, *value)
	}
}

// bareRest refuses a rest element in a parameter or within another pattern,
// where no hook fits, if the script may have made an iterator of its own: one
// whose next is a built-in function would be drained for ever.
func (s *surveyor) bareRest() {
	if s.bare == 0 || s.failed != nil {
		return
	}
	suspicious := s.names["next"] || s.open || s.bulk
	for _, k := range s.all {
		suspicious = suspicious || s.kindOf(k) == anything
	}
	if suspicious {
		s.refuse(s.bare, "take it apart in two steps", "a rest element is not available in a parameter or within another pattern "+
			"in a script that has computed names or says \"next\"")
	}
}

// hookKeys has the sandbox look at those member names that may be any text. It
// reports whether there are any.
func (s *surveyor) hookKeys() bool {
	hooked := false
	for _, m := range s.members {
		if s.kindOf(*m) == anything {
			*m = call(hookKey, *m)
			hooked = true
		}
	}
	return hooked
}

// hookTexts has the sandbox look at what is appended to strings. Where one side
// is a number, or stands in the script, nothing can grow fast.
func (s *surveyor) hookTexts() bool {
	hooked := false
	for _, j := range s.joints {
		if s.kindOf(*j.part) == anything && s.kindOf(j.other) == anything {
			*j.part = call(hookText, *j.part)
			hooked = true
		}
	}
	return hooked
}

// kind is what is known of an expression that names a member, from the tamest.
type kind uint8

const (
	numeric kind = iota // nothing but a number
	literal             // or one of the texts that stand in the script, or a symbol
	anything
)

// settleKinds finds the kinds of the variables, which depend on one another:
// they start tame, and are corrected until nothing changes.
func (s *surveyor) settleKinds() {
	s.kinds = make(map[string]kind, len(s.assigned))
	for changed := true; changed; {
		changed = false
		for name, values := range s.assigned {
			k := s.kinds[name]
			for _, v := range values {
				k = max(k, s.kindOf(v))
			}
			if k != s.kinds[name] {
				s.kinds[name], changed = k, true
			}
		}
	}
}

func (s *surveyor) kindOf(e ast.Expression) kind {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return numeric
	case *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return literal
	case *ast.Identifier:
		return s.kindOfVariable(e.Name.String())
	case *ast.UnaryExpression:
		return kindOfUnary(e.Operator)
	case *ast.BinaryExpression:
		return s.kindOfBinary(e)
	case *ast.AssignExpression:
		switch e.Operator {
		case token.ASSIGN, token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE, token.PLUS:
			return max(s.kindOf(e.Left), s.kindOf(e.Right))
		}
		return numeric
	case *ast.ConditionalExpression:
		return max(s.kindOf(e.Consequent), s.kindOf(e.Alternate))
	case *ast.SequenceExpression:
		return s.kindOf(e.Sequence[len(e.Sequence)-1])
	case *ast.DotExpression: // Symbol.iterator
		if id, ok := e.Left.(*ast.Identifier); ok && id.Name == "Symbol" && !s.unknown["Symbol"] && s.assigned["Symbol"] == nil {
			return literal
		}
	case *ast.CallExpression: // Math.floor(x)
		if dot, ok := e.Callee.(*ast.DotExpression); ok && isMath(dot.Left) && !s.unknown["Math"] && s.assigned["Math"] == nil {
			return numeric
		}
	}
	return anything
}

func (s *surveyor) kindOfVariable(name string) kind {
	if s.unknown[name] || s.assigned[name] == nil {
		return anything
	}
	return s.kinds[name]
}

func kindOfUnary(op token.Token) kind {
	switch op {
	case token.PLUS, token.MINUS, token.BITWISE_NOT, token.INCREMENT, token.DECREMENT:
		return numeric
	case token.NOT, token.VOID, token.DELETE:
		return literal
	}
	return anything
}

func (s *surveyor) kindOfBinary(e *ast.BinaryExpression) kind {
	switch e.Operator {
	case token.PLUS:
		if s.kindOf(e.Left) == numeric && s.kindOf(e.Right) == numeric {
			return numeric
		}
	case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT,
		token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
		return numeric
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return max(s.kindOf(e.Left), s.kindOf(e.Right))
	}
	return anything
}
