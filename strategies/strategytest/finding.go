package strategytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Level is the severity of a finding.
type Level uint8

// The levels, from best to worst.
const (
	OK      Level = iota // checked and in order
	Info                 // good to know
	Warning              // matters in some leagues, or may be intended
	Error                // loses matches, or invalidates results
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

// UnmarshalText reads the form of String.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("level %q, want one of %s", text, strings.Join(levelNames[:], ", "))
	}
	*l = Level(i)
	return nil
}

// Finding is one result of a check.
type Finding struct {
	ID    string `json:"id"` // of the check, stable: "deterministic"
	Level Level  `json:"level"`
	What  string `json:"what"`            // one sentence
	Where string `json:"where,omitempty"` // "scripts/mine.lua:12", if known
	Hint  string `json:"hint,omitempty"`  // what to do about it
	// Share is the share of a budget that the most expensive call used, from 0 to 1.
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

// Line returns the line of the script that a finding is about; 0 if it has none.
func (f Finding) Line() int {
	_, after, _ := strings.Cut(f.Where, ":")
	after, _, _ = strings.Cut(after, ":")
	line, err := strconv.Atoi(after)
	if err != nil || line < 0 {
		return 0
	}
	return line
}

// Worst returns the highest level among the findings, or OK without any.
func Worst(findings []Finding) Level {
	worst := OK
	for _, f := range findings {
		worst = max(worst, f.Level)
	}
	return worst
}

// Urgent returns findings with the worst first and, of those, the cause before its effects:
// what a script reads although it does not exist before the failures in that line.
func Urgent(findings []Finding) []Finding {
	urgency := func(f Finding) Level {
		level := f.Level
		for _, other := range findings {
			if f.ID == idSlip && f.Where == other.Where {
				level = max(level, other.Level)
			}
		}
		return level
	}
	return slices.SortedStableFunc(slices.Values(findings), func(a, b Finding) int { return cmp.Compare(urgency(b), urgency(a)) })
}

// idSlip is a finding about what a script reads although it does not exist.
const idSlip = "slip"

// Verdict summarizes the findings of Check in one sentence.
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
		return fmt.Sprintf("Not ready: %s to fix first.", count(errors, "problem"))
	case slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == idTime }):
		return "No problem found in the time of the check; not everything was checked."
	case warnings > 0:
		return fmt.Sprintf("Ready for experiments; read %s before playing live.", count(warnings, "warning"))
	default:
		return "Ready: all checks passed."
	}
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
