package fairness

import (
	"fmt"
	"math"

	"github.com/strategylab/strategylab/host/game"
)

// Never is how often at most a fair league is said to be not consistent with a fair
// draw, and Seldom how often at most it is said to be unusual.
const (
	Never  = 1e-4
	Seldom = 3 * Alpha // three kinds of questions, each at the level Alpha
)

// League is what all questions about the draws of a league show together.
type League struct {
	Tests []Test
	// P is the probability, at most, that a fair league shows an answer as unlikely as
	// the most unlikely of these.
	P float64
}

// Of asks all questions about the draws of a league: whether the numbers come as often
// as they should, even ones do, and each player wins as often as it should when the
// choices differ.
func Of(draw game.Draw, numbers []int, contests []Contest) League {
	favoured := Favoured(draw, contests)
	l := League{Tests: append([]Test{Uniform(draw, numbers), Even(draw, numbers)}, favoured...)}
	l.P = min(1, 3*l.least().Corrected)
	return l
}

// least returns the most unlikely answer.
func (l *League) least() *Test {
	least := &l.Tests[0]
	for i := range l.Tests {
		if l.Tests[i].Corrected < least.Corrected {
			least = &l.Tests[i]
		}
	}
	return least
}

// Consistent reports whether the draws may be those of a fair league. So far out, the
// chi-square approximation finds samples of 60 to 200 numbers twice as often as it says.
func (l *League) Consistent() bool { return l.P >= Never/2 }

// Unusual reports whether few fair leagues look so, or more so.
func (l *League) Unusual() bool { return l.P < Seldom }

// String says the verdict in words, those of the audit, of the page and of conformance.
func (l *League) String() string {
	switch why := fmt.Sprintf("%s p = %.2g", l.least().Question, l.least().Corrected); {
	case !l.Consistent():
		return fmt.Sprintf("not consistent with a fair draw: fewer than one fair league in 10,000 looks so (%s)", why)
	case l.Unusual():
		return fmt.Sprintf("unusual: one fair league in %.0f looks so (%s)", math.Floor(1/l.P), why)
	}
	return "consistent with a fair draw"
}
