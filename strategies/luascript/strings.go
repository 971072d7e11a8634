package luascript

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies/script"
)

// maxRep is the longest result of string.rep, in bytes.
const maxRep = 1 << 20

// stringRep is string.rep of Lua 5.2, which takes a separator, with a limit: a number that
// grew out of hand is a mistake that deserves a better message than the end of the process.
func stringRep(l *lua.LState) int {
	s, n, sep := l.CheckString(1), intArg(l, 2), l.OptString(3, "")
	if n <= 0 || s+sep == "" {
		l.Push(lua.LString(""))
		return 1
	}
	if n > maxRep/len(s+sep) {
		l.RaiseError("the result of string.rep would have more than %d bytes", maxRep)
	}
	l.Push(lua.LString(strings.Repeat(s+sep, n-1) + s))
	return 1
}

// orNil makes a function return nil where it returns nothing, as string.match of gopher-lua
// does if there is no match.
func orNil(f lua.LValue) lua.LGFunction {
	return func(l *lua.LState) int {
		n := f.(*lua.LFunction).GFunction(l)
		if n == 0 {
			l.Push(lua.LNil)
			n = 1
		}
		return n
	}
}

// stringFormat is string.format of Lua 5.1: the conversions of C's printf with
// a width and a precision of at most two digits, and %q.
func stringFormat(l *lua.LState) int {
	format := l.CheckString(1)
	var out []byte
	for arg := 2; ; arg++ {
		text, rest, more := strings.Cut(format, "%")
		if out = append(out, text...); !more {
			break
		}
		m := directivePattern().FindStringSubmatch(rest)
		d := directive{flags: m[1], width: m[2], precision: m[3]}
		rest = rest[len(m[0]):]
		switch {
		case len(d.width) > 2 || len(d.precision) > len(".99"):
			l.RaiseError("invalid format (width or precision too long)")
		case len(d.flags) > 5:
			l.RaiseError("invalid format (repeated flags)")
		case rest == "":
			l.RaiseError("invalid option '%s' to 'format'", "%")
		}
		if d.verb, format = rest[0], rest[1:]; d.verb == '%' && m[0] == "" {
			out, arg = append(out, '%'), arg-1
		} else {
			out = d.append(l, out, arg)
		}
	}
	l.Push(lua.LString(out))
	return 1
}

// directive is one "%-5.2f".
type directive struct {
	flags     string
	width     string
	precision string // with its point, or empty
	verb      byte
}

// directivePattern matches what is between the percent sign and the letter of a directive.
var directivePattern = script.Pattern(`^([-+ #0]*)(\d*)(\.\d*)?`)

// append writes argument number arg.
func (d directive) append(l *lua.LState, out []byte, arg int) []byte {
	switch d.verb {
	case 'c':
		return fmt.Appendf(out, d.spec("-", 's', false), string([]byte{byte(toInt64(l.CheckNumber(arg)))}))
	case 'd', 'i':
		return fmt.Appendf(out, d.spec("-+ 0", 'd', true), toInt64(l.CheckNumber(arg)))
	case 'u':
		return fmt.Appendf(out, d.spec("-0", 'd', true), uint64(toInt64(l.CheckNumber(arg))))
	case 'o', 'x', 'X':
		return fmt.Appendf(out, d.spec("-#0", d.verb, true), uint64(toInt64(l.CheckNumber(arg))))
	case 'e', 'E', 'f', 'g', 'G':
		return d.float(out, float64(l.CheckNumber(arg)))
	case 'q':
		return quote(out, l.CheckString(arg))
	case 's':
		return d.string(out, string(text(l, l.CheckAny(arg))))
	}
	l.RaiseError("invalid option '%%%c' to 'format'", d.verb)
	return out
}

// spec writes the directive in Go's terms, with the flags that mean something.
func (d directive) spec(flags string, verb byte, precise bool) string {
	var b strings.Builder
	b.WriteByte('%')
	for _, f := range flags {
		if strings.ContainsRune(d.flags, f) {
			b.WriteRune(f)
		}
	}
	b.WriteString(d.width)
	if precise {
		b.WriteString(d.precision)
	}
	b.WriteByte(verb)
	return b.String()
}

func (d directive) float(out []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s := lua.LNumber(f).String()
		return fmt.Appendf(out, d.spec("-", 's', false), s)
	}
	if d.precision == "" {
		d.precision = ".6" // as in C; Go would choose
	}
	return fmt.Appendf(out, d.spec("-+ #0", d.verb, true), f)
}

// string counts width and precision in bytes, as C does.
func (d directive) string(out []byte, s string) []byte {
	if d.precision != "" {
		n, _ := strconv.Atoi(d.precision[1:]) // "%.s" is "%.0s"
		s = s[:min(n, len(s))]
	}
	width, _ := strconv.Atoi(d.width)
	pad := strings.Repeat(" ", max(width-len(s), 0))
	if strings.Contains(d.flags, "-") {
		return append(append(out, s...), pad...)
	}
	return append(append(out, pad...), s...)
}

// quote writes a string so that Lua would read it back.
func quote(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			out = append(out, '\\', c)
		case '\r':
			out = append(out, `\r`...)
		case 0:
			out = append(out, `\000`...)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
