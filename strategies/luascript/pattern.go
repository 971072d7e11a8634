package luascript

import "errors"

// The matcher follows lstrlib.c of Lua 5.1.5 (R. Ierusalimschy, L. H. de
// Figueiredo, W. Celes; MIT licence), with two additions: it counts its steps,
// so that an endless pattern exceeds the budget of the call, and it bounds its
// recursion. The matcher of gopher-lua does neither.

const (
	maxCaptures   = 32  // as in C Lua
	maxMatchDepth = 200 // as in C Lua from 5.2 on
	stepsPerTick  = 1024
)

// Lengths that mark an unfinished capture and a position capture.
const (
	unfinished = -1
	position   = -2
)

// noMatch is the end of a failed match.
const noMatch = -1

// matcher matches one pattern at one subject.
type matcher struct {
	src, pat string
	tick     func(steps int) // called before the next steps, with their number
	steps    int
	depth    int
	level    int // captures so far, finished or not
	captures [maxCaptures]struct{ start, length int }
}

// badPattern describes an invalid pattern. The matcher panics with it, and its
// caller turns it into an error.
type badPattern struct{ error }

func reject(why string) { panic(badPattern{errors.New(why)}) }

// step counts one step of work.
func (m *matcher) step() {
	if m.steps++; m.steps == stepsPerTick {
		m.steps = 0
		m.tick(stepsPerTick)
	}
}

// at matches the pattern from its p-th byte on at the s-th byte of the
// subject, without captures from before. It returns where the match ends.
func (m *matcher) at(s, p int) int {
	m.level = 0
	return m.match(s, p)
}

func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		reject("pattern too complex")
	}
	e := m.matchHere(s, p)
	m.depth--
	return e
}

func (m *matcher) matchHere(s, p int) int {
	for p < len(m.pat) {
		m.step()
		switch c := m.pat[p]; {
		case c == '(' && p+1 < len(m.pat) && m.pat[p+1] == ')':
			return m.open(s, p+2, position)
		case c == '(':
			return m.open(s, p+1, unfinished)
		case c == ')':
			return m.close(s, p+1)
		case c == '$' && p+1 == len(m.pat):
			if s == len(m.src) {
				return s
			}
			return noMatch
		case c == '%' && p+1 < len(m.pat) && special(m.pat[p+1]):
			if s, p = m.escape(s, p+1); s == noMatch {
				return noMatch
			}
			continue
		}
		end := m.classEnd(p)
		switch one := m.one(s, p, end); {
		case end < len(m.pat) && m.pat[end] == '*':
			return m.most(s, p, end)
		case end < len(m.pat) && m.pat[end] == '-':
			return m.least(s, p, end)
		case end < len(m.pat) && m.pat[end] == '+':
			if !one {
				return noMatch
			}
			return m.most(s+1, p, end)
		case end < len(m.pat) && m.pat[end] == '?':
			if one {
				if e := m.match(s+1, end+1); e != noMatch {
					return e
				}
			}
			p = end + 1
		case !one:
			return noMatch
		default:
			s, p = s+1, end
		}
	}
	return s
}

// special reports whether "%c" is more than a class or a literal.
func special(c byte) bool { return c == 'b' || c == 'f' || isDigit(c) }

// escape matches "%b", "%f" or "%1", whose letter is at p. It returns where
// the subject and the pattern go on.
func (m *matcher) escape(s, p int) (int, int) {
	switch m.pat[p] {
	case 'b':
		return m.balance(s, p+1), p + 3
	case 'f':
		p++
		if p >= len(m.pat) || m.pat[p] != '[' {
			reject("missing '[' after '%f' in pattern")
		}
		end := m.classEnd(p)
		var before, here byte
		if s > 0 {
			before = m.src[s-1]
		}
		if s < len(m.src) {
			here = m.src[s]
		}
		if m.inSet(before, p, end-1) || !m.inSet(here, p, end-1) {
			return noMatch, p
		}
		return s, end
	}
	return m.back(s, m.pat[p]), p + 1
}

