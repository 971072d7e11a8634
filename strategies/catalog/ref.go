package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/game"
)

// Ref is a reference to one strategy, or to several copies of it.
type Ref struct {
	Target string // a name or a path
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

func isPath(target string) bool { return strings.ContainsAny(target, `./\`) }

// ParseRef parses TARGET or TARGET*COPIES, ignoring space around both.
func ParseRef(s string) (Ref, error) {
	target, copies, counted := strings.Cut(s, "*")
	ref := Ref{Target: strings.TrimSpace(target), Copies: 1}
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return Ref{}, fmt.Errorf("strategy %q: contains unprintable characters", s)
	case strings.Contains(s, ","):
		return Ref{}, fmt.Errorf("strategy %q: contains a comma, which separates strategies", s)
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

// validName reports whether s can be the name of a strategy: a letter or digit,
// then letters, digits, - and _. Such a name needs no quotes in a field, a file
// name or a display name.
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

// nearest returns the candidate with the smallest edit distance to s, the first of
// equals, or "" if none is similar.
func nearest(s string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		// With more edits than half of the longer word they are not similar.
		d := distance(s, c)
		if d <= max(len(s), len(c))/2 && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// distance returns the optimal string alignment distance of a and b: insertions,
// deletions, replacements and swaps of neighbours, each byte edited at most once
// (Boytsov, ACM JEA 16, 2011, section 2.2).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
