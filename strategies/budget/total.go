package budget

import (
	"errors"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// Total bounds all calls of one seat in a league together. The zero value is no bound.
//
// A match may cost a five-hundredth of the time limit of a call, or a hundredth of its
// instructions, and a league beside its matches a fiftieth of the time, or a tenth of the
// instructions: by default 2 ms a match and 20 ms a league. A strategy that thinks for a
// millisecond about every choice stays within that in a field of any size, and no script
// costs 200 leagues of 34 matches more than 20 s.
//
// That holds for the average of several leagues; package experiments decides about it. A
// single league may cost some times as much, which the runtimes enforce.
type Total struct {
	time, mostTime                 time.Duration
	instructions, mostInstructions int64
	slack                          time.Duration
}

// shares are what a league may cost, in parts of the limits of one call: beside its
// matches, and for a number of matches. slack is how many times as long as others the
// instructions of a counted strategy may take before its time counts, too: nobody can
// reproduce time. least is the time that a single league may take at least, in calls: more
// than one, whose own limit is the one to name where it loops.
type shares struct {
	time, instructions           float64
	matchTime, matchInstructions [2]float64 // parts, and matches that have them
	slack                        time.Duration
	least                        float64
}

// versions has the shares by strategies.Setup.Totals, for runs that began with them.
var versions = [...]shares{
	1: {time: 1. / 20, matchTime: [2]float64{1, 80}, instructions: 1. / 2, matchInstructions: [2]float64{3, 10}, slack: 2, least: 2},
	2: {time: 1. / 50, matchTime: [2]float64{1, 500}, instructions: 1. / 10, matchInstructions: [2]float64{1, 100}, slack: 1, least: 1.25},
}

// NewestTotals is the version for what did not begin with another.
const NewestTotals = len(versions) - 1

// ErrTotal is why a call was interrupted that exceeded no limit of its own.
var ErrTotal = errors.New("the limit of a league was exceeded")

// A single league may cost several times the average, and at least the instructions of some calls.
const (
	mostTimes = 4
	mostCalls = 2
)

// Total returns the bound on a seat with a number of matches in its league, by the version
// in its strategies.Setup.Totals.
func (l Limits) Total(version, matches int) Total {
	if version == 0 {
		return Total{}
	}
	l = l.OrDefaults()
	n, share := float64(matches), versions[min(version, len(versions)-1)]
	t := Total{
		time:         time.Duration(part(int64(l.Time), share.time+n*share.matchTime[0]/share.matchTime[1])),
		instructions: part(l.Instructions, share.instructions+n*share.matchInstructions[0]/share.matchInstructions[1]),
		slack:        share.slack,
	}
	t.mostTime = max(mostTimes*t.time, time.Duration(share.least*float64(min(l.Time, most))))
	t.mostInstructions = max(mostTimes*t.instructions, mostCalls*min(l.Instructions, most))
	return t
}

// most is large enough never to be used up, and small enough for some times as much.
const most = 1 << 59

// part returns a multiple of a limit, at least what makes one FullShare part.
func part(limit int64, times float64) int64 {
	return int64(min(max(float64(limit)*times, strategies.FullShare), most))
}

// Counted returns the bound on a strategy whose instructions are counted: in the first version it
// has more time.
func (t Total) Counted() Total {
	t.time, t.mostTime = t.slack*t.time, t.slack*t.mostTime
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