// balance matches "%bxy", whose x is at p.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		reject("unbalanced pattern")
	}
	opening, closing := m.pat[p], m.pat[p+1]
	if s >= len(m.src) || m.src[s] != opening {
		return noMatch
	}
	for depth, i := 1, s+1; i < len(m.src); i++ {
		m.step()
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case opening:
			depth++
		}
	}
	return noMatch
}

// most matches as many as there are of the class from p to end, and then fewer
// and fewer until the rest of the pattern matches.
func (m *matcher) most(s, p, end int) int {
	n := 0
	for m.one(s+n, p, end) {
		m.step()
		n++
	}
	for ; n >= 0; n-- {
		if e := m.match(s+n, end+1); e != noMatch {
			return e
		}
	}
	return noMatch
}

// least is like most, but starts with as few as possible.
func (m *matcher) least(s, p, end int) int {
	for {
		if e := m.match(s, end+1); e != noMatch {
			return e
		}
		if !m.one(s, p, end) {
			return noMatch
		}
		s++
	}
}

func (m *matcher) open(s, p, length int) int {
	if m.level >= maxCaptures {
		reject("too many captures")
	}
	m.captures[m.level].start, m.captures[m.level].length = s, length
	m.level++
	e := m.match(s, p)
	if e == noMatch {
		m.level--
	}
	return e
}

func (m *matcher) close(s, p int) int {
	i := m.level - 1
	for i >= 0 && m.captures[i].length != unfinished {
		i--
	}
	if i < 0 {
		reject("invalid pattern capture")
	}
	c := &m.captures[i]
	c.length = s - c.start
	e := m.match(s, p)
	if e == noMatch {
		c.length = unfinished
	}
	return e
}

// back matches what capture number digit has caught.
func (m *matcher) back(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.captures[i].length == unfinished {
		reject("invalid capture index")
	}
	c := m.captures[i]
	n := c.length
	for range n / bytesPerUnit {
		m.step()
	}
	if n == position || len(m.src)-s < n || m.src[c.start:c.start+n] != m.src[s:s+n] {
		return noMatch
	}
	return s + n
}

// classEnd returns where the single-character class at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p == len(m.pat) {
			reject("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
			if p >= len(m.pat) {
				reject("malformed pattern (missing ']')")
			}
			m.step()
			if m.pat[p] == '%' && p+1 < len(m.pat) {
				p++ // so that "%]" does not end it
			}
			p++
		}
		return p + 1
	}
	return p
}

// one reports whether the class from p to end matches the byte at s.
func (m *matcher) one(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return c == m.pat[p]
}

// inSet reports whether c is in the set whose '[' is at p and ']' at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	found := true
	if m.pat[p+1] == '^' {
		found = false
		p++
	}
	for p++; p < end; p++ {
		m.step()
		switch {
		case m.pat[p] == '%':
			p++
			if inClass(c, m.pat[p]) {
				return found
			}
		case p+2 < end && m.pat[p+1] == '-':
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return found
			}
			p += 2
		case m.pat[p] == c:
			return found
		}
	}
	return !found
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// inClass reports whether c is in the class named by a letter, as in the C
// locale. What names no class stands for itself.
func inClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isLower(c | 0x20)
	case 'c':
		in = c < 0x20 || c == 0x7f
	case 'd':
		in = isDigit(c)
	case 'l':
		in = isLower(c)
	case 'p':
		in = c > 0x20 && c < 0x7f && !isDigit(c) && !isLower(c|0x20)
	case 's':
		in = c == ' ' || '\t' <= c && c <= '\r'
	case 'u':
		in = isUpper(c)
	case 'w':
		in = isDigit(c) || isLower(c|0x20)
	case 'x':
		in = isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return c == class
	}
	if isUpper(class) {
		return !in
	}
	return in && isLower(class)
}
