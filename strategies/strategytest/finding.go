package strategytest

import (
	"fmt"
	"strings"
)

// Level says what a finding means for the strategy's author.
type Level uint8

// The levels, from best to worst.
const (
	OK      Level = iota // checked and found good
	Info                 // worth knowing, neither good nor bad
	Warning              // matters in some leagues, or may be meant so
	Error                // costs matches, or makes results worthless
)

var levelNames = [...]string{"ok", "info", "warning", "error"}

// String returns "ok", "info", "warning" or "error".
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level-%d", uint8(l))
}

// MarshalText returns the form of String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one thing that a check found out.
type Finding struct {
	ID    string `json:"id"` // of the check, stable: "deterministic"
	Level Level  `json:"level"`
	What  string `json:"what"`            // one sentence
	Where string `json:"where,omitempty"` // "scripts/mine.lua:12", where that is known
	Hint  string `json:"hint,omitempty"`  // what to do about it
	// Share is how much of a budget the costliest call used, from 0 to 1, where
	// the finding is about one.
	Share float64 `json:"share,omitempty"`
}

// String returns "level id: where: what (hint)" on one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", f.Level, f.ID)
	if f.Where != "" {
		b.WriteString(f.Where + ": ")
	}
	b.WriteString(f.What)
	if f.Hint != "" {
		b.WriteString(" (" + f.Hint + ")")
	}
	return b.String()
}

// Worst returns the worst level among the findings; of none it is OK.
func Worst(findings []Finding) Level {
	worst := OK
	for _, f := range findings {
		worst = max(worst, f.Level)
	}
	return worst
}

// Verdict sums up the findings of Check in one sentence for somebody who has
// written their first strategy.
func Verdict(findings []Finding) string {
	var errors, warnings int
	for _, f := range findings {
		switch f.Level {
		case Error:
			errors++
		case Warning:
			warnings++
		}
	}
	switch {
	case errors > 0:
		return fmt.Sprintf("Not ready: %s to mend first.", count(errors, "problem"))
	case warnings > 0:
		return fmt.Sprintf("Ready for experiments, with %s to read before playing for real.", count(warnings, "warning"))
	default:
		return "Ready: everything that was checked is in order."
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
