package builtin

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// contextBits is the longest context that a counts table distinguishes.
const contextBits = 4

// counts holds, for every context of up to contextBits bits, how many more
// times the opponent then played even than odd. A context is the latest bits
// of a history that grows by a step of one or two bits in each match.
type counts struct {
	surplus [2 << contextBits]int32 // by context, behind a one that marks its length
	past    uint64                  // latest bit lowest
	length  int                     // bits in past, as far as contexts reach
}

// predict returns what the opponent played most often after the latest order bits. If it played
// both alike, or the context is new, the context gives way to the next shorter one, down to none at
// all; if that does not tell either, predict returns game.NoParity.
func (c *counts) predict(order, step int) game.Parity {
	for n := min(order, c.length); n >= 0; n -= step {
		if s := c.surplus[c.context(n)]; s != 0 {
			return lean(s)
		}
	}
	return game.NoParity
}

// add counts what the opponent played, in all contexts of up to order bits,
// and then makes the history longer by the given bits.
func (c *counts) add(opponent game.Parity, order, step int, bits uint64) {
	d := sign(opponent)
	for n := min(order, c.length); n >= 0; n -= step {
		c.surplus[c.context(n)] += d
	}
	c.past = c.past<<step | bits
	c.length = min(c.length+step, contextBits)
}

func (c *counts) context(n int) uint64 { return (1<<n | c.past&(1<<n-1)) % (2 << contextBits) }

// frequency plays the opposite of what the opponent has played more often: fictitious play (Brown,
// Iterative solution of games by fictitious play, in Koopmans, Activity Analysis of Production and
// Allocation, 1951). Where both were played alike it plays at random.
type frequency struct {
	learner[int32] // how many more times even than odd
}

var frequencyFactory = define("frequency", "The opposite of the opponent's more frequent choice",
	"Counts what each opponent plays and replies to the majority. It learns any bias and no pattern. "+
		"Source: fictitious play, Brown 1951.",
	func(s strategies.Setup) strategies.Strategy { return &frequency{newLearner[int32](s)} })

func (f *frequency) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(lean(-*f.memory.at(t.Opponent)), f.rnd), nil
}

func (f *frequency) Observe(_ context.Context, o *strategies.Outcome) error {
	*f.memory.at(o.Opponent) += sign(o.OpponentChoice)
	return nil
}

// markov predicts by what the opponent played most often after the same choices of its own in the
// last matches, as many as the order says: the Markov predictor (Feder, Merhav and Gutman,
// Universal prediction of individual sequences, IEEE Transactions on Information Theory 38, 1992).
// A context without evidence gives way to a shorter one, as in prediction by partial matching
// (Cleary and Witten, IEEE Transactions on Communications 32, 1984). Order k learns every pattern
// of a period up to k+1.
type markov struct {
	learner[counts]
	order int
}

func newMarkov(order int) strategies.Factory {
	return define(fmt.Sprintf("markov-%d", order), fmt.Sprintf("Predicts from the opponent's last choices, order %d", order),
		fmt.Sprintf("Counts what the opponent plays after each run of its last %d choices, predicts the majority and plays "+
			"the opposite; unknown contexts give way to shorter ones. Learns every pattern of a period up to %d. "+
			"Source: Feder, Merhav and Gutman 1992; Cleary and Witten 1984.", order, order+1),
		func(s strategies.Setup) strategies.Strategy { return &markov{newLearner[counts](s), order} })
}

func (m *markov) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(m.memory.at(t.Opponent).predict(m.order, 1).Opposite(), m.rnd), nil
}

func (m *markov) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity {
		m.memory.at(o.Opponent).add(o.OpponentChoice, m.order, 1, bit(o.OpponentChoice))
	}
	return nil
}

// Joint contexts grow by both players' choices in each match.
const (
	jointStep  = 2
	jointOrder = 2 * jointStep // the last two matches
)

// joint returns the bits that a match adds to a joint context.
func joint(own, opponent game.Parity) uint64 { return bit(own)<<1 | bit(opponent) }

// jointMarkov is the Markov predictor of order 2 over the choices of both players. So it learns
// opponents that react to the last two matches, such as the reactive strategies, which look at the
// last one (Nowak and Sigmund, Tit for tat in heterogeneous populations, Nature 355, 1992). Both
// choices must be known for a match to count.
type jointMarkov struct{ learner[counts] }

var jointMarkovFactory = define("joint-markov-2", "Predicts from both players' last two choices",
	"Like markov-2, but the context holds its own choices too, so it learns opponents who react to it: copy-last, "+
		"opposite-last, stay-or-flip. Source: the Markov predictor of Feder, Merhav and Gutman 1992 over joint histories.",
	func(s strategies.Setup) strategies.Strategy { return &jointMarkov{newLearner[counts](s)} })

func (m *jointMarkov) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(m.memory.at(t.Opponent).predict(jointOrder, jointStep).Opposite(), m.rnd), nil
}

func (m *jointMarkov) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice != game.NoParity && o.OpponentChoice != game.NoParity {
		m.memory.at(o.Opponent).add(o.OpponentChoice, jointOrder, jointStep, joint(o.Choice, o.OpponentChoice))
	}
	return nil
}
