package words

import (
	"fmt"
	"math"

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
	return fmt.Sprintf("Extended when %s leagues had been looked at: intervals, places and tiers may now be wrong in one run of %s, so that with a chance of at most %s a place or a tier is wrong at any of these looks; the same holds for each interval by itself.",
		List(after, "and", len(after)), s.Count(int64(math.Round(1/(1-level)))), s.Percent(analysis.ErrorOfLooks(level, len(looks))))
}

// Unfinished says that some of the leagues of a run are missing, and what it means to
// stop there for what they show. A simulation in package analysis has the figure.
func (s Style) Unfinished(e *analysis.Estimates, planned int) string {
	return fmt.Sprintf("Unfinished: %s of %s. Stopping here for what they show is no fair look: four equal strategies, stopped at the best of 14 looks, differed in 26 %% of runs "+
		"instead of 5 %%. --until looks after every league and allows for it.", s.Count(int64(e.Leagues)), s.Plural(int64(planned), "league"))
}
