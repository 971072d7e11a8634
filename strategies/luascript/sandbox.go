package luascript

import (
	"math"
	"sort"

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
	stock := stockFunctions()
	return sandbox{
		base: append([]binding{{"_VERSION", lua.LString(lua.LuaVersion)}}, bind(stock[lua.BaseLibName], []builtin{
			{"assert", nil}, {"error", nil}, {"getmetatable", nil}, {"ipairs", baseIPairs}, {"next", baseNext},
			{"pairs", basePairs}, {"pcall", basePCall}, {"print", basePrint}, {"rawequal", nil}, {"rawget", nil},
			{"rawset", baseRawSet}, {"select", nil}, {"setmetatable", baseSetMetatable}, {"tonumber", baseToNumber},
			{"tostring", baseToString}, {"type", nil}, {"unpack", baseUnpack}, {"xpcall", baseXPCall},
		})...),
		table: bind(nil, []builtin{
			{"concat", tableConcat}, {"insert", tableInsert}, {"maxn", tableMaxN}, {"remove", tableRemove},
			{"sort", tableSort},
		}),
		string: bind(nil, []builtin{
			{"byte", stringByte}, {"char", stringChar}, {"find", search(stringFind)}, {"format", stringFormat},
			{"gmatch", stringGMatch}, {"gsub", search(stringGSub)}, {"len", stringLen}, {"lower", stringLower},
			{"match", search(stringMatch)}, {"rep", stringRep}, {"reverse", stringReverse}, {"sub", stringSub},
			{"upper", stringUpper},
		}),
		math: append([]binding{{"huge", lua.LNumber(math.Inf(1))}, {"pi", lua.LNumber(math.Pi)}}, bind(stock[lua.MathLibName], []builtin{
			{"abs", nil}, {"acos", nil}, {"asin", nil}, {"atan", nil}, {"atan2", nil}, {"ceil", nil}, {"cos", nil},
			{"cosh", nil}, {"deg", nil}, {"exp", nil}, {"floor", nil}, {"fmod", nil}, {"frexp", nil}, {"ldexp", nil},
			{"log", nil}, {"log10", nil}, {"max", nil}, {"min", nil}, {"modf", nil}, {"pow", nil}, {"rad", nil},
			{"random", mathRandom}, {"sin", nil}, {"sinh", nil}, {"sqrt", nil}, {"tan", nil}, {"tanh", nil},
		})...),
	}
}

// builtin is our function; nil means the stock one.
type builtin struct {
	name string
	f    lua.LGFunction
}

func bind(stock *lua.LTable, builtins []builtin) []binding {
	out := make([]binding, len(builtins))
	for i, b := range builtins {
		if b.f == nil {
			b.f = stock.RawGetString(b.name).(*lua.LFunction).GFunction
		}
		out[i] = binding{b.name, function(b.f)}
	}
	return out
}

// stockFunctions opens the libraries of gopher-lua in a separate state and takes
// the functions that are safe unchanged: they do little work, reach nothing
// outside and depend on nothing but their arguments.
func stockFunctions() map[string]*lua.LTable {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.MathLibName: lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	return map[string]*lua.LTable{
		lua.BaseLibName: l.G.Global,
		lua.MathLibName: l.G.Global.RawGetString(lua.MathLibName).(*lua.LTable),
	}
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

func tableConcat(l *lua.LState) int {
	t, sep := l.CheckTable(1), l.OptString(2, "")
	from, to := optInt(l, 3, 1), optInt(l, 4, t.Len())
	of(l).charge(int64(t.Len() / valuesPerUnit))
	var buf []byte
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		if !lua.LVCanConvToString(v) {
			l.RaiseError("invalid value (a %s) at index %d in table for 'concat'", v.Type(), i)
		}
		buf = appendScalar(buf, v)
		if i < to {
			buf = append(buf, sep...)
		}
		fits(l, "the result of table.concat", len(buf))
	}
	newString(l, "the result of table.concat", len(buf))
	l.Push(lua.LString(buf))
	return 1
}

func tableInsert(l *lua.LState) int {
	t := l.CheckTable(1)
	switch l.GetTop() {
	case 2:
		t.Append(l.Get(2))
	case 3:
		at, n := intArg(l, 2), t.Len()
		if at < 1 || at > n {
			admit(l, t, lua.LNumber(at))
			l.RawSet(t, lua.LNumber(at), l.Get(3))
			return 0
		}
		of(l).charge(int64((n - at) / slotsPerUnit))
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
	of(l).charge(int64((n - at) / slotsPerUnit))
	l.Push(t.Remove(at))
	return 1
}

func tableMaxN(l *lua.LState) int {
	l.Push(lua.LNumber(l.CheckTable(1).MaxN()))
	return 1
}

// tableSort sorts a copy, so that a comparison which changes the table cannot
// disturb the sort, and writes it back at the end. An inconsistent comparison
// leaves the items in some order.
func tableSort(l *lua.LState) int {
	t := l.CheckTable(1)
	s := sorter{l: l, items: make([]lua.LValue, t.Len())}
	if l.Get(2) != lua.LNil {
		s.less = l.CheckFunction(2)
	}
	of(l).charge(int64(len(s.items) / slotsPerUnit))
	for i := range s.items {
		s.items[i] = t.RawGetInt(i + 1)
	}
	sort.Sort(s)
	for i, v := range s.items {
		t.RawSetInt(i+1, v)
	}
	return 0
}

type sorter struct {
	l     *lua.LState
	less  *lua.LFunction
	items []lua.LValue
}

func (s sorter) Len() int      { return len(s.items) }
func (s sorter) Swap(i, j int) { s.items[i], s.items[j] = s.items[j], s.items[i] }

func (s sorter) Less(i, j int) bool {
	of(s.l).charge(1)
	if s.less != nil {
		return lua.LVAsBool(invoke(s.l, s.less, s.items[i], s.items[j]))
	}
	return s.l.LessThan(s.items[i], s.items[j])
}
