package words

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// List joins names for a sentence, the last two by a word such as "and". Of more than
// most names it writes one less than that and counts the others; 0 writes all.
func List(names []string, word string, most int) string {
	switch n := len(names); {
	case n == 0:
		return "none"
	case n == 1:
		return names[0]
	case most > 0 && n > most:
		return fmt.Sprintf("%s %s %d others", strings.Join(names[:most-1], ", "), word, n-most+1)
	default:
		return strings.Join(names[:n-1], ", ") + " " + word + " " + names[n-1]
	}
}

// Quote puts a text into quotation marks.
func (s Style) Quote(text string) string {
	if s == Typeset {
		return "\u201c" + text + "\u201d"
	}
	return `"` + text + `"`
}

// Printable replaces every character that could move a terminal's cursor or change its
// colours by a question mark. Names and fault texts come from other people's scripts.
func Printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, s)
}

// Shorten cuts s to at most width characters, the last of which is then an ellipsis.
func Shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	runes := []rune(s)
	return string(runes[:max(0, width-1)]) + "…"
}

// Wrap breaks a line between words so that no line exceeds the width, unless one word
// does; 0 is no limit. Lines that follow are indented by two spaces more.
func Wrap(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var b strings.Builder
	b.WriteString(indent)
	used := len(indent)
	for i, word := range strings.Fields(line) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n <= width:
			b.WriteByte(' ')
			used++
		default:
			b.WriteString("\n  " + indent)
			used = 2 + len(indent)
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// painted and the characters after it stand for an attribute each until a screen writes
// them. They are private ones: Printable replaces them.
const (
	painted    = 0xf0000
	attributes = 108
)

// Paint gives a text an attribute of ANSI terminals, such as "1" for bold, once a screen
// writes it.
func Paint(text, attribute string) string {
	n, _ := strconv.Atoi(attribute)
	return string(rune(painted+n)) + text + string(rune(painted))
}

// Painted is the attribute that a character of Paint stands for.
func Painted(c rune) (attribute int, is bool) {
	return int(c - painted), c >= painted && c < painted+attributes
}
