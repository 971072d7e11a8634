package luascript

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// binding is one entry of a library.
type binding struct {
	name  string
	value lua.LValue
}

// sandbox is everything that scripts can reach. All machines of all scripts share the functions,
// which none can change; each gets new tables, always in the same order, because a script can see
// the order with pairs. (The stock way to open a library goes through a Go map: its order differs
// every time.)
type sandbox struct {
	base, table, string, math []binding
}

// theSandbox is built for the first script.
var theSandbox = sync.OnceValue(func() *sandbox {
	stock := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer stock.Close()
	lib := func(name string, open lua.LGFunction) *lua.LTable {
		stock.Push(stock.NewFunction(open))
		stock.Push(lua.LString(name))
		stock.Call(1, 0)
		if name == lua.BaseLibName {
			return stock.G.Global
		}
		return stock.G.Global.RawGetString(name).(*lua.LTable)
	}
	text := lib(lua.StringLibName, lua.OpenString)
	return &sandbox{
		base: append([]binding{{"_VERSION", lua.LString(lua.LuaVersion)}}, bind(lib(lua.BaseLibName, lua.OpenBase), []builtin{
			{"assert", nil}, {"error", nil}, {"getmetatable", nil}, {"ipairs", nil}, {"next", nil},
			{"pairs", nil}, {"pcall", basePCall}, {"print", basePrint}, {"rawequal", nil}, {"rawget", nil},
			{"rawset", baseRawSet}, {"select", nil}, {"setmetatable", baseSetMetatable}, {"tonumber", baseToNumber},
			{"tostring", baseToString}, {"type", nil}, {"unpack", unpack}, {"xpcall", baseXPCall},
		})...),
		table: bind(nil, []builtin{
			{"concat", tableConcat}, {"insert", tableInsert}, {"maxn", tableMaxN}, {"remove", tableRemove},
			{"sort", tableSort}, {"move", tableMove}, {"pack", tablePack}, {"unpack", unpack},
		}),
		string: bind(text, []builtin{
			{"byte", nil}, {"char", nil}, {"find", nil}, {"format", stringFormat},
			{"gmatch", nil}, {"gsub", nil}, {"len", nil}, {"lower", nil},
			{"match", orNil(text.RawGetString("match"))}, {"rep", stringRep}, {"reverse", nil}, {"sub", nil},
			{"upper", nil},
		}),
		math: append([]binding{{"huge", lua.LNumber(math.Inf(1))}, {"pi", lua.LNumber(math.Pi)}}, bind(lib(lua.MathLibName, lua.OpenMath), []builtin{
			{"abs", nil}, {"acos", nil}, {"asin", nil}, {"atan", mathAtan}, {"atan2", nil}, {"ceil", nil}, {"cos", nil},
			{"cosh", nil}, {"deg", nil}, {"exp", nil}, {"floor", nil}, {"fmod", nil}, {"frexp", nil}, {"ldexp", nil},
			{"log", mathLog}, {"log10", nil}, {"max", nil}, {"min", nil}, {"modf", nil}, {"pow", nil}, {"rad", nil},
			{"random", mathRandom}, {"sin", nil}, {"sinh", nil}, {"sqrt", nil}, {"tan", nil}, {"tanh", nil},
			{"tointeger", mathToInteger}, {"type", mathType},
		})...),
	}
})

// builtin is our function; nil means the stock one, which reaches nothing outside and
// depends on nothing but its arguments.
type builtin struct {
	name string
	f    lua.LGFunction
}

func bind(stock *lua.LTable, builtins []builtin) []binding {
	out := make([]binding, len(builtins))
	for i, b := range builtins {
		if out[i].name = b.name; b.f != nil {
			out[i].value = function(b.f)
		} else {
			out[i].value = stock.RawGetString(b.name)
		}
	}
	return out
}

// furnish puts everything into a new state.
func (s *sandbox) furnish(l *lua.LState) {
	globals := l.G.Global
	fill(globals, s.base)
	globals.RawSetString("_G", globals)
	for _, lib := range []struct {
		name     string
		bindings []binding
	}{{lua.TabLibName, s.table}, {lua.StringLibName, s.string}, {lua.MathLibName, s.math}} {
		t := l.CreateTable(0, len(lib.bindings))
		fill(t, lib.bindings)
		globals.RawSetString(lib.name, t)
	}
	meta := l.CreateTable(0, 1)
	meta.RawSetString("__index", globals.RawGetString(lua.StringLibName))
	l.SetMetatable(lua.LString(""), meta) // of all strings in this state
}

