package words

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestList(t *testing.T) {
	t.Parallel()
	names := strings.Split("a b c d e f", " ")
	for _, tt := range []struct {
		n, most int
		want    string
	}{
		{0, 0, "none"}, {1, 1, "a"}, {2, 2, "a and b"}, {3, 0, "a, b and c"},
		{6, 6, "a, b, c, d, e and f"}, {6, 5, "a, b, c, d and 2 others"}, {6, 2, "a and 5 others"},
	} {
		if got := List(names[:tt.n], "and", tt.most); got != tt.want {
			t.Errorf("%d names, at most %d: %q, want %q", tt.n, tt.most, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got := Plain.Quote("it says even") + Typeset.Quote("it says odd"); got != `"it says even"“it says odd”` {
		t.Errorf("quoted: %s", got)
	}
}

// TestPrintable: nothing that a terminal obeys survives, and everything else does.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain name-1":          "plain name-1",
		"\x1b[31mred\x07":       "?[31mred?",
		"two\r\nlines":          "two??lines",
		"短い名前 é":                "短い名前 é",
		"right\u202eto left":    "right?to left",
		"zero\u200bwidth\u00ad": "zero?width?",
		"bad \xff utf8":         "bad \ufffd utf8",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"短い名前です", 4, "短い名…"}, {"x", 1, "x"}, {"xy", 1, "…"}, {"xy", 0, "…"},
	} {
		if got := Shorten(tt.in, tt.width); got != tt.want {
			t.Errorf("%q to %d: %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

// TestWrap: no line is too long unless it is one word, no word is lost, and lines that
// follow are indented.
func TestWrap(t *testing.T) {
	t.Parallel()
	text := "Significant differences between neighbours: 13 of 28 (>), no evidence for 15 (~); 調整 points averylongwordthatcannotbebroken."
	for width := range 130 {
		got := Wrap(text, width)
		if strings.Join(strings.Fields(got), " ") != text {
			t.Fatalf("width %d loses words: %q", width, got)
		}
		for i, line := range strings.Split(got, "\n") {
			if n := utf8.RuneCountInString(line); width > 0 && n > width && len(strings.Fields(line)) > 1 {
				t.Errorf("width %d: line of %d: %q", width, n, line)
			}
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Errorf("width %d: line %d is not indented: %q", width, i, line)
			}
		}
	}
	if got, want := Wrap("    "+text, 40), "    Significant differences between\n      neighbours: 13 of 28 (>), no\n"; !strings.HasPrefix(got, want) {
		t.Errorf("indented: %q, want %q", got, want)
	}
	if got := Wrap(text, 0); got != text {
		t.Errorf("without a limit: %q", got)
	}
}
