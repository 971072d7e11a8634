package experiments

import (
	"fmt"

	"github.com/strategylab/strategylab/host/results"
)

// cost is what a player has cost since the last checkpoint, in the leagues in which that
// was too much. Those in which it was not count as free.
type cost struct{ exact, measured int64 }

func (c *cost) add(x results.Cost) {
	if x.Exact {
		c.exact += x.Share
	} else {
		c.measured += x.Share
	}
}

// average returns the average share of some leagues.
func (c *cost) average(leagues int) int64 { return (c.exact + c.measured) / int64(leagues) }

// counted reports whether the counted costs alone are too much.
func (c *cost) counted(leagues int) bool { return c.exact/int64(leagues) > results.FullShare }

// why says what is too much, before "of 8 leagues in a row".
func (c *cost) why(leagues int, agent bool) string {
	what, flag := "time", "time-limit"
	if c.counted(leagues) {
		what, flag = "instructions", "instructions"
	}
	if agent {
		flag = "deadline"
	}
	return fmt.Sprintf("used %.1f times the %s that a league may cost (--%s allows more), on the average", float64(c.average(leagues))/results.FullShare, what, flag)
}
