package luascript

import (
	lua "github.com/yuin/gopher-lua"
)

// maxInterval is how many whole numbers math.random chooses among at most: all
// that a Lua number can count.
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
