package luascript

import (
	"context"
	"log/slog"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
)

const (
	// maxLine and maxLines bound what one seat may print in its league.
	maxLine  = 500 // bytes
	maxLines = 200
	// maxSpread is how many values unpack and string.byte return at most.
	maxSpread = 4096
)

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

// appendScalar appends a string or a number as the script would see it.
func appendScalar(buf []byte, v lua.LValue) []byte {
	switch v := v.(type) {
	case lua.LString:
		return append(buf, v...)
	case lua.LNumber:
		return appendNumber(buf, float64(v))
	}
	return buf
}

// appendNumber writes whole numbers without a point and others with as many
// digits as tell them from their neighbours; from 1e15 on, and below 1e-5, with
// an exponent.
func appendNumber(buf []byte, f float64) []byte {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.AppendInt(buf, int64(f), 10)
	case math.IsInf(f, 1):
		return append(buf, "inf"...)
	case math.IsInf(f, -1):
		return append(buf, "-inf"...)
	case math.IsNaN(f):
		return append(buf, "nan"...)
	}
	format := byte('f')
	if a := math.Abs(f); a >= 1e15 || a < 1e-5 {
		format = 'e'
	}
	return strconv.AppendFloat(buf, f, format, -1, 64)
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
	case lua.LNumber:
		return lua.LString(appendNumber(nil, float64(v)))
	case lua.LBool, *lua.LNilType:
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
	m := of(l)
	var b strings.Builder
	for i, n := 1, l.GetTop(); i <= n; i++ {
		s := string(text(l, l.Get(i)))
		if b.Len() > maxLine {
			continue
		}
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(s[:min(len(s), maxLine+1)])
	}
	m.charge(int64(20 + b.Len()/bytesPerUnit))
	m.lines++
	switch {
	case m.log == nil || m.lines > maxLines+1:
	case m.lines > maxLines:
		m.print("the script has printed " + strconv.Itoa(maxLines) + " lines; the rest is dropped")
	default:
		m.print(strings.ToValidUTF8(strategies.Clip(b.String(), maxLine), ""))
	}
	return 0
}

func (m *machine) print(line string) {
	m.log.LogAttrs(context.Background(), slog.LevelInfo, line, slog.String("script", m.name))
}

// basePCall is pcall. What ended the whole call is not for the script to
// handle: the next instruction raises it again.
func basePCall(l *lua.LState) int {
	l.CheckAny(1)
	if err := l.PCall(l.GetTop()-1, lua.MultRet, nil); err != nil {
		l.Push(lua.LFalse)
		l.Push(of(l).caught(err))
		return 2
	}
	l.Insert(lua.LTrue, 1)
	return l.GetTop()
}

// baseXPCall is xpcall. The handler is called after the stack is unwound; a
// script without the debug library cannot tell.
func baseXPCall(l *lua.LState) int {
	f, handler := l.CheckFunction(1), l.CheckFunction(2)
	l.SetTop(0)
	l.Push(f)
	err := l.PCall(0, lua.MultRet, nil)
	if err == nil {
		l.Insert(lua.LTrue, 1)
		return l.GetTop()
	}
	l.SetTop(0)
	l.Push(lua.LFalse)
	l.Push(handler)
	l.Push(of(l).caught(err))
	if err := l.PCall(1, lua.MultRet, nil); err != nil {
		_ = of(l).caught(err)
		l.SetTop(1)
		l.Push(lua.LString("error in error handling"))
	}
	return l.GetTop()
}

// caught charges for an error that the script has caught (the interpreter
// makes a traceback for each) and returns the error value.
func (m *machine) caught(err error) lua.LValue {
	f := m.failure(err)
	m.charge(int64(unitsPerCaught + len(f.message)/bytesPerUnit))
	return f.value
}

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

func baseRawSet(l *lua.LState) int {
	t, k := l.CheckTable(1), l.CheckAny(2)
	v := l.CheckAny(3)
	admit(l, t, k)
	l.RawSet(t, k, v)
	l.SetTop(1)
	return 1
}

func baseNext(l *lua.LState) int {
	k, v := l.CheckTable(1).Next(l.Get(2))
	if k == lua.LNil {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(k)
	l.Push(v)
	return 2
}

var next = function(baseNext)

func basePairs(l *lua.LState) int {
	t := l.CheckTable(1)
	l.Push(next)
	l.Push(t)
	l.Push(lua.LNil)
	return 3
}

var nextIndex = function(func(l *lua.LState) int {
	t, i := l.CheckTable(1), intArg(l, 2)+1
	v := t.RawGetInt(i)
	if v == lua.LNil {
		return 0
	}
	l.Push(lua.LNumber(i))
	l.Push(v)
	return 2
})

func baseIPairs(l *lua.LState) int {
	t := l.CheckTable(1)
	l.Push(nextIndex)
	l.Push(t)
	l.Push(lua.LNumber(0))
	return 3
}

func baseUnpack(l *lua.LState) int {
	t := l.CheckTable(1)
	from, to := optInt(l, 2, 1), optInt(l, 3, t.Len())
	if from > to {
		return 0
	}
	if to-from >= maxSpread {
		l.RaiseError("too many results to unpack (the limit is %d)", maxSpread)
	}
	of(l).charge(int64((to - from) / valuesPerUnit))
	for i := from; i <= to; i++ {
		l.Push(t.RawGet(lua.LNumber(i)))
	}
	return to - from + 1
}

// baseToNumber reads what Lua's lexer reads, and whole numbers in bases from 2
// to 36.
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