// setParams sets the table params, unless the script declares none: it may then have a
// variable of that name.
func (f *factory) setParams(l *lua.LState) {
	if len(f.params) == 0 {
		return
	}
	t := l.CreateTable(0, len(f.params))
	for _, p := range f.params {
		if p.Words != nil {
			t.RawSetString(p.Name, lua.LString(p.Default))
		} else {
			t.RawSetString(p.Name, lua.LNumber(p.Number(p.Default)))
		}
	}
	l.G.Global.RawSetString("params", t)
}

func fill(t *lua.LTable, bindings []binding) {
	for _, b := range bindings {
		t.RawSetString(b.name, b.value)
	}
}

// maxInterval is the largest number of integers that math.random chooses among:
// all that a Lua number can count.
const maxInterval = 1 << 53

// mathRandom is math.random of Lua 5.1 over the seat's own stream: a number in
// [0, 1), a whole number in [1, n], or one in [m, n].
func mathRandom(l *lua.LState) int {
	rand := of(l).rand
	low, high := 1, 0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(rand.Float64()))
		return 1
	case 1:
		high = intArg(l, 1)
	case 2:
		low, high = intArg(l, 1), intArg(l, 2)
	default:
		l.RaiseError("wrong number of arguments")
	}
	if low > high {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	if high-low >= maxInterval {
		l.ArgError(l.GetTop(), "interval is too large")
	}
	l.Push(lua.LNumber(low + rand.IntN(high-low+1)))
	return 1
}

// mathAtan is math.atan of Lua 5.3, which takes the x of a point as well.
func mathAtan(l *lua.LState) int {
	l.Push(lua.LNumber(math.Atan2(float64(l.CheckNumber(1)), float64(l.OptNumber(2, 1)))))
	return 1
}

// mathLog is math.log of Lua 5.2, which takes a base.
func mathLog(l *lua.LState) int {
	x, result := float64(l.CheckNumber(1)), 0.0
	switch base := float64(l.OptNumber(2, math.E)); base {
	case math.E:
		result = math.Log(x)
	case 2:
		result = math.Log2(x)
	case 10:
		result = math.Log10(x)
	default:
		result = math.Log(x) / math.Log(base)
	}
	l.Push(lua.LNumber(result))
	return 1
}

// mathToInteger is math.tointeger of Lua 5.3: the number if it is whole, or nil.
func mathToInteger(l *lua.LState) int {
	n, ok := l.CheckAny(1).(lua.LNumber)
	if ok && !fractional(n) && !math.IsInf(float64(n), 0) {
		l.Push(n)
	} else {
		l.Push(lua.LNil)
	}
	return 1
}

// mathType is math.type of Lua 5.3, by the value of the number: all are floats here.
func mathType(l *lua.LState) int {
	switch n, ok := l.CheckAny(1).(lua.LNumber); {
	case !ok:
		l.Push(lua.LNil)
	case fractional(n) || math.IsInf(float64(n), 0):
		l.Push(lua.LString("float"))
	default:
		l.Push(lua.LString("integer"))
	}
	return 1
}

// tablePack is table.pack of Lua 5.2.
func tablePack(l *lua.LState) int {
	n := l.GetTop()
	t := l.CreateTable(n, 1)
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, l.Get(i))
	}
	t.RawSetString("n", lua.LNumber(n))
	l.Push(t)
	return 1
}

// maxUnpack is the largest number of results of unpack.
const maxUnpack = maxRegisters / 2

// unpack is unpack with a limit below that of the interpreter, which ends the seat.
func unpack(l *lua.LState) int {
	t := l.CheckTable(1)
	first := optInt(l, 2, 1)
	last := optInt(l, 3, t.Len())
	if last-first >= maxUnpack {
		l.RaiseError("too many results to unpack")
	}
	for i := first; i <= last; i++ {
		l.Push(t.RawGet(lua.LNumber(i)))
	}
	return max(last-first+1, 0)
}

// maxMove is the largest number of values that table.move copies.
const maxMove = 1 << 20

