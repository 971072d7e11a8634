package luascript

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/pm"

	"github.com/strategylab/strategylab/strategies/script"
)

// Authors learn Lua 5.3 or 5.4. What these have and this Lua has not is an error that says
// so, or is supplied; what silently does something else is a slip: seen in the syntax tree,
// or when the watched script calls a function with arguments that matter.

// laterSyntax returns what to write instead of the syntax of a later version that the parser
// refuses at a token, "" for any other.
func laterSyntax(source []byte, token string, line, column int) string {
	for range line - 1 {
		_, source, _ = bytes.Cut(source, []byte("\n"))
	}
	if column < 1 || column > len(source) {
		return ""
	}
	before, rest := source[:column-1], source[column-1:]
	double := len(rest) > 1 && rest[0] == rest[1] || bytes.HasSuffix(before, rest[:1])
	switch c := rest[0]; {
	case c == '/' && double:
		return "// is an operator of Lua 5.3: write math.floor(a / b)"
	case (c == '<' || c == '>') && double:
		return fmt.Sprintf("%c%c is an operator of Lua 5.3: multiply by 2^n, or write math.floor(a / 2^n)", c, c)
	case c == '&' && !double:
		return "& is an operator of Lua 5.3: a % 2^n are the lowest n bits"
	case (c == '|' || c == '~') && !double:
		return fmt.Sprintf("%c is an operator of Lua 5.3: here numbers have no bits, use math.floor and %%", c)
	case c == '<' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], " "), []byte("const")):
		return "<const> is of Lua 5.4: leave it out"
	case c == '<' && bytes.HasPrefix(bytes.TrimLeft(rest[1:], " "), []byte("close")):
		return "<close> is of Lua 5.4: leave it out, nothing has to be closed here"
	case bytes.HasSuffix(bytes.TrimRight(before, " \t"), []byte("break")) || bytes.Contains(before, []byte("break;")):
		return "break has to be the last statement of its block: write do break end"
	case strings.HasPrefix(strings.ToLower(token), "p") && bytes.Contains(bytes.ToLower(before), []byte("0x")) || strings.ToLower(token) == "0x":
		return "write the hexadecimal number without fraction and exponent"
	}
	return ""
}

// differences returns where a script means something else in Lua 5.4.
func differences(tree []ast.Stmt) (found []script.Slip) {
	slips := make(map[any]script.Slip) // by node, since what is only printed does not count
	var order []any
	slip := func(at ast.PositionHolder, hint, format string, args ...any) {
		order = append(order, at)
		slips[at] = script.Slip{Line: at.Line(), What: fmt.Sprintf(format, args...), Hint: hint, Doubtful: true}
	}
	script.EachNode(reflect.ValueOf(tree), func(v reflect.Value) {
		if v.Kind() != reflect.Pointer {
			return
		}
		switch e := v.Interface().(type) {
		case *ast.NumberExpr:
			if f, exact := readNumber(e.Value); !exact {
				slip(e, "all numbers are floating point here, exact up to 2^53", "the number %.40s is read as %s", e.Value, lua.LNumber(f))
			}
		case *ast.IdentExpr:
			if e.Value == "_ENV" {
				slip(e, "the global variables are in _G", "_ENV has no effect in Lua 5.1")
			}
		case *ast.StringExpr:
			if ignoredEvents[e.Value] {
				slip(e, "call a function of your own", "no metamethod %s is ever called in Lua 5.1", e.Value)
			}
		case *ast.StringConcatOpExpr:
			if isFloat(e.Lhs) || isFloat(e.Rhs) {
				slip(e, floatHint, floatText)
			}
		case *ast.FuncCallExpr:
			switch f, _ := e.Func.(*ast.IdentExpr); {
			case f == nil:
			case f.Value == "tostring" && len(e.Args) == 1 && isFloat(e.Args[0]):
				slip(e, floatHint, floatText)
			case f.Value == "print":
				script.EachNode(reflect.ValueOf(e.Args), func(v reflect.Value) {
					if v.Kind() == reflect.Pointer && slips[v.Interface()].Hint == floatHint {
						delete(slips, v.Interface())
					}
				})
			}
		}
	})
	for _, at := range order {
		if s, ok := slips[at]; ok {
			found = append(found, s)
		}
	}
	return found
}

const (
	floatText = "a float becomes text: Lua 5.3 writes 5.0 where this Lua writes 5"
	floatHint = `string.format("%.1f", x) and string.format("%d", x) give the same in all versions`
)

// ignoredEvents are the metamethods of later versions that nothing calls here.
var ignoredEvents = map[string]bool{"__pairs": true, "__gc": true, "__close": true, "__name": true}

// isFloat reports whether an expression is a float in Lua 5.3 whatever its operands are, and
// may be whole.
func isFloat(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ArithmeticOpExpr:
		return e.Operator == "/" || e.Operator == "^"
	case *ast.NumberExpr:
		f, _ := readNumber(e.Value)
		return f == math.Trunc(f) && !isHex(e.Value) && strings.ContainsAny(e.Value, ".eE")
	}
	return false
}

func isHex(number string) bool { return strings.HasPrefix(strings.ToLower(number), "0x") }

// readNumber returns the value of a number in a script. A whole one is inexact if it has too
// many digits; fractions are rounded in every version.
func readNumber(number string) (f float64, exact bool) {
	if n, ok := new(big.Int).SetString(number, 0); ok {
		f, accuracy := new(big.Float).SetInt(n).Float64()
		return f, accuracy == big.Exact
	}
	f, _ = strconv.ParseFloat(number, 64)
	return f, true
}

