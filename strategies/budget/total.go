package budget

import (
	"errors"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// Total bounds all calls of one seat in a league together. The zero value is no bound.
//
// A match may cost an eightieth of the time limit of a call, or three tenths of its
// instructions, and a league beside its matches a twentieth of the time, or half of the
// instructions: by default 12.5 ms a match and 50 ms a league. A strategy that thinks for
// 10 ms about every choice stays within that in a field of any size, and one that uses
// what a single call may use exceeds it several times.
//
// That holds for the average of several leagues; package experiments decides about it. A
// single league may cost some times as much, which the runtimes enforce.
type Total struct {
	time, mostTime                 time.Duration
	instructions, mostInstructions int64
}

// ErrTotal is why a call was interrupted that exceeded no limit of its own.
var ErrTotal = errors.New("the limit of a league was exceeded")

// A single league may cost several times the average, and in time at least as much as some calls.
const (
	mostTimes = 4
	mostCalls = 2
)

// slack is how many times as long as others the instructions of a counted strategy may
// take before its time counts, too: nobody can reproduce time.
const slack = 2

// Total returns the bound on a seat with a number of matches in its league.
func (l Limits) Total(matches int) Total {
	l = l.OrDefaults()
	n := float64(matches)
	t := Total{
		time:         time.Duration(part(int64(l.Time), 1./20+n/80)),
		instructions: part(l.Instructions, 1./2+n*3/10),
	}
	t.mostTime, t.mostInstructions = max(mostTimes*t.time, mostCalls*min(l.Time, most)), mostTimes*t.instructions
	return t
}

// most is large enough never to be used up, and small enough for some times as much.
const most = 1 << 59

// part returns a multiple of a limit, at least what makes one FullShare part.
func part(limit int64, times float64) int64 {
	return int64(min(max(float64(limit)*times, strategies.FullShare), most))
}

// Counted returns the bound on a strategy whose instructions are counted: it has more time.
func (t Total) Counted() Total {
	t.time, t.mostTime = slack*t.time, slack*t.mostTime
	return t
}

// Most returns what the calls of a single league may take; 0 for no bound.
func (t Total) Most() (spent time.Duration, instructions int64) {
	return t.mostTime, t.mostInstructions
}

// Share returns what calls have cost of what a league may cost, in strategies.FullShare parts. It is
// exact if that follows from the instructions; else it is that of the time. Calls that are
// not counted have no instructions.
func (t Total) Share(spent time.Duration, instructions int64) strategies.Spent {
	if t.time == 0 {
		return strategies.Spent{}
	}
	counted := strategies.Spent{Share: instructions / (t.instructions / strategies.FullShare), Exact: true}
	if counted.Over() {
		return counted
	}
	return strategies.Spent{Share: int64(spent / (t.time / strategies.FullShare))}
}
