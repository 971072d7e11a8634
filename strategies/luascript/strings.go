package luascript

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// span turns the indices from and to, counted from 1 or from the end, into
// offsets within a string of n bytes.
func span(from, to, n int) (int, int) {
	if from < 0 {
		from = max(from+n+1, 1)
	}
	if to < 0 {
		to += n + 1
	}
	from, to = max(from, 1)-1, min(to, n)
	return from, max(from, to)
}

func stringByte(l *lua.LState) int {
	s := l.CheckString(1)
	at := optInt(l, 2, 1)
	from, to := span(at, optInt(l, 3, at), len(s))
	if from >= len(s) {
		return 0
	}
	if to-from > maxSpread {
		l.RaiseError("string slice too long (the limit is %d)", maxSpread)
	}
	of(l).charge(int64((to - from) / valuesPerUnit))
	for _, c := range []byte(s[from:to]) {
		l.Push(lua.LNumber(c))
	}
	return to - from
}

func stringChar(l *lua.LState) int {
	buf := make([]byte, l.GetTop())
	for i := range buf {
		c := intArg(l, i+1)
		if c < 0 || c > math.MaxUint8 {
			l.ArgError(i+1, "invalid value")
		}
		buf[i] = byte(c)
	}
	newString(l, "the result of string.char", len(buf))
	l.Push(lua.LString(buf))
	return 1
}

func stringLen(l *lua.LState) int {
	l.Push(lua.LNumber(len(l.CheckString(1))))
	return 1
}

// mapped makes a function of one string that treats its bytes one by one.
func mapped(f func(byte) byte) lua.LGFunction {
	return func(l *lua.LState) int {
		s := l.CheckString(1)
		newString(l, "a string", len(s))
		buf := []byte(s)
		for i, c := range buf {
			buf[i] = f(c)
		}
		l.Push(lua.LString(buf))
		return 1
	}
}

var (
	stringLower = mapped(func(c byte) byte {
		if isUpper(c) {
			return c | 0x20
		}
		return c
	})
	stringUpper = mapped(func(c byte) byte {
		if isLower(c) {
			return c &^ 0x20
		}
		return c
	})
)

func stringReverse(l *lua.LState) int {
	s := l.CheckString(1)
	newString(l, "a string", len(s))
	buf := make([]byte, len(s))
	for i := range len(s) {
		buf[len(s)-1-i] = s[i]
	}
	l.Push(lua.LString(buf))
	return 1
}

func stringRep(l *lua.LState) int {
	s, n := l.CheckString(1), intArg(l, 2)
	if n <= 0 || s == "" {
		l.Push(lua.LString(""))
		return 1
	}
	fits(l, "the result of string.rep", n) // so that the product cannot overflow
	newString(l, "the result of string.rep", len(s)*n)
	l.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}

func stringSub(l *lua.LState) int {
	s := l.CheckString(1)
	from, to := span(intArg(l, 2), optInt(l, 3, -1), len(s))
	if from >= len(s) {
		from, to = 0, 0
	}
	l.Push(lua.LString(s[from:to])) // shares the bytes of s
	return 1
}
