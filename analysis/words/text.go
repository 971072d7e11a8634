package words

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
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

// Cause names a kind of fault so that "by" can stand before it.
func Cause(f game.Fault) string {
	return cmp.Or(map[game.Fault]string{
		game.FaultInvalid: "an invalid choice", game.FaultBudget: "too many instructions", game.FaultQuarantined: "quarantine",
		game.FaultNoJoin: "not joining", game.FaultDeclined: "declining", game.FaultNoAnswer: "no answer",
		game.FaultDisconnect: "a lost connection", game.FaultConnect: "no connection",
	}[f], f.String())
}

// Faults says how a player lost matches by failing: for each kind of fault how often
// and where first, below it what the strategy's error was, in at most width
// characters, and the command that shows that match again. folder is that of the run;
// if it is empty, no command is given. What followed from another fault has no
// place of its own.
func (s Style) Faults(p *analysis.Player, folder string, width int) []string {
	return s.Say("faults", struct {
		*analysis.Player
		Folder string
		Width  int
	}{p, folder, width})
}

// ReplayCommand is the command that replays a match of the run in a folder, for a
// shell.
func ReplayCommand(folder string, league int, match string) string {
	return fmt.Sprintf("strategylab replay %s --league %d --match %s", ShellWord(folder), league, match)
}

var plainWord = regexp.MustCompile(`^[a-zA-Z0-9_./:@%+,=-]+$`)

// ShellWord quotes a word of a command for a shell if that is necessary.
func ShellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
