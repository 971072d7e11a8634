package command

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/words"
)

// TestSafeWriter writes what is in other people's files, in one piece and byte by byte.
func TestSafeWriter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, strict, loose string }{
		{"text", "größer 日本 😀\t1\n\n", "größer 日本 😀\t1\n\n", "größer 日本 😀\t1\n\n"},
		{"escapes", "a\x1b[2Jb\x1b]0;title\x07c\x00\x08", "a?[2Jb?]0;title?c??", "a?[2Jb?]0;title?c??"},
		{"C1", "a\u009b2Jb\x7f", "a?2Jb?", "a\u009b2Jb\x7f"},
		{"direction", "\u202eabc\u202c \u2066x\u2069 \u200f", "?abc? ?x? ?", "\u202eabc\u202c \u2066x\u2069 \u200f"},
		{"line ends", "a\r\nb\u2028c", "a\nb?c", "a\r\nb\u2028c"},
		{"no UTF-8", "a\xffb", "a?b", "a\xffb"},
		{"painted", words.Paint("bold", "1") + words.Paint("\x1b[31mgreen", "32"), "\x1b[1mbold\x1b[0m\x1b[32m?[31mgreen\x1b[0m", "\x1b[1mbold\x1b[0m\x1b[32m?[31mgreen\x1b[0m"},
		{"a family", "👩\u200d👧\ufe0f", "👩\u200d👧\ufe0f", "👩\u200d👧\ufe0f"},
	} {
		for strict, want := range map[bool]string{true: tt.strict, false: tt.loose} {
			var whole, bytes strings.Builder
			w, b := newSafeWriter(&whole, strict, 0), newSafeWriter(&bytes, strict, 0)
			if n, err := w.Write([]byte(tt.text)); n != len(tt.text) || err != nil {
				t.Errorf("%s: wrote %d, %v", tt.name, n, err)
			}
			for i := range len(tt.text) {
				_, _ = b.Write([]byte{tt.text[i]})
			}
			if whole.String() != want || bytes.String() != want {
				t.Errorf("%s, strict %v: %q, byte by byte %q, want %q", tt.name, strict, whole.String(), bytes.String(), want)
			}
		}
	}
}

// TestSafeWriterCutsLines writes a list of a file that has no end.
func TestSafeWriterCutsLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := newSafeWriter(&out, true, 10)
	for range 100 {
		_, _ = s.Write([]byte("1234567"))
	}
	_, _ = s.Write([]byte("\nnext\n"))
	if got := out.String(); got != "1234567123...\nnext\n" {
		t.Errorf("%q", got)
	}
}
