package report_test

import (
	"io"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/report"
)

// TestPaper: whatever players are called, the rows of a table have its columns, and no text is a command.
func TestPaper(t *testing.T) {
	t.Parallel()
	all := unusual(t)
	maps.Copy(all, runs(t))
	named := play(t, 20, 2, "uniform:1-10", entrant{name: `a|b_&$%#{\^~*<`, kind: "lua"}, entrant{name: "c", kind: "js", even: 0.5}, entrant{name: "d", kind: "js", even: 0.9})
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
