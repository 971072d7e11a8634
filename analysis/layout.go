package analysis

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// outcome is all that the estimates need to know about one match, seen from the first
// player of the pair.
type outcome uint8

const (
	drawn       outcome = iota
	evenWin             // the first said even, the other odd, and the first won
	evenLoss            // the first said even, the other odd, and the other won
	oddWin              // the first said odd, the other even, and the first won
	oddLoss             // the first said odd, the other even, and the other won
	faultFirst          // a technical loss of the first alone
	faultSecond         // a technical loss of the other alone
	faultBoth           // technical losses of both
	outcomes            // how many there are
	malformed   outcome = 0xff
)

func (o outcome) mirror() outcome {
	return [outcomes]outcome{drawn, oddLoss, oddWin, evenLoss, evenWin, faultSecond, faultFirst, faultBoth}[o]
}

func mirrored(c [outcomes]int64) [outcomes]int64 {
	return [outcomes]int64{c[drawn], c[oddLoss], c[oddWin], c[evenLoss], c[evenWin],
		c[faultSecond], c[faultFirst], c[faultBoth]}
}

// A match is packed into a code, and a table filled from the rules turns the code into
// an outcome. Bits: choice of A (2), choice of B (2), fault of A, fault of B, parity of
// the number, whether no number was drawn.
const (
	codeFaultA  = 1 << 4
	codeFaultB  = 1 << 5
	codeOdd     = 1 << 6
	codeNoDraw  = 1 << 7
	codes       = 1 << 8
	maxCodeSide = 3 // the largest choice that fits the code
)

// scheduledMatch is one match of the schedule: its players and the place of its tally.
type scheduledMatch struct {
	cell  uint32 // first tally of the pair of seats
	a, b  uint16 // seats
	table uint16 // 0, or codes if A is the higher seat of the pair
}

// layout is what all leagues of a plan have in common. It is immutable and shared by
// all accumulators of the plan.
type layout struct {
	field   []results.Entrant
	copies  []int // by field index; see results.Plan.Copies
	legs    int
	seed    uint64 // of the plan; resampling is seeded from it
	games   int64  // matches of one player in one league
	matches []scheduledMatch
	// schedule has the ids of the matches.
	schedule []game.Match
	table    [2 * codes]outcome

	// Adjusted points are counted in units of 1/unit of a point; the chance of an even
	// number is even/unit in lowest terms.
	unit, even int64
}

func newLayout(plan results.Plan) (*layout, error) {
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		return nil, fmt.Errorf("analyze plan: %w", err)
	}
	n := len(plan.Field)
	schedule, err := game.NewSchedule(n, plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("analyze plan: %w", err)
	}
	even, total := draw.EvenWeight()
	div := gcd(even, total)
	l := &layout{
		field: plan.Field, copies: plan.Copies(), legs: plan.Legs, seed: plan.Seed,
		games:   int64(n-1) * int64(plan.Legs),
		matches: make([]scheduledMatch, len(schedule.Matches())), schedule: schedule.Matches(),
		unit: int64(total / div), even: int64(even / div),
	}
	for i, p := range schedule.Matches() {
		s := scheduledMatch{a: uint16(p.A), b: uint16(p.B)}
		if p.A > p.B {
			s.table = codes
		}
		s.cell = uint32(pairIndex(n, min(p.A, p.B), max(p.A, p.B)) * int(outcomes))
		l.matches[i] = s
	}
	l.fillTable()
	return l, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fillTable asks the rules once about every possible match.
func (l *layout) fillTable() {
	for code := range codes {
		a := game.Side{Choice: game.Parity(code & 3)}
		b := game.Side{Choice: game.Parity(code >> 2 & 3)}
		if code&codeFaultA != 0 {
			a.Fault = game.FaultError
		}
		if code&codeFaultB != 0 {
			b.Fault = game.FaultError
		}
		number := 0
		if code&codeOdd != 0 {
			number = 1
		}
		o := classify(a, b, number, code&codeNoDraw == 0)
		l.table[code], l.table[code+codes] = o, o
		if o != malformed {
			l.table[code+codes] = o.mirror()
		}
	}
}

func classify(a, b game.Side, number int, numbered bool) outcome {
	v := game.Judge(a, b, number)
	made := func(s game.Side) bool { return s.Choice == game.Even || s.Choice == game.Odd }
	switch {
	case v.ResultA == game.TechnicalLoss && v.ResultB == game.TechnicalLoss:
		return faultBoth
	case v.ResultA == game.TechnicalLoss:
		return faultFirst
	case v.ResultB == game.TechnicalLoss:
		return faultSecond
	case !made(a) || !made(b) || !numbered:
		return malformed // no fault, and yet no result
	case v.ResultA == game.Tie:
		return drawn
	case a.Choice == game.Even && v.ResultA == game.Win:
		return evenWin
	case a.Choice == game.Even:
		return evenLoss
	case v.ResultA == game.Win:
		return oddWin
	default:
		return oddLoss
	}
}

// pairIndex numbers the pairs i < j of n players: (0,1), (0,2), ..., (1,2), ...
func pairIndex(n, i, j int) int { return i*(2*n-i-1)/2 + j - i - 1 }

func pairs(n int) int { return n * (n - 1) / 2 }

// span is the range of a number.
type span struct{ low, high float64 }

func (s span) width() float64 { return s.high - s.low }

// adjustedWin is the range of the chance of winning a match: that of the likelier
// parity at most, or any chance once there are technical losses.
func (l *layout) adjustedWin(technical bool) span {
	if technical {
		return span{0, 1}
	}
	return span{0, float64(max(l.even, l.unit-l.even)) / float64(l.unit)}
}

// adjustedPoints is the range of the adjusted points of a match. Technical losses keep
// their real points and so open the whole range.
func (l *layout) adjustedPoints(technical bool) span {
	if technical {
		return span{0, game.WinPoints}
	}
	less, more := min(l.even, l.unit-l.even), max(l.even, l.unit-l.even)
	return span{
		min(game.TiePoints, float64(game.WinPoints*less)/float64(l.unit)),
		max(game.TiePoints, float64(game.WinPoints*more)/float64(l.unit)),
	}
}
