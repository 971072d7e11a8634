package luascript

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// binding is one entry of a library.
type binding struct {
	name  string
	value lua.LValue
}

// sandbox is everything that scripts can reach. It is built once per factory.
// Functions are shared by all machines; tables are made anew for each, always
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

// builtin is a function of ours, or, where it is nil, the stock one.
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

// stockFunctions opens the libraries of gopher-lua in a state of their own, to
// take from it the functions that are good as they are: those whose work is
// small, and which neither reach outside nor depend on anything but their
// arguments.
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
