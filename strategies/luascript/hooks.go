package luascript

import (
	lua "github.com/yuin/gopher-lua"
)

const (
	// maxString is the longest string, in bytes, that an operation makes.
	maxString = 1 << 20
	// maxGap is the highest index that may be stored at when the one before
	// it is empty.
	maxGap = 1 << 20
)

func hooks() map[string]lua.LValue {
	return map[string]lua.LValue{
		hookConcat: function(concat),
		hookStore:  function(store3),
		hookSpread: function(spread),
		hookKey:    function(key),
		theNil:     lua.LNil,
	}
}

// link puts the hooks where the compiled code names them, and turns tail calls
// into calls. A tail call forgets its caller's line, and the interpreter keeps
// a line of traceback for each of them, by the million if need be.
func link(proto *lua.FunctionProto, hooks map[string]lua.LValue) {
	for i, c := range proto.Constants {
		if s, ok := c.(lua.LString); ok {
			if hook, ok := hooks[string(s)]; ok {
				proto.Constants[i] = hook
			}
		}
	}
	const opShift = 26
	for pc, inst := range proto.Code {
		if int(inst>>opShift) == lua.OP_TAILCALL {
			// The compiler made it from a call for all results, and has put a
			// return of them all behind it.
			proto.Code[pc] = inst&(1<<opShift-1) | uint32(lua.OP_CALL)<<opShift
		}
	}
	for _, p := range proto.FunctionPrototypes {
		link(p, hooks)
	}
}

// function makes a value of a built-in. It holds no state and names no Lua
// state, so all machines share it.
func function(f lua.LGFunction) *lua.LFunction {
	return &lua.LFunction{IsG: true, GFunction: f}
}

// concat is the operator "..", from right to left, for all its operands.
func concat(l *lua.LState) int {
	n := l.GetTop()
	total := 0
	for i := 1; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			total += len(v)
		case lua.LNumber:
			total += 8 // about; it is only what is charged
		default:
			return concatSlowly(l, n)
		}
	}
	newString(l, "a string made by ..", total)
	var short [64]byte // enough for most keys that scripts put together
	buf := short[:0]
	if total > len(short) {
		buf = make([]byte, 0, total)
	}
	for i := 1; i <= n; i++ {
		buf = appendScalar(buf, l.Get(i))
	}
	l.Push(lua.LString(buf))
	return 1
}

// concatSlowly is concat for operands of which some are no strings or numbers,
// and have to have a metamethod.
func concatSlowly(l *lua.LState, n int) int {
	rhs := l.Get(n)
	for i := n - 1; i >= 1; i-- {
		lhs := l.Get(i)
		if lua.LVCanConvToString(lhs) && lua.LVCanConvToString(rhs) {
			left, right := lhs.String(), rhs.String()
			newString(l, "a string made by ..", len(left)+len(right))
			rhs = lua.LString(left + right)
			continue
		}
		op := l.GetMetaField(lhs, "__concat")
		if op == lua.LNil {
			op = l.GetMetaField(rhs, "__concat")
		}
		if op == lua.LNil {
			bad := lhs
			if lua.LVCanConvToString(lhs) {
				bad = rhs
			}
			l.RaiseError("attempt to concatenate a %s value", bad.Type())
		}
		rhs = invoke(l, op, lhs, rhs)
	}
	l.Push(rhs)
	return 1
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

// newString charges for a string of n bytes, or raises an error if it is too
// long.
func newString(l *lua.LState, what string, n int) {
	fits(l, what, n)
	if n >= bytesPerUnit {
		of(l).charge(int64(n / bytesPerUnit))
	}
}

// fits raises an error if a string of n bytes is too long.
func fits(l *lua.LState, what string, n int) {
	if n > maxString {
		l.RaiseError("%s would have %d bytes or more, over the limit of %d", what, n, maxString)
	}
}

// store3 is t[k] = v.
func store3(l *lua.LState) int {
	t, k := l.Get(1), l.Get(2)
	admit(l, t, k)
	l.SetTable(t, k, l.Get(3))
	return 0
}

// admit charges for the array that a store at k may have to fill.
func admit(l *lua.LState, t, k lua.LValue) {
	n, ok := k.(lua.LNumber)
	if !ok || n <= smallIndex || n >= lua.LNumber(lua.MaxArrayIndex) {
		return // such a key is never an index, or costs nothing
	}
	i := int(n)
	if t, ok := t.(*lua.LTable); ok && (t.RawGetInt(i-1) != lua.LNil || t.RawGetInt(i) != lua.LNil) {
		return
	}
	if i > maxGap {
		l.RaiseError("index %d leaves a gap in the table, and is above the limit of %d for that", i, maxGap)
	}
	of(l).charge(int64(i / slotsPerUnit))
}

// key passes on a computed key of a table constructor.
func key(l *lua.LState) int {
	k := l.Get(1)
	admit(l, lua.LNil, k)
	l.Push(k)
	return 1
}

// spread passes on the values of "...".
func spread(l *lua.LState) int {
	n := l.GetTop()
	of(l).charge(int64(n / valuesPerUnit))
	return n
}
