package script

// Nearest returns the candidate with the smallest edit distance to s, the first of
// equals, or "" if none is similar.
func Nearest(s string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		// With more edits than a third of the longer word they are not similar.
		d := distance(s, c)
		if d <= max(len(s), len(c))/3 && (best == "" || d < least) {
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
