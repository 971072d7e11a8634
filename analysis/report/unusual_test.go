package report_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/game"
)

// unusual are runs at the edges of what can be reported.
func unusual(t *testing.T) map[string]report.Run {
	t.Helper()
	coin := func(name string) entrant { return entrant{name: name, kind: "lua", even: 0.5} }
	fails := func(name string, percent int, f game.Fault) entrant {
		return entrant{name: name, kind: "lua", even: 0.5, broken: percent, fault: f, where: "line 1: " + name + "\nline 2"}
	}
	var many []entrant
	for i := range 14 {
		many = append(many, entrant{name: fmt.Sprintf("s%02d", i), kind: "builtin", even: float64(i) / 13})
	}
	same := entrant{name: "one", kind: "builtin", even: 1}
	other := same
	other.name = "two"
	third := same
	third.name = "three"
	const fair = "uniform:1-10"
	return map[string]report.Run{
		"two players, one league":      play(t, 1, 1, fair, coin("a"), coin("b")),
		"two players, no league":       play(t, 0, 1, fair, coin("a"), coin("b")),
		"two players, an unfair draw":  play(t, 40, 2, "weights:2=3,3=1", entrant{name: "even", kind: "lua", even: 1}, entrant{name: "odd", kind: "lua"}),
		"all matches tied":             play(t, 30, 2, fair, same, other, third),
		"all matches lost by all":      play(t, 10, 2, fair, fails("a", 100, game.FaultQuarantined), fails("b", 100, game.FaultCrash), fails("c", 100, game.FaultForfeit)),
		"one that is far behind":       play(t, 60, 2, fair, coin("a"), coin("b"), coin("c"), fails("d", 100, game.FaultError)),
		"one that rarely fails":        play(t, 60, 4, fair, coin("a"), coin("b"), coin("c"), fails("d", 1, game.FaultTimeout)),
		"two leagues, fourteen":        play(t, 2, 1, fair, many...),
		"a number that is always even": play(t, 30, 1, "weights:2=1", many[0], many[7], many[13]),
		"long names":                   play(t, 20, 1, fair, coin(strings.Repeat("long-", 40)+"a"), coin(strings.Repeat("長", 120)), coin("c")),
		"hostile names": play(t, 20, 1, fair, coin("a,b\"c\";'d"), coin("=1+1|2"), coin("<script>alert(1)</script>"), coin("x\x1b[31m\ny\u202e"),
			fails("%s %d %!v", 30, game.FaultInvalid)),
	}
}

// Any run can be written, and its screen fits its width, names each strategy and has no number that
// does not exist.
func TestUnusualTables(t *testing.T) {
	t.Parallel()
	for name, r := range unusual(t) {
		d := report.New(r)
		if err := errors.Join(report.WriteJSON(io.Discard, d), report.WritePlayersCSV(io.Discard, d), report.WritePairsCSV(io.Discard, d)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, details := range []bool{false, true} {
			for _, width := range []int{0, 132, 80, 40} {
				text := string(rendered(t, func(w io.Writer) error { return report.WriteTable(w, d, report.Screen{Width: width, Details: details}) }))
				for _, bad := range []string{"NaN", "Inf", "%!", "all 1 ", "1 leagues", "1 matches", "  .", "0 of 0"} {
					if strings.Contains(strings.ReplaceAll(text, "%!v", ""), bad) {
						t.Errorf("%s, details %t, width %d: %q in\n%s", name, details, width, bad, text)
					}
				}
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if i := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
						t.Errorf("%s: %q is shown", name, line)
					}
					if n := utf8.RuneCountInString(line); width > 0 && n > width && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("%s, width %d: line of %d: %q", name, width, n, line)
					}
				}
				if name == "long names" || name == "hostile names" {
					continue // which are shortened or replaced
				}
				for _, p := range r.Estimates.Players {
					if !strings.Contains(text, p.Name) {
						t.Errorf("%s, details %t, width %d: %s is not in\n%s", name, details, width, p.Name, text)
					}
				}
			}
		}
	}
}
