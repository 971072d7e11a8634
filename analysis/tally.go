package analysis

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// tally is the working space for one league. Matches are first counted by pair and
// outcome, one increment per match; everything else happens once per pair.
type tally struct {
	counts    []uint32 // by pair of seats and outcome
	technical bool
	players   []playerTally // by field index
	raw, adj  []int64       // of players, again, side by side
	seen      []bool
}

// playerTally is what one player did.
type playerTally struct {
	wins, draws, technical int64
	raw, adj, adjWins      int64 // adj and adjWins in units
	differ, clean          int64 // clean matches are those decided by choices
}

func newTally(n int) tally {
	return tally{
		counts:  make([]uint32, pairs(n)*int(outcomes)),
		players: make([]playerTally, n),
		raw:     make([]int64, n),
		adj:     make([]int64, n),
		seen:    make([]bool, n),
	}
}

// tallyLeague fills the counts, or fails and leaves the sums untouched.
func (a *Accumulator) tallyLeague(l results.League) error {
	t := &a.league
	if err := t.checkSeats(l.Seats); err != nil {
		return err
	}
	if len(l.Matches) != len(a.matches) {
		return fmt.Errorf("record has %d matches, the plan %d", len(l.Matches), len(a.matches))
	}
	clear(t.counts)
	var seen outcomeSet
	for i := range l.Matches {
		m, s := &l.Matches[i], &a.matches[i]
		if m.A.Choice|m.B.Choice > maxCodeSide {
			return fmt.Errorf("match %d: choices %d and %d; want 0 to 2", i, m.A.Choice, m.B.Choice)
		}
		o := a.table[int(s.table)+codeOf(m)]
		if o == malformed {
			return fmt.Errorf("match %d: a choice or the number is missing without a fault", i)
		}
		t.counts[s.cell+uint32(o)]++
		seen |= 1 << o
	}
	t.technical = seen&technicalOutcomes != 0
	return nil
}

// outcomeSet has bit o set if outcome o occurred.
type outcomeSet uint8

const technicalOutcomes outcomeSet = 1<<faultFirst | 1<<faultSecond | 1<<faultBoth

// codeOf packs a match, without branches that depend on it: those would be mispredicted
// half of the time.
func codeOf(m *results.Match) int {
	var faultA, faultB int
	if m.A.Fault != game.NoFault {
		faultA = codeFaultA
	}
	if m.B.Fault != game.NoFault {
		faultB = codeFaultB
	}
	number := uint32(m.Number)
	return int(m.A.Choice) | int(m.B.Choice)<<2 | faultA | faultB |
		int(number&1)*codeOdd | int(number>>31)*codeNoDraw
}

func (t *tally) checkSeats(seats []int) error {
	if len(seats) != len(t.seen) {
		return fmt.Errorf("record has %d seats, the plan %d players", len(seats), len(t.seen))
	}
	clear(t.seen)
	for seat, field := range seats {
		if field < 0 || field >= len(t.seen) || t.seen[field] {
			return fmt.Errorf("seat %d has player %d, who is not in the field or has another seat", seat, field)
		}
		t.seen[field] = true
	}
	return nil
}

// foldPairs turns the counts by pair of seats into the player tallies of the league and
// adds them to the sums of the pairs.
func (a *Accumulator) foldPairs(seats []int) {
	t := &a.league
	clear(t.players)
	at := 0
	for s, f := range seats {
		for _, g := range seats[s+1:] {
			c := [outcomes]int64{}
			for o := range c {
				c[o] = int64(t.counts[at+o])
			}
			at += int(outcomes)
			i, j := f, g
			if f > g {
				i, j, c = g, f, mirrored(c)
			}
			a.foldPair(i, j, &c)
		}
	}
}

// foldPair counts what players i < j did against each other in one league.
func (a *Accumulator) foldPair(i, j int, c *[outcomes]int64) {
	saidEven := c[evenWin] + c[evenLoss] // of the differing matches, those in which i did
	saidOdd := c[oddWin] + c[oddLoss]
	differ := saidEven + saidOdd
	clean := differ + c[drawn]
	winsI := c[evenWin] + c[oddWin] + c[faultSecond]
	winsJ := c[evenLoss] + c[oddLoss] + c[faultFirst]
	odd := a.unit - a.even
	adjWinsI := saidEven*a.even + saidOdd*odd + c[faultSecond]*a.unit
	adjWinsJ := saidEven*odd + saidOdd*a.even + c[faultFirst]*a.unit
	adjDraws := c[drawn] * drawPoints * a.unit
	rawI, adjI := winsI*winPoints+c[drawn]*drawPoints, adjWinsI*winPoints+adjDraws
	rawJ, adjJ := winsJ*winPoints+c[drawn]*drawPoints, adjWinsJ*winPoints+adjDraws

	p := &a.pairs[pairIndex(len(a.players), i, j)]
	p.winsA += winsI
	p.winsB += winsJ
	p.draws += c[drawn]
	p.adjA += adjI
	p.adjB += adjJ
	p.differ.Add(differ, clean)

	a.league.players[i].add(playerTally{winsI, c[drawn], c[faultFirst] + c[faultBoth], rawI, adjI, adjWinsI, differ, clean})
	a.league.players[j].add(playerTally{winsJ, c[drawn], c[faultSecond] + c[faultBoth], rawJ, adjJ, adjWinsJ, differ, clean})
}

func (t *playerTally) add(o playerTally) {
	t.wins += o.wins
	t.draws += o.draws
	t.technical += o.technical
	t.raw += o.raw
	t.adj += o.adj
	t.adjWins += o.adjWins
	t.differ += o.differ
	t.clean += o.clean
}
