package explain

import (
	"math"

	"github.com/strategylab/strategylab/host/game"
)

// orders is how many context models there are: order 0 to depth.
const orders = depth + 1

// A context of order k is the player's role and what both did in the last k matches
// of the meeting, or in all of them while there are fewer. Cells of all orders stand
// in one table: order k has the contexts of lengths 0 to k.
const (
	lengths      = (1<<(2*(depth+1)) - 1) / 3 // contexts of lengths 0 to depth
	contextCells = 2 * lengths                // by role
)

// firstOfLength is where the contexts of a length begin.
func firstOfLength(k int) int { return (1<<(2*k) - 1) / 3 }

// model counts what followed each context, by order: evens and odds.
type model [orders][contextCells][2]uint32

// cell is the context of an order.
func cell(order, seen int, joint uint32, role int) int {
	k := min(order, seen)
	return role*lengths + firstOfLength(k) + int(joint&(1<<(2*k)-1))
}

func (m *model) learn(seen int, joint uint32, role int, c game.Parity) {
	for k := range orders {
		m[k][cell(k, seen, joint, role)][c-game.Even]++
	}
}

func (m *model) predict(order, seen int, joint uint32, role int) game.Parity {
	n := &m[order][cell(order, seen, joint, role)]
	switch {
	case n[0] > n[1]:
		return game.Even
	case n[0] < n[1]:
		return game.Odd
	}
	return game.NoParity
}

// best returns the order that predicted what it learnt from at the lowest log-loss,
// and that loss in bits a choice. Each choice was to be predicted before it was
// counted, by R. E. Krichevsky and V. K. Trofimov's rule (IEEE Transactions on
// Information Theory 27 (1981), 199-207), under which the loss of a cell depends on
// its counts alone. Orders that need more cells pay for learning them.
func (m *model) best() (order int, bits float64) {
	lowest := math.Inf(1)
	for k := range orders {
		loss, choices := 0.0, 0.0
		for _, n := range m[k] {
			if n[0]|n[1] != 0 {
				loss += codeLength(float64(n[0]), float64(n[1]))
				choices += float64(n[0]) + float64(n[1])
			}
		}
		// A billionth: equal losses, but for rounding, go to the lower order.
		if choices > 0 && loss < lowest*(1-1e-9) {
			lowest, order, bits = loss, k, loss/choices
		}
	}
	return order, bits
}

// codeLength is the log-loss in bits of a sequence with a evens and b odds.
func codeLength(a, b float64) float64 {
	lg := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	return (lg(a+b+1) + 2*lg(0.5) - lg(a+0.5) - lg(b+0.5)) / math.Ln2
}
