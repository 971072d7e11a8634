package luascript

import (
	"errors"
	"log/slog"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

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
