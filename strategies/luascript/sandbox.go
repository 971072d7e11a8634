package luascript

import (
	"math"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// binding is one entry of a library.
type binding struct {
	name  string
	value lua.LValue
}

// sandbox is everything that scripts can reach. It is built once per factory.
// Functions are shared by all machines; each gets new tables, always
// in the same order, because a script can see the order with pairs. (The stock
// way to open a library goes through a Go map: its order differs every time.)
type sandbox struct {
	base, table, string, math []binding
}

func newSandbox() sandbox {
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
	return sandbox{
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
}

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
