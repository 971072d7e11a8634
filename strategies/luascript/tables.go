package luascript

import (
	"sort"

	lua "github.com/yuin/gopher-lua"
)

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
// pull it away from under the sort, and writes it back at the end. An order
// that contradicts itself leaves the items in some order.
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
