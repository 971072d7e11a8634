package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// random plays either parity with equal chance: the maximin mixed strategy of matching pennies (von
// Neumann, Zur Theorie der Gesellschaftsspiele, 1928). Against anybody it differs in half of the
// matches, which makes it the yardstick of a field.
type random struct {
	memoryless
	rnd *game.Rand
}

var randomFactory = define("random", "Either parity with equal chance",
	"Tosses a fair coin for every match, so it differs from anybody in half of them. "+
		"Source: the maximin strategy of matching pennies, von Neumann 1928.",
	func(s strategies.Setup) strategies.Strategy { return &random{rnd: s.Rand} })

func (r *random) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return toss(r.rnd), nil
}

// always plays one parity for ever, as "Good Ole Rock" did in the first RoShamBo competition
// (Billings, ICGA Journal 23(1), 2000): every opponent that learns at all learns this.
type always struct {
	memoryless
	choice strategies.Choice
}

func newAlways(name string, choice strategies.Choice) strategies.Factory {
	return define(name, "The same parity in every match",
		"Never changes, so anybody who learns at all differs from it for ever. "+
			"Source: the pure strategies; \"Good Ole Rock\" of the first RoShamBo competition, Billings 2000.",
		func(strategies.Setup) strategies.Strategy { return &always{choice: choice} })
}

func (a *always) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return a.choice, nil
}

// evenShare is how often biased plays even.
const evenShare = 0.7

// biased answers with a probability other than one half and leaves the coin to
// the host: a stationary mixed strategy, whose best reply is always odd.
type biased struct{ memoryless }

var biasedFactory = define("biased", "Even with probability 0.7",
	"Answers with a probability and lets the host throw the coin. Always-odd differs from it in 70 % of matches, "+
		"and nobody in more. Source: a stationary mixed strategy, von Neumann 1928.",
	func(strategies.Setup) strategies.Strategy { return &biased{} })

func (*biased) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return evenShare, nil
}

// alternate alternates even and odd against each opponent, even first: the simplest pattern that
// counting alone cannot learn ("Alternator" of the Axelrod library, Knight et al., Journal of Open
// Research Software 4, 2016). It counts its own answers, not outcomes.
type alternate struct {
	unattached
	odd opponents[bool] // whether the next choice is odd
}

var alternateFactory = define("alternate", "Alternates even and odd against each opponent",
	"Even in the first match, then the other parity each time. Its frequencies are even, so only a strategy "+
		"that looks at the order of events learns it. Source: \"Alternator\" of the Axelrod library, Knight et al. 2016.",
	func(s strategies.Setup) strategies.Strategy { return &alternate{odd: newOpponents[bool](s.Field)} })

func (a *alternate) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	odd := a.odd.at(t.Opponent)
	*odd = !*odd
	if *odd { // it was not, until now
		return strategies.Even, nil
	}
	return strategies.Odd, nil
}

func (*alternate) Observe(context.Context, *strategies.Outcome) error { return nil }

// role plays even as player A and odd as player B. The roles are the same for both players and mean
// nothing to the rules, which makes them an uncorrelated asymmetry that a convention can rest on
// (Maynard Smith and Parker, The logic of asymmetric contests, Animal Behaviour 24, 1976; Lewis,
// Convention, 1969). Two of them always differ. Without a role it plays at random.
type role struct {
	memoryless
	rnd *game.Rand
}

var roleFactory = define("role", "Even as player A, odd as player B",
	"A convention: two players who both follow it differ in every match, from the first on and without learning. "+
		"Source: Lewis 1969; Maynard Smith and Parker 1976.",
	func(s strategies.Setup) strategies.Strategy { return &role{rnd: s.Rand} })

func (r *role) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(conventional(t.Role), r.rnd), nil
}

// conventional is what the role convention plays in a role.
func conventional(r game.Role) game.Parity {
	switch r {
	case game.RoleA:
		return game.Even
	case game.RoleB:
		return game.Odd
	}
	return game.NoParity
}

// The two strategies here are negative controls. They follow nothing but the numbers drawn in their
// own past matches, against whomever. The draws are independent, so with a fair draw each of them
// plays like a fair coin against all others. Two of them that meet twice in a row follow the same
// number: gambler and hot-hand then always differ, and copies never do.

// gambler believes that a parity which has just come up is less likely to come again: the gambler's
// fallacy (Laplace, Essai philosophique sur les probabilités, 1814; Tversky and Kahneman, Belief in
// the law of small numbers, Psychological Bulletin 76, 1971). It plays the parity that was not
// drawn last.
type gambler struct {
	unattached
	rnd   *game.Rand
	drawn game.Parity // of the last known number
}

var gamblerFactory = define("gambler", "Bets that the drawn parity changes",
	"A negative control: plays the opposite parity of the last number drawn in its own matches, which gains "+
		"nothing, except against hot-hand in matches that follow one another. Source: the gambler's fallacy, Laplace 1814; Tversky and Kahneman 1971.",
	func(s strategies.Setup) strategies.Strategy { return &gambler{rnd: s.Rand} })

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

var hotHandFactory = define("hot-hand", "Bets that the drawn parity comes again",
	"A negative control: plays the parity of the last number drawn in its own matches, which gains nothing, "+
		"except against gambler in matches that follow one another. Source: the hot hand, Gilovich, Vallone and Tversky 1985.",
	func(s strategies.Setup) strategies.Strategy { return &hotHand{gambler{rnd: s.Rand}} })

func (h *hotHand) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return play(h.drawn, h.rnd), nil
}
