package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// ctw predicts by context-tree weighting (Willems, Shtarkov and Tjalkens, The Context-Tree
// Weighting Method: Basic Properties, IEEE Transactions on Information Theory 41, 1995): the
// Bayesian mixture of all tree models of the opponent up to a depth, each leaf estimated as
// Krichevsky and Trofimov do (1981). The context is what both players chose in their last matches,
// the opponent's choice before our own within each, so it learns opponents who react as well as
// those who follow a pattern. It plays the opposite of what is more probable, and at random between
// equals.
type ctw struct {
	learner[ctwTree]
	nodes ctwNodes
}

var ctwFactory = define("ctw", "Context-tree weighting over both players' choices",
	"Mixes all tree models of the opponent over the last four matches by their posterior weight, and plays the opposite "+
		"of the more probable choice. Source: Willems, Shtarkov and Tjalkens 1995.",
	func(s strategies.Setup) strategies.Strategy {
		return &ctw{newLearner[ctwTree](s), newCTWNodes(len(s.Field))}
	})

func (c *ctw) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	p := c.nodes.even(c.memory.at(t.Opponent))
	switch {
	case p > 0.5:
		return strategies.Odd, nil
	case p < 0.5:
		return strategies.Even, nil
	}
	return toss(c.rnd), nil
}

func (c *ctw) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice != game.NoParity && o.OpponentChoice != game.NoParity {
		c.nodes.add(c.memory.at(o.Opponent), o.Choice, o.OpponentChoice)
	}
	return nil
}

// ctwDepth is the length of a context in bits: four matches, two bits each.
const ctwDepth = 8

// ctwTree is what is known of one opponent. Before the first matches the
// context is as if both had played odd.
type ctwTree struct {
	root int32  // in ctwNodes, 0 if there is none yet
	past uint64 // latest bit lowest: opponent, own, opponent, own, ...
}

// ctwNode stands for one context s. Instead of the weighted probability itself it keeps the ratio
// beta = Pe(s) / (Pw(0s) Pw(1s)) of what the node estimates for all it has seen to what its
// children do, as in the implementation of Willems and Tjalkens (Complexity reduction of the
// context-tree weighting algorithm, EIDMA report RS.97.01, 1997): no logarithms and no underflow.
type ctwNode struct {
	beta  float64
	seen  [2]int32 // odd, even
	child [2]int32 // by the next older bit; 0 if there is none yet
}

// estimate is the probability of even by Krichevsky and Trofimov.
func (n *ctwNode) estimate() float64 {
	return (float64(n.seen[1]) + 0.5) / float64(n.seen[0]+n.seen[1]+1)
}

// ctwNodes holds the nodes of all trees of a seat; the first is not used. A
// context gets its nodes when it first occurs.
type ctwNodes struct{ at []ctwNode }

func newCTWNodes(opponents int) ctwNodes {
	return ctwNodes{make([]ctwNode, 1, 1+opponents*(ctwDepth+1))} // enough for one match with each
}

// ctwPath is the nodes of one context, from the root to the full depth.
type ctwPath [ctwDepth + 1]int32

// even returns the probability that the opponent plays even next.
func (ns *ctwNodes) even(t *ctwTree) float64 {
	var path ctwPath
	var deeper [ctwDepth + 1]float64
	return ns.weigh(path[:ns.find(t, &path)], &deeper)
}

// find fills path with the nodes of the present context and returns how many of them exist.
func (ns *ctwNodes) find(t *ctwTree, path *ctwPath) int {
	id := t.root
	for n := range path {
		if id == 0 {
			return n
		}
		path[n] = id
		id = ns.at[id].child[t.past>>n&1]
	}
	return len(path)
}

// weigh returns the weighted probability of even at the first node of a path,
// and sets deeper[i] to what it is at the node below the i-th. What lies below
// the path's end has not been seen and says one half.
func (ns *ctwNodes) weigh(path []int32, deeper *[ctwDepth + 1]float64) float64 {
	p := 0.5
	for i := len(path) - 1; i >= 0; i-- {
		node := &ns.at[path[i]]
		deeper[i] = p
		if i == ctwDepth {
			p = node.estimate()
		} else {
			p = (float64(node.beta*node.estimate()) + p) / (node.beta + 1)
		}
	}
	return p
}

// add counts what the opponent played in every context of the present, and
// appends the match to the past.
func (ns *ctwNodes) add(t *ctwTree, own, opponent game.Parity) {
	var path ctwPath
	ns.grow(t, &path)
	var deeper [ctwDepth + 1]float64
	ns.weigh(path[:], &deeper)
	x := bit(opponent)
	for i, id := range path {
		node := &ns.at[id]
		here, below := node.estimate(), deeper[i]
		if x == 0 {
			here, below = 1-here, 1-below
		}
		// The bounds keep beta finite; at them a probability is off by 1e-77.
		node.beta = min(max(node.beta*here/below, 0x1p-256), 0x1p256)
		node.seen[x]++
	}
	t.past = t.past<<jointStep | joint(own, opponent)
}

// grow fills path with the nodes of the present context and makes those that do not exist yet.
func (ns *ctwNodes) grow(t *ctwTree, path *ctwPath) {
	n := ns.find(t, path)
	for ; n < len(path); n++ {
		id := int32(len(ns.at))
		ns.at = append(ns.at, ctwNode{beta: 1})
		if n == 0 {
			t.root = id
		} else {
			ns.at[path[n-1]].child[t.past>>(n-1)&1] = id
		}
		path[n] = id
	}
}
