package luascript

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
