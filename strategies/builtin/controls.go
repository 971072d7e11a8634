package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// The two strategies here are negative controls. They follow nothing but the
// numbers drawn in their own past matches, against whomever. The draws are
// independent, so with a fair draw each of them plays like a fair coin, and a
// measurement that finds one of them better than random is wrong.

// gambler believes that a parity which has just come up is less likely to come
// again: the gambler's fallacy (Laplace, Essai philosophique sur les
// probabilités, 1814; Tversky and Kahneman, Belief in the law of small
// numbers, Psychological Bulletin 76, 1971). It plays the parity that was not
// drawn last.
type gambler struct {
	unattached
	rnd   *game.Rand
	drawn game.Parity // of the last number it was told
}

func newGambler() strategies.Factory {
	return define("gambler", "Bets that the drawn parity changes",
		"A negative control: plays the opposite parity of the last number drawn in its own matches, and gains nothing "+
			"by it. Source: the gambler's fallacy, Laplace 1814; Tversky and Kahneman 1971.",
		func(s strategies.Setup) strategies.Strategy { return &gambler{rnd: s.Rand} })
}

func (g *gambler) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return play(g.drawn.Opposite(), g.rnd), nil
}

func (g *gambler) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Drew {
		g.drawn = game.ParityOf(o.Number)
	}
	return nil
}

// hotHand believes that a parity which has just come up will come again: the
// hot hand (Gilovich, Vallone and Tversky, The hot hand in basketball,
// Cognitive Psychology 17, 1985). It plays the parity drawn last.
type hotHand struct{ gambler }

func newHotHand() strategies.Factory {
	return define("hot-hand", "Bets that the drawn parity comes again",
		"A negative control: plays the parity of the last number drawn in its own matches, and gains nothing by it. "+
			"Source: the hot hand, Gilovich, Vallone and Tversky 1985.",
		func(s strategies.Setup) strategies.Strategy { return &hotHand{gambler{rnd: s.Rand}} })
}

func (h *hotHand) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return play(h.drawn, h.rnd), nil
}
