// Package analysis estimates what an experiment has shown: for every strategy and every
// pair of strategies a number with its interval, and which differences between
// strategies are significant.
//
// An [Accumulator] is fed league records in any order and keeps integers only: sums,
// sums of products and counts. Its memory does not depend on the number of leagues,
// and the same leagues give the same bytes in any order.
// [Accumulator.Estimates] turns the integers into numbers.
//
// Three decisions run through the package; docs/statistics.md explains them without
// presuming statistics.
//
//   - The unit of replication is the league. The matches of one league are dependent,
//     because strategies remember each other; leagues are independent, because every
//     league has new seats.
//   - Points are also given as adjusted points: their expectation given both choices,
//     which removes the luck of the draw and nothing else.
//   - Comparisons are made within leagues (paired) and adjusted for their number.
//
// Results are the same to the last bit on every architecture: sums are integers,
// products that are added to something are converted to float64 first, which forbids
// fused operations, and values of transcendental functions are rounded to fewer digits
// than any implementation gets wrong.
package analysis

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Accumulator takes in league records and keeps sufficient statistics: integers that do
// not depend on the order of the leagues. It needs a few hundred bytes for each pair of
// players. Sums are exact for 10^8 of the largest leagues that the rules allow.
//
// Add each league of the plan once; an accumulator cannot detect a repetition. It is
// for one goroutine at a time.
type Accumulator struct {
	*layout
	leagues   int64
	technical bool // there was a technical loss
	players   []playerSums
	pairs     []pairSums // by pairIndex
	raw, adj  products   // of league points, and of adjusted ones in units
	placings  placings
	faults    faults
	league    tally // of the league being added
}

// playerSums are sums over leagues of what one player did in each.
type playerSums struct {
	playerTally          // of all leagues
	winsSq, adjWinsSq    wide
	drawsSq, technicalSq wide
	adjCubes             wide
	failed               int64 // leagues with a technical loss
	differ               Ratio
}

// pairSums are sums over leagues of what two players, a before b in the field, did
// against each other.
type pairSums struct {
	winsA, winsB, draws int64
	adjA, adjB          int64 // in units
	differ              Ratio
}

// NewAccumulator returns an empty accumulator for the leagues of a plan. It fails if
// the draw is invalid or the plan cannot be scheduled.
func NewAccumulator(plan results.Plan) (*Accumulator, error) {
	plan.Field = slices.Clone(plan.Field)
	l, err := newLayout(plan)
	if err != nil {
		return nil, err
	}
	n := len(l.field)
	return &Accumulator{
		layout:   l,
		players:  make([]playerSums, n),
		pairs:    make([]pairSums, pairs(n)),
		raw:      newProducts(n),
		adj:      newProducts(n),
		placings: newPlacings(n),
		faults:   newFaults(n),
		league:   newTally(n),
	}, nil
}

// Leagues is how many leagues have been added.
func (a *Accumulator) Leagues() int { return int(a.leagues) }

// Add counts one league and keeps nothing of it. A record that does not fit the plan is
// an error and is not counted at all.
func (a *Accumulator) Add(l results.League) error {
	if err := a.tallyLeague(l); err != nil {
		return fmt.Errorf("analyze league %d: %w", l.Index, err)
	}
	a.foldPairs(l.Seats)
	for i := range a.players {
		p, t := &a.players[i], &a.league.players[i]
		p.playerTally.add(*t)
		p.winsSq.addProduct(t.wins, t.wins)
		p.adjWinsSq.addProduct(t.adjWins, t.adjWins)
		p.drawsSq.addProduct(t.draws, t.draws)
		p.technicalSq.addProduct(t.technical, t.technical)
		p.differ.Add(t.differ, t.clean)
		p.adjCubes.addCube(t.adj)
		if t.technical > 0 {
			p.failed++
		}
		a.league.raw[i], a.league.adj[i] = t.raw, t.adj
	}
	a.raw.addOuter(a.league.raw)
	a.adj.addOuter(a.league.adj)
	a.placings.add(a.league.raw)
	if a.league.technical {
		a.technical = true
		a.faults.count(l, a.matches)
	}
	a.faults.note(l)
	a.leagues++
	return nil
}

// products is the upper triangle, with the diagonal, of the matrix of summed products
// of league values: with the sums, the sufficient statistics of covariances.
type products struct {
	n     int
	cells []wide
}

func newProducts(n int) products {
	return products{n: n, cells: make([]wide, n*(n+1)/2)}
}

func (p products) addOuter(values []int64) {
	at := 0
	for i, x := range values {
		row := p.cells[at:][:len(values)-i]
		for j, y := range values[i:] {
			row[j].addProduct(x, y)
		}
		at += len(row)
	}
}

func (p products) at(i, j int) wide {
	if i > j {
		i, j = j, i
	}
	return p.cells[i*(2*p.n-i+1)/2+j-i]
}

// differences is the sum of the squared differences of two players.
func (p products) differences(i, j int) *big.Int {
	squares := new(big.Int).Lsh(p.at(i, j).big(), 1)
	squares.Sub(p.at(i, i).big(), squares)
	return squares.Add(squares, p.at(j, j).big())
}

// winPoints and drawPoints are typed for sums.
const (
	winPoints  int64 = game.WinPoints
	drawPoints int64 = game.TiePoints
)
