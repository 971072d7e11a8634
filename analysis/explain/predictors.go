package explain

import (
	"math"

	"github.com/strategylab/strategylab/host/game"
)

// Predictors describes, in order, the rules that predict from this league only. "It" is
// the predicted player, "the other" its opponent.
func Predictors() []string {
	return []string{
		"it says even",
		"it says odd",
		"it says what it said more often",
		"it repeats itself",
		"it alternates",
		"it says what the other said last",
		"it says the opposite of what the other said last",
		"it repeats what did not lose and changes what lost",
		"it does what it did after the same choice of its own",
		"it does what it did after the same two choices of its own",
		"it does what it did after the same choices of both",
		"it does what it did the last time both had done the same for up to four matches",
	}
}

// The number of predictors, and the longest past that any of them uses.
const (
	predictors = 12
	depth      = 4
)

// halfHits is by prediction and choice: 2 for a hit, 1 without a prediction, 0 for a
// miss.
var halfHits = [3][3]int64{
	game.NoParity: {game.Even: 1, game.Odd: 1},
	game.Even:     {game.Even: 2},
	game.Odd:      {game.Odd: 2},
}

// majority returns the more frequent choice; the count is odd minus even.
func majority(count int32) game.Parity {
	switch {
	case count > 0:
		return game.Odd
	case count < 0:
		return game.Even
	}
	return game.NoParity
}

// past is what one player of a pair has shown the other in this league.
type past struct {
	seen      int // matches
	last      game.Parity
	lost      bool  // the last match
	count     int32 // odd minus even, as in the tables
	after1    [2]int32
	after2    [4]int32
	afterBoth [4]int32
	recent    [lengths]game.Parity // what followed a context last; see firstOfLength
	own       uint32               // choices, the last in the lowest bit
	joint     uint32               // choices of both, two bits a match, its own in the higher
}

// predict fills in what every rule says about the player's next choice.
func (p *past) predict(other *past, calls *[predictors]game.Parity) {
	often := majority(p.count)
	*calls = [predictors]game.Parity{
		0: game.Even, 1: game.Odd, 2: often,
		3: p.last, 4: p.last.Opposite(),
		5: other.last, 6: other.last.Opposite(),
		7: p.last, 8: often, 9: often, 10: often, 11: often,
	}
	if p.seen == 0 {
		return
	}
	if p.lost {
		calls[7] = p.last.Opposite()
	}
	calls[8] = or(majority(p.after1[p.own&1]), often)
	calls[9] = calls[8]
	calls[10] = or(majority(p.afterBoth[p.joint&3]), often)
	if p.seen >= 2 {
		calls[9] = or(majority(p.after2[p.own&3]), calls[8])
	}
	for k := min(depth, p.seen); k > 0; k-- {
		if c := p.recent[firstOfLength(k)+int(p.joint&(1<<(2*k)-1))]; c != game.NoParity {
			calls[11] = c
			break
		}
	}
}

func or(c, otherwise game.Parity) game.Parity {
	if c == game.NoParity {
		return otherwise
	}
	return c
}

// observe takes in the choices of the player and of the other, and the player's result.
func (p *past) observe(own, other game.Parity, result game.Result) {
	said, heard := uint32(own-game.Even), uint32(other-game.Even)
	step := int32(said)*2 - 1
	p.count += step
	if p.seen > 0 {
		p.after1[p.own&1] += step
		p.afterBoth[p.joint&3] += step
	}
	if p.seen > 1 {
		p.after2[p.own&3] += step
	}
	for k := 1; k <= min(depth, p.seen); k++ {
		p.recent[firstOfLength(k)+int(p.joint&(1<<(2*k)-1))] = own
	}
	p.own = p.own<<1 | said
	p.joint = p.joint<<2 | said<<1 | heard
	p.last, p.lost = own, result == game.Loss
	p.seen++
}

// orders is the number of context models: order 0 to depth.
const orders = depth + 1

// A context of order k is the role of the player and what both did in the last k
// matches of the pair, or in all while there are fewer. One table has the cells of all
// orders: order k has the contexts of lengths 0 to k.
const (
	lengths      = (1<<(2*(depth+1)) - 1) / 3 // contexts of lengths 0 to depth
	contextCells = 2 * lengths                // by role
)

// firstOfLength is the index of the first context of a length.
func firstOfLength(k int) int { return (1<<(2*k) - 1) / 3 }

// model counts what followed each context, by order: evens and odds.
type model [orders][contextCells][2]uint32

// cell is the index of a context.
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

// best returns the order with the lowest log-loss on the leagues it learned from, and
// that loss in bits per choice. Each choice is predicted before it is counted, by the
// rule of R. E. Krichevsky and V. K. Trofimov (IEEE Transactions on Information Theory
// 27 (1981), 199-207), under which the loss of a cell depends on its counts alone.
// Orders with more cells pay for learning them.
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
		// A billionth: equal losses, up to rounding, go to the lower order.
		if choices > 0 && loss < lowest*(1-1e-9) {
			lowest, order, bits = loss, k, loss/choices
		}
	}
	return order, bits
}

// codeLength is the log-loss in bits of a sequence of a evens and b odds.
func codeLength(a, b float64) float64 {
	lg := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	return (lg(a+b+1) + 2*lg(0.5) - lg(a+0.5) - lg(b+0.5)) / math.Ln2
}
