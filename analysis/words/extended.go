package words

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
)

// Extended says what holds for a run that was looked at after some numbers of leagues
// and extended each time; level is that of its last look. It is "" without looks.
func (s Style) Extended(level float64, looks []int) string {
	if len(looks) == 0 {
		return ""
	}
	var after []string
	for _, n := range looks {
		after = append(after, s.Count(int64(n)))
	}
	return fmt.Sprintf("Extended when %s leagues had been looked at: intervals, places and tiers are now at %s, so that with a chance of at most %s a place or a tier is wrong at any of these looks, and so with each interval.",
		List(after, "and", len(after)), s.Level(level), s.Percent(analysis.ErrorOfLooks(level, len(looks))))
}