// tableMove is table.move of Lua 5.3.
func tableMove(l *lua.LState) int {
	from, first, last, at := l.CheckTable(1), intArg(l, 2), intArg(l, 3), intArg(l, 4)
	to := l.OptTable(5, from)
	if last-first >= maxMove {
		l.RaiseError("table.move would copy more than %d values", maxMove)
	}
	for i := range max(last-first+1, 0) {
		if at > first { // perhaps onto itself
			i = last - first - i
		}
		l.RawSet(to, lua.LNumber(at+i), from.RawGet(lua.LNumber(first+i)))
	}
	l.Push(to)
	return 1
}

func tableConcat(l *lua.LState) int {
	t, sep := l.CheckTable(1), l.OptString(2, "")
	from, to := optInt(l, 3, 1), optInt(l, 4, t.Len())
	var buf strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		if !lua.LVCanConvToString(v) {
			l.RaiseError("invalid value (a %s) at index %d in table for 'concat'", v.Type(), i)
		}
		buf.WriteString(v.String())
		if i < to {
			buf.WriteString(sep)
		}
	}
	l.Push(lua.LString(buf.String()))
	return 1
}

// tableInsert and tableRemove count what is in the table; those of gopher-lua count what
// was in it before it shrank.
func tableInsert(l *lua.LState) int {
	t := l.CheckTable(1)
	switch l.GetTop() {
	case 2:
		t.Append(l.Get(2))
	case 3:
		at := intArg(l, 2)
		if at < 1 || at > t.Len() {
			l.RawSet(t, lua.LNumber(at), l.Get(3))
			return 0
		}
		t.Insert(at, l.Get(3))
	default:
		l.RaiseError("wrong number of arguments to 'insert'")
	}
	return 0
}

func tableRemove(l *lua.LState) int {
	t := l.CheckTable(1)
	n := t.Len()
	at := optInt(l, 2, n)
	if at < 1 || at > n {
		return 0
	}
	l.Push(t.Remove(at))
	return 1
}

func tableMaxN(l *lua.LState) int {
	l.Push(lua.LNumber(l.CheckTable(1).MaxN()))
	return 1
}

// tableSort sorts a copy, so that a comparison which changes the table cannot disturb the sort, and
// writes it back at the end. An inconsistent comparison leaves the items in some order.
func tableSort(l *lua.LState) int {
	t, less := l.CheckTable(1), l.LessThan
	if l.Get(2) != lua.LNil {
		f := l.CheckFunction(2)
		less = func(a, b lua.LValue) bool { return lua.LVAsBool(invoke(l, f, a, b)) }
	}
	items := make([]lua.LValue, t.Len())
	for i := range items {
		items[i] = t.RawGetInt(i + 1)
	}
	slices.SortFunc(items, func(a, b lua.LValue) int {
		if less(a, b) {
			return -1
		}
		return 0
	})
	for i, v := range items {
		t.RawSetInt(i+1, v)
	}
	return 0
}

// function makes a value of a built-in. It holds no state and names no Lua state, so all
// machines share it.
func function(f lua.LGFunction) *lua.LFunction {
	return &lua.LFunction{IsG: true, GFunction: f}
}

// invoke calls a Lua value and returns its first result.
func invoke(l *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	l.Push(f)
	for _, a := range args {
		l.Push(a)
	}
	l.Call(len(args), 1)
	v := l.Get(-1)
	l.Pop(1)
	return v
}

// toInt64 cuts a number down to a whole one. What is out of range becomes the
// nearest in range; Go by itself leaves that to the processor.
func toInt64(n lua.LNumber) int64 {
	switch {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	case n != n:
		return 0
	}
	return int64(n)
}

// intArg returns argument number n, which must be a number, as a count or an
// index: a whole number that leaves room for sums.
func intArg(l *lua.LState, n int) int {
	const far = 1 << 53
	return int(min(max(toInt64(l.CheckNumber(n)), -far), far))
}

// optInt is intArg with a default for an argument that is not there.
func optInt(l *lua.LState, n, otherwise int) int {
	if l.Get(n) == lua.LNil {
		return otherwise
	}
	return intArg(l, n)
}

