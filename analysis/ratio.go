package analysis

// Ratio gathers a mean per match whose number of matches may differ from league
// to league, as that of the matches which both players made a choice in. It keeps
// integers; its memory does not depend on the number of leagues. The zero value
// is empty. It is for one goroutine at a time.
type Ratio struct{ sums ratioSums }

// Add counts one league: what the matches came to, which may be negative, and how
// many there were. A league without any is left out. Neither may exceed 2^31.
func (r *Ratio) Add(part, base int64) { r.sums.add(part, base) }

// Leagues is how many leagues had matches.
func (r *Ratio) Leagues() int { return int(r.sums.leagues) }

// Estimate returns all parts over all bases, with an interval of a confidence
// level in (0, 1) whose unit is the league. It cannot leave low to high.
func (r *Ratio) Estimate(level, low, high float64) Estimate {
	return newIntervals(level).of(r.sums.sample(), span{low, high})
}
