package strategies

import (
	"strings"
	"unicode"
)

// Clip cuts a text to at most n bytes, and says so by three dots.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// OneLine makes a text that a script has written fit for one line of a
// terminal: line breaks and tabs become spaces, what cannot be printed is
// replaced, and the rest is clipped to n bytes.
func OneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s[:min(len(s), 2*n)])
	return Clip(strings.TrimSpace(s), n)
}
