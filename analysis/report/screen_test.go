package report_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
)

var attributes = regexp.MustCompile("\x1b\\[[0-9]+m")

// painted is a text with the attributes of a terminal.
func painted(text string) string {
	var b strings.Builder
	for _, c := range text {
		if attribute, is := words.Painted(c); is {
			fmt.Fprintf(&b, "\x1b[%dm", attribute)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// TestScreens keeps the screens of a first look, piped and on terminals. Lines fit, and
// what matters stays.
func TestScreens(t *testing.T) {
	for name, r := range runs(t) {
		for _, width := range []int{0, 60, 80, 160} {
			screen := report.Screen{Width: width, Colour: width == 160}
			if name == "faulty" || name == "clean" {
				r.Yours, screen.Beyond = []int{3, 0}, 12
			}
			text := painted(string(rendered(t, func(w io.Writer) error { return report.WriteTable(w, report.New(r), screen) })))
			golden(t, fmt.Sprintf("%s.screen.%d.txt", name, width), []byte(text))
			plain := attributes.ReplaceAllString(text, "")
			if plain == text == screen.Colour && r.Yours != nil {
				t.Errorf("%s at width %d: colours are %v", name, width, !screen.Colour)
			}
			for line := range strings.Lines(plain) {
				command := strings.HasPrefix(line, "  strategylab ") // for a shell, in one piece
				if n := utf8.RuneCountInString(line) - 1; n > width && width > 0 && !command {
					t.Errorf("%s at width %d: line of %d: %q", name, width, n, line)
				}
			}
			if !strings.Contains(plain, "strategy") || name != "two" && !strings.Contains(plain, "points") {
				t.Errorf("%s at width %d lost what matters:\n%s", name, width, plain)
			}
		}
	}
}
