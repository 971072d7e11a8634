package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies/params"
)

// Ref is a reference to one strategy, or to several copies of it.
type Ref struct {
	Target string // a name or a path, with values such as mine(horizon=8) if any
	Copies int    // 1 to game.MaxPlayers
}

// String returns the form that ParseRef parses.
func (r Ref) String() string {
	if r.Copies == 1 {
		return r.Target
	}
	return fmt.Sprintf("%s*%d", r.Target, r.Copies)
}

// IsPath reports whether the target is a path rather than a name: whether it
// contains a dot or a slash.
func (r Ref) IsPath() bool { return isPath(r.Target) }

func isPath(target string) bool {
	strategy, _ := params.Split(target)
	return strings.ContainsAny(strategy, `./\`)
}

// ParseRef parses TARGET or TARGET*COPIES, ignoring space around both. A target may have
// values of its parameters: NAME(PARAMETER=VALUE;...).
func ParseRef(s string) (Ref, error) {
	target, copies, counted := strings.Cut(s, "*")
	ref := Ref{Target: strings.TrimSpace(target), Copies: 1}
	_, values := params.Split(ref.Target)
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return Ref{}, fmt.Errorf("strategy %q: contains unprintable characters", s)
	case strings.Contains(s, ","):
		return Ref{}, fmt.Errorf("strategy %q: contains a comma, which separates strategies", s)
	case values == "" && strings.Contains(ref.Target, "=") && !isPath(ref.Target): // a path may have any letters
		return Ref{}, fmt.Errorf("strategy %q: want values of parameters as in mine(horizon=8;greed=0.3)", s)
	case ref.Target == "":
		return Ref{}, fmt.Errorf("strategy %q: empty, want a name or a path such as markov-2 or scripts/mine.lua", s)
	}
	if counted {
		n, err := parseCopies(strings.TrimSpace(copies))
		if err != nil {
			return Ref{}, fmt.Errorf("strategy %q: %w", s, err)
		}
		ref.Copies = n
	}
	return ref, nil
}

func parseCopies(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > game.MaxPlayers || s[0] == '+' {
		return 0, fmt.Errorf("want 1 to %d copies after *, for example random*8", game.MaxPlayers)
	}
	return n, nil
}

// ParseRefs parses references separated by commas; the empty string has none.
func ParseRefs(s string) ([]Ref, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var refs []Ref
	for part := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(part) == "" {
			return nil, fmt.Errorf("strategies %q: empty reference; check the commas", s)
		}
		ref, err := ParseRef(part)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// maxName is the longest name of a strategy; it keeps tables readable.
const maxName = 40

// validName reports whether s can be the name of a strategy: a letter or digit, then letters,
// digits, - and _. Such a name needs no quotes in a field, a file name or a display name.
func validName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '-' || s[0] == '_' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
