package command

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/words"
)

// safeWriter is the one way from this program to a terminal. It passes texts on and puts a
// question mark instead of every character that could move the cursor, change colours or turn the
// direction of writing: names and messages come from other people's files and from the
// wire. What this program itself says to the terminal is made by Paint, or goes
// around it by controls. It is safe for concurrent use.
type safeWriter struct {
	mu      sync.Mutex
	out     io.Writer
	strict  bool
	longest int    // bytes of a line; 0 is no limit
	line    int    // bytes of the line so far
	partial []byte // the beginning of a character
}

// newSafeWriter returns one on a stream. A strict one is for terminals, and messages;
// another one, for a stream that a program may read, replaces only the control characters
// that no text has. Lines are cut after so many bytes; 0 cuts none.
func newSafeWriter(out io.Writer, strict bool, longest int) *safeWriter {
	return &safeWriter{out: out, strict: strict, longest: longest}
}

// Write implements io.Writer.
func (s *safeWriter) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.longest == 0 && len(s.partial) == 0 && plain(text) {
		return s.out.Write(text)
	}
	all := append(s.partial, text...)
	clean := make([]byte, 0, len(all))
	for len(all) > 0 && utf8.FullRune(all) {
		c, size := utf8.DecodeRune(all)
		clean = s.append(clean, c, all[:size])
		all = all[size:]
	}
	s.partial = append([]byte(nil), all...)
	if _, err := s.out.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

// plain reports whether a text has only characters of ASCII that can be seen, and breaks.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// append adds a character, or what stands in its place.
func (s *safeWriter) append(clean []byte, c rune, raw []byte) []byte {
	if c == '\n' {
		s.line = 0
		return append(clean, '\n')
	}
	if attribute, is := words.Painted(c); is {
		return append(strconv.AppendInt(append(clean, "\x1b["...), int64(attribute), 10), 'm')
	}
	before := s.line
	s.line += len(raw)
	switch {
	case s.longest > 0 && s.line > s.longest:
		if before <= s.longest {
			return append(clean, "..."...)
		}
		return clean
	case s.harmless(c, len(raw)):
		return append(clean, raw...)
	case c == '\r' && s.strict:
		return clean // of a line end of Windows
	}
	return append(clean, '?')
}

func (s *safeWriter) harmless(c rune, size int) bool {
	const joiner, nonJoiner, selector = 0x200d, 0x200c, 0xfe0f // of signs of several characters
	switch {
	case c == '\t':
		return true
	case !s.strict:
		return c >= ' ' || c == '\r'
	case c == utf8.RuneError && size == 1:
		return false
	}
	return unicode.IsGraphic(c) || c == joiner || c == nonJoiner || c == selector
}

// controls returns a writer for control sequences to the terminal behind it, and what
// makes texts fit for it. Another writer is its own.
func controls(w io.Writer) (raw io.Writer, clean func(text string) string) {
	if s, ok := w.(*safeWriter); ok {
		w = s.out
	}
	return w, func(text string) string {
		var b strings.Builder
		_, _ = newSafeWriter(&b, true, 0).Write([]byte(text)) // a Builder does not fail
		return b.String()
	}
}
