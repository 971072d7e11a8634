package jsscript

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

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
