package words

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
)

// Cause names a kind of fault so that "by" can stand before it.
func Cause(f game.Fault) string {
	switch f {
	case game.FaultInvalid:
		return "an invalid choice"
	case game.FaultBudget:
		return "too many instructions"
	case game.FaultQuarantined:
		return "quarantine"
	case game.FaultNoJoin:
		return "not joining"
	case game.FaultDeclined:
		return "declining"
	case game.FaultNoAnswer:
		return "no answer"
	case game.FaultDisconnect:
		return "a lost connection"
	case game.FaultConnect:
		return "no connection"
	}
	return f.String()
}

// Faults says how a player lost matches by failing: for each kind of fault how often
// and where first, below it what the strategy's error was, in at most width
// characters, and the command that shows that match again. folder is that of the run;
// if it is empty, no command is given. What followed from another fault has no
// place of its own.
func (s Style) Faults(p *analysis.Player, folder string, width int) []string {
	var lines []string
	for _, f := range p.Faults {
		line := Printable(p.Name) + ": " + s.Plural(f.Count, "technical loss") + " by " + Cause(f.Kind)
		where, _, _ := strings.Cut(f.Where, "\n")
		where = Shorten(Printable(where), width)
		if f.Consequence() {
			if where != "" {
				line += ": " + where
			}
			lines = append(lines, line)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s, first in league %d, match %s", line, f.League, f.Match))
		if where != "" {
			lines = append(lines, "  "+where)
		}
		if folder != "" {
			lines = append(lines, "  "+ReplayCommand(folder, f.League, f.Match))
		}
	}
	return lines
}

// ReplayCommand is the command that replays a match of the run in a folder, for a
// shell.
func ReplayCommand(folder string, league int, match string) string {
	return fmt.Sprintf("strategylab replay %s --league %d --match %s", ShellWord(folder), league, match)
}

// ShellWord quotes a word of a command for a shell if that is necessary.
func ShellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:@%+,=", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
