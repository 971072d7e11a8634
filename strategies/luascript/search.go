package luascript

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func newMatcher(l *lua.LState, src, pat string) *matcher {
	m := of(l)
	m.charge(1)
	return &matcher{src: src, pat: pat, tick: func(steps int) { m.charge(int64(steps / stepsPerUnit)) }}
}

// search runs f, which uses matchers, and raises an invalid pattern as an error
// of the script.
func search(f lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case badPattern:
				l.RaiseError("%s", r.Error())
			default:
				panic(r)
			}
		}()
		return f(l)
	}
}

// settle charges for the steps since the last tick.
func (m *matcher) settle() {
	m.tick(m.steps)
	m.steps = 0
}

// capture returns the i-th capture of the match from s to e. Where there are
// no captures at all, the first is the whole match.
func (m *matcher) capture(i, s, e int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			reject("invalid capture index")
		}
		return lua.LString(m.src[s:e])
	}
	c := m.captures[i]
	switch c.length {
	case unfinished:
		reject("unfinished capture")
	case position:
		return lua.LNumber(c.start + 1)
	}
	return lua.LString(m.src[c.start : c.start+c.length])
}

// push puts all captures on the stack, or the whole match if there are none,
// and returns how many.
func (m *matcher) push(l *lua.LState, s, e int) int {
	n := max(m.level, 1)
	for i := range n {
		l.Push(m.capture(i, s, e))
	}
	return n
}

// offset turns an index from 1, or from the end if negative, into an offset
// from 0 to n.
func offset(i, n int) int {
	if i < 0 {
		i += n + 1
	}
	return min(max(i-1, 0), n)
}

// plain reports whether a pattern has no special characters.
func plain(pat string) bool { return !strings.ContainsAny(pat, "^$*+?.([%-") }

func stringFind(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	start := offset(optInt(l, 3, 1), len(src))
	if lua.LVAsBool(l.Get(4)) || plain(pat) {
		of(l).charge(int64((len(src) - start) / bytesPerUnit))
		i := strings.Index(src[start:], pat)
		if i < 0 {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(lua.LNumber(start + i + 1))
		l.Push(lua.LNumber(start + i + len(pat)))
		return 2
	}
	m, s, e := first(l, src, pat, start)
	if e == noMatch {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(lua.LNumber(s + 1))
	l.Push(lua.LNumber(e))
	if m.level == 0 {
		return 2
	}
	return 2 + m.push(l, s, e)
}

func stringMatch(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	m, s, e := first(l, src, pat, offset(optInt(l, 3, 1), len(src)))
	if e == noMatch {
		l.Push(lua.LNil)
		return 1
	}
	return m.push(l, s, e)
}

// first finds the first match from an offset on. The end is noMatch if there
// is none.
func first(l *lua.LState, src, pat string, from int) (m *matcher, s, e int) {
	m = newMatcher(l, src, pat)
	defer m.settle()
	if strings.HasPrefix(pat, "^") {
		return m, from, m.at(from, 1)
	}
	for s = from; s <= len(src); s++ {
		if e := m.at(s, 0); e != noMatch {
			return m, s, e
		}
	}
	return m, s, noMatch
}

// stringGMatch returns an iterator. In its pattern "^" is no anchor.
func stringGMatch(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	next := 0
	l.Push(function(search(func(l *lua.LState) int {
		m := newMatcher(l, src, pat)
		defer m.settle()
		for s := next; s <= len(src); s++ {
			e := m.at(s, 0)
			if e == noMatch {
				continue
			}
			next = max(e, s+1) // an empty match must not be found again
			return m.push(l, s, e)
		}
		next = len(src) + 1
		return 0
	})))
	return 1
}

func stringGSub(l *lua.LState) int {
	src, pat := l.CheckString(1), l.CheckString(2)
	l.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	repl := l.Get(3)
	most := optInt(l, 4, len(src)+1)
	m := newMatcher(l, src, pat)
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	var out []byte
	s, n := 0, 0
	for n < most {
		e := m.at(s, p)
		if e != noMatch {
			n++
			out = m.replace(l, out, repl, s, e)
		}
		switch {
		case e != noMatch && e > s:
			s = e
		case s < len(src):
			out = append(out, src[s])
			s++
		default:
			s++
		}
		if s > len(src) || p == 1 {
			break
		}
		fits(l, "the result of gsub", len(out))
	}
	m.settle()
	if s < len(src) {
		out = append(out, src[s:]...)
	}
	newString(l, "the result of gsub", len(out))
	l.Push(lua.LString(out))
	l.Push(lua.LNumber(n))
	return 2
}

// replace appends what stands in for the match from s to e.
func (m *matcher) replace(l *lua.LState, out []byte, repl lua.LValue, s, e int) []byte {
	var v lua.LValue
	switch repl := repl.(type) {
	case *lua.LTable:
		v = l.GetTable(repl, m.capture(0, s, e))
	case *lua.LFunction:
		l.Push(repl)
		l.Call(m.push(l, s, e), 1)
		v = l.Get(-1)
		l.Pop(1)
	default:
		return m.fill(l, out, repl.String(), s, e)
	}
	if lua.LVIsFalse(v) {
		return append(out, m.src[s:e]...)
	}
	if !lua.LVCanConvToString(v) {
		l.RaiseError("invalid replacement value (a %s)", v.Type())
	}
	return appendBounded(l, out, v)
}

// fill appends a replacement string with its captures, "%1", put in.
func (m *matcher) fill(l *lua.LState, out []byte, repl string, s, e int) []byte {
	for i := 0; i < len(repl); i++ {
		c := repl[i]
		if c != '%' || i+1 == len(repl) {
			out = append(out, c)
			continue
		}
		i++
		switch c = repl[i]; {
		case !isDigit(c):
			out = append(out, c)
		case c == '0':
			out = appendBounded(l, out, lua.LString(m.src[s:e]))
		default:
			out = appendBounded(l, out, m.capture(int(c-'1'), s, e))
		}
	}
	return out
}

// appendBounded appends a string or number, if the result is not too long.
func appendBounded(l *lua.LState, out []byte, v lua.LValue) []byte {
	s, _ := v.(lua.LString)
	fits(l, "the result of gsub", len(out)+len(s))
	return appendScalar(out, v)
}
