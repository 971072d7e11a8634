package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/game"
)

// Ref is what a user wrote for one strategy, or for several copies of it.
type Ref struct {
	Target string // a name or a path
	Copies int    // 1 to game.MaxPlayers
}

// String returns the form that ParseRef reads.
func (r Ref) String() string {
	if r.Copies == 1 {
		return r.Target
	}
	return fmt.Sprintf("%s*%d", r.Target, r.Copies)
}

// IsPath reports whether the target is a path rather than a name. No name has
// a dot or a slash in it.
func (r Ref) IsPath() bool { return isPath(r.Target) }

func isPath(target string) bool { return strings.ContainsAny(target, `./\`) }

// ParseRef reads TARGET or TARGET*COPIES. Space around either is ignored.
func ParseRef(s string) (Ref, error) {
	target, copies, counted := strings.Cut(s, "*")
	ref := Ref{Target: strings.TrimSpace(target), Copies: 1}
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return Ref{}, fmt.Errorf("strategy %q: it has characters that cannot be printed", s)
	case strings.Contains(s, ","):
		return Ref{}, fmt.Errorf("strategy %q: a comma separates strategies, it cannot be part of one", s)
	case ref.Target == "":
		return Ref{}, fmt.Errorf("strategy %q: no name, want a name or a path such as markov-2 or scripts/mine.lua", s)
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
		return 0, fmt.Errorf("after * comes the number of copies, 1 to %d, for example random*8", game.MaxPlayers)
	}
	return n, nil
}

// ParseRefs reads references separated by commas. The empty string has none.
func ParseRefs(s string) ([]Ref, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var refs []Ref
	for part := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(part) == "" {
			return nil, fmt.Errorf("strategies %q: nothing stands between two commas, or at an end", s)
		}
		ref, err := ParseRef(part)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// maxName is the longest name of a strategy, so that tables stay readable.
const maxName = 40

// validName reports whether a strategy may have the name: a letter or digit,
// then letters, digits, - and _. It can stand in a field, in a file name and
// in a display name of the protocol without being quoted.
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

// nearest returns the candidate that takes the fewest edits to make of s, or
// "" if even that one has little in common with it. Of equals it is the first.
func nearest(s string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		// More edits than half of the longer word: another word altogether.
		d := distance(s, c)
		if d <= max(len(s), len(c))/2 && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a, none of them touching a byte twice: the optimal
// string alignment distance (Boytsov, ACM JEA 16, 2011, section 2.2).
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
