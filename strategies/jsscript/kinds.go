package jsscript

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

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