// inspect adds what silently differs to the functions of a watched state.
func (w *watch) inspect(l *lua.LState) {
	for _, lib := range []string{"", lua.TabLibName, lua.StringLibName, lua.MathLibName} {
		table := l.G.Global
		if lib != "" {
			table = table.RawGetString(lib).(*lua.LTable)
		}
		for _, name := range names(table) {
			f, ok := table.RawGetString(name).(*lua.LFunction)
			full := strings.TrimPrefix(lib+"."+name, ".")
			if check := inspections[full]; ok && check != nil {
				inspected := *f // with its upvalues
				inspected.GFunction = func(l *lua.LState) int {
					line, _, _ := cutPosition(l.Where(1))
					if what, hint := check(l); what != "" && line > 0 {
						w.seen(script.Slip{Line: line, What: full + " " + what, Hint: hint, Doubtful: true})
					}
					return f.GFunction(l)
				}
				table.RawSetString(name, &inspected)
			}
		}
	}
}

// inspections say of the arguments of a call how its result differs from Lua 5.4; "" if it
// does not.
var inspections = map[string]func(*lua.LState) (what, hint string){
	"select": whole(1), "table.unpack": whole(2, 3), "unpack": whole(2, 3), "table.concat": whole(3, 4),
	"table.insert": func(l *lua.LState) (what, hint string) {
		if l.GetTop() < 3 {
			return "", ""
		}
		return inList(l, 1)
	},
	"table.remove": func(l *lua.LState) (what, hint string) {
		if l.GetTop() < 2 {
			return "", ""
		}
		return inList(l, 1)
	},
	"string.byte": whole(2, 3), "string.char": whole(1, 2, 3), "string.rep": whole(2), "string.sub": whole(2, 3),
	"string.find": pattern, "string.match": pattern, "string.gmatch": repeatedPattern, "string.gsub": repeatedPattern,
	"math.random": whole(1, 2),
	"string.format": func(l *lua.LState) (what, hint string) {
		format, _ := l.Get(1).(lua.LString)
		for at := 2; ; at++ {
			_, rest, more := strings.Cut(string(format), "%")
			rest = strings.TrimLeft(rest, "-+ #0123456789.")
			if !more || rest == "" {
				return "", ""
			}
			if format = lua.LString(rest[1:]); rest[0] == '%' {
				at--
			} else if n, ok := l.Get(at).(lua.LNumber); ok && strings.IndexByte("diouxXc", rest[0]) >= 0 && fractional(n) {
				return fmt.Sprintf("cuts a number with a fraction off for %%%c: Lua 5.3 refuses it", rest[0]), wholeHint
			}
		}
	},
	"math.type": func(l *lua.LState) (what, hint string) {
		if n, ok := l.Get(1).(lua.LNumber); ok && !fractional(n) {
			return `says "integer" of every whole number: Lua 5.3 says "float" of 5.0 and 10/2`, "x == math.floor(x) is the same in all versions"
		}
		return "", ""
	},
}

const wholeHint = "write math.floor(x)"

func fractional(n lua.LNumber) bool { return float64(n) != math.Trunc(float64(n)) } // NaN, too

// whole inspects arguments that have to be whole numbers.
func whole(args ...int) func(*lua.LState) (what, hint string) {
	return func(l *lua.LState) (what, hint string) {
		for _, at := range args {
			if n, ok := l.Get(at).(lua.LNumber); ok && fractional(n) {
				return fmt.Sprintf("cuts off the fraction of argument %d: Lua 5.3 refuses it", at), wholeHint
			}
		}
		return "", ""
	}
}

// inList inspects the position in a list, which may be up to extra places after its end.
func inList(l *lua.LState, extra int) (what, hint string) {
	t, isTable := l.Get(1).(*lua.LTable)
	n, isNumber := l.Get(2).(lua.LNumber)
	switch {
	case !isTable || !isNumber:
		return "", ""
	case fractional(n):
		return whole(2)(l)
	case int64(n) > int64(t.Len()+extra) || n < 1 && !(n == 0 && t.Len() == 0):
		return "is called with a position outside of the list: Lua 5.3 refuses it", "positions are 1 to #list"
	}
	return "", ""
}

// pattern inspects a pattern.
func pattern(l *lua.LState) (what, hint string) {
	p, _ := l.Get(2).(lua.LString)
	if lua.LVAsBool(l.Get(4)) { // it is a plain text
		return "", ""
	}
	for i := 0; i+1 < len(p); i++ {
		if p[i] != '%' {
			continue
		}
		switch i++; p[i] {
		case 'f':
			return "knows no %f: it means the letter f here", "find the beginning of a word by a class before it, as in \"%A(%a+)\""
		case 'g', 'G':
			return fmt.Sprintf("knows no %%%c: it means the letter %c here", p[i], p[i]), "write [^%s%c]"
		}
	}
	return "", ""
}

// repeatedPattern inspects a pattern that is searched for again after each match.
func repeatedPattern(l *lua.LState) (what, hint string) {
	if what, hint = pattern(l); what != "" {
		return what, hint
	}
	subject, p := lua.LVAsString(l.Get(1)), lua.LVAsString(l.Get(2))
	const longest = 1 << 12
	if len(subject) > longest || l.Get(3) == lua.LString("") {
		return "", ""
	}
	matches, err := pm.Find(p, []byte(subject), 0, longest)
	if err != nil {
		return "", ""
	}
	for i, m := range matches {
		if i > 0 && m.Capture(0) == m.Capture(1) && m.Capture(0) == matches[i-1].Capture(1) {
			return "finds an empty text right after another match: Lua 5.4 does not", "write + instead of *, if the text should have a character"
		}
	}
	return "", ""
}