// text is tostring. Tables and functions are shown without the address that
// stock Lua gives them: it differs from run to run.
func text(l *lua.LState, v lua.LValue) lua.LString {
	if meta := l.GetMetaField(v, "__tostring"); meta != lua.LNil {
		s, ok := invoke(l, meta, v).(lua.LString)
		if !ok {
			l.RaiseError("'__tostring' must return a string")
		}
		return s
	}
	switch v := v.(type) {
	case lua.LString:
		return v
	case lua.LNumber, lua.LBool, *lua.LNilType:
		return lua.LString(v.String())
	}
	return lua.LString(v.Type().String())
}

func baseToString(l *lua.LState) int {
	l.Push(text(l, l.CheckAny(1)))
	return 1
}

// basePrint writes to the seat's log, tab-separated as print does.
func basePrint(l *lua.LState) int {
	var b strings.Builder
	for i, n := 1, l.GetTop(); i <= n; i++ {
		s := string(text(l, l.Get(i)))
		if b.Len() > script.MaxLine {
			continue
		}
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(s[:min(len(s), script.MaxLine+1)])
	}
	of(l).log.Print(slog.LevelInfo, func() string { return strings.ToValidUTF8(strategies.Clip(b.String(), script.MaxLine), "") })
	return 0
}

// baseSetMetatable is setmetatable for tables only; that of gopher-lua takes anything.
func baseSetMetatable(l *lua.LState) int {
	t := l.CheckTable(1)
	l.CheckTypes(2, lua.LTNil, lua.LTTable)
	if l.GetMetaField(t, "__metatable") != lua.LNil {
		l.RaiseError("cannot change a protected metatable")
	}
	l.SetMetatable(t, l.Get(2))
	l.SetTop(1)
	return 1
}

// baseRawSet is rawset, which returns the table; that of gopher-lua returns nothing.
func baseRawSet(l *lua.LState) int {
	l.RawSet(l.CheckTable(1), l.CheckAny(2), l.CheckAny(3))
	l.SetTop(1)
	return 1
}

// basePCall is pcall. With a handler the interpreter leaves the local variables alone that
// functions share with the callers; without one an error would part them.
func basePCall(l *lua.LState) int {
	l.CheckAny(1)
	return protect(l, errorItself)
}

// errorItself is the handler that changes nothing.
var errorItself = function(func(*lua.LState) int { return 1 })

// baseXPCall is xpcall of Lua 5.2, which passes arguments on.
func baseXPCall(l *lua.LState) int {
	handler := l.CheckFunction(2)
	l.Remove(2)
	return protect(l, handler)
}

// protect calls the first argument with the others.
func protect(l *lua.LState, handler *lua.LFunction) int {
	if err := l.PCall(l.GetTop()-1, lua.MultRet, handler); err != nil {
		l.Push(lua.LFalse)
		var api *lua.ApiError
		if errors.As(err, &api) {
			l.Push(api.Object)
		} else {
			l.Push(lua.LString(err.Error()))
		}
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// baseToNumber reads what Lua's lexer reads, and whole numbers in bases from 2 to 36.
func baseToNumber(l *lua.LState) int {
	v := l.CheckAny(1)
	if n, ok := v.(lua.LNumber); ok && l.GetTop() == 1 {
		l.Push(n)
		return 1
	}
	l.Push(parseNumber(v, optInt(l, 2, 10)))
	return 1
}

func parseNumber(v lua.LValue, base int) lua.LValue {
	if !lua.LVCanConvToString(v) {
		return lua.LNil
	}
	s := strings.ToLower(strings.Trim(v.String(), " \t\n\r\f\v"))
	if len(s) > 400 || strings.Contains(s, "_") { // no number is so long
		return lua.LNil
	}
	hex := strings.HasPrefix(strings.TrimLeft(s, "+-"), "0x")
	switch {
	case base == 10 && !hex:
		if strings.ContainsAny(s, "ny") { // Go would take inf, infinity, nan
			return lua.LNil
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return lua.LNil
		}
		return lua.LNumber(f)
	case base == 10 || base == 16 && hex:
		s, base = strings.Replace(s, "0x", "", 1), 16
	case base < 2 || base > 36:
		return lua.LNil
	}
	n, err := strconv.ParseInt(s, base, 64)
	if err != nil {
		return lua.LNil
	}
	return lua.LNumber(n)
}

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
