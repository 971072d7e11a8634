package report_test

import (
	"fmt"
	"io"
	"maps"
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
	for name, r := range runs() {
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

// TestPaper: whatever players are called, the rows of a table have its columns, and no text is a command.
func TestPaper(t *testing.T) {
	t.Parallel()
	all := maps.Clone(unusual())
	maps.Copy(all, runs())
	named := play(20, 2, "uniform:1-10", entrant{name: `a|b_&$%#{\^~*<`, kind: "lua"}, entrant{name: "c", kind: "js", even: 0.5}, entrant{name: "d", kind: "js", even: 0.9})
	all["named"] = named
	markups := map[report.Markup]struct{ between, raw *regexp.Regexp }{
		report.Markdown: {regexp.MustCompile(`[^\\]\|`), regexp.MustCompile(`[^\\][<*_]`)},
		report.LaTeX:    {regexp.MustCompile(`[^\\]&`), regexp.MustCompile(`[^\\][%#_]|NaN`)},
	}
	for name, r := range all {
		for markup, is := range markups {
			got, cells := rendered(t, func(w io.Writer) error { return report.WritePaper(w, report.New(r), markup) }), 0
			for line := range strings.Lines(string(got)) {
				n := len(is.between.FindAllString(line, -1))
				if cells > 0 && n > 0 && n != cells {
					t.Errorf("%s: %d cells, not %d, in %s", name, n, cells, line)
				}
				if cells = n; is.raw.MatchString(line) {
					t.Errorf("%s: a raw character in %s", name, line)
				}
			}
			if name == "faulty" {
				golden(t, "faulty."+markup.File(), got)
			}
		}
	}
}
