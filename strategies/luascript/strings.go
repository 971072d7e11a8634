package luascript

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
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
	arg := 1
	for {
		text, rest, more := strings.Cut(format, "%")
		out = append(out, text...)
		if !more {
			break
		}
		if strings.HasPrefix(rest, "%") {
			out, format = append(out, '%'), rest[1:]
			continue
		}
		d, rest := readDirective(l, rest)
		arg++
		out = d.append(l, out, arg)
		format = rest
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

func readDirective(l *lua.LState, s string) (directive, string) {
	var d directive
	rest := strings.TrimLeft(s, "-+ #0")
	d.flags = s[:len(s)-len(rest)]
	d.width, rest = digits(l, rest)
	if strings.HasPrefix(rest, ".") {
		d.precision, rest = digits(l, rest[1:])
		d.precision = "." + d.precision
	}
	if len(d.flags) > 5 {
		l.RaiseError("invalid format (repeated flags)")
	}
	if rest == "" {
		l.RaiseError("invalid option '%s' to 'format'", "%")
	}
	d.verb = rest[0]
	return d, rest[1:]
}

// digits reads a number of at most two digits.
func digits(l *lua.LState, s string) (number, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n > 2 {
		l.RaiseError("invalid format (width or precision too long)")
	}
	return s[:n], s[n:]
}

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
