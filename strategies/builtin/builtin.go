// Package builtin holds the strategies that come with the lab, written in Go.
//
// What they play for: with a fair draw a match gives each player 1.5 points on average if the two
// choices differ and 1 if they are equal. So a strategy that can predict its opponent plays the
// other parity, and nobody is harmed by being predicted. Nothing is gained by predicting the draw;
// two of the strategies try, and are there to show it.
//
// Rules that all of them keep:
//
//   - What is learnt is learnt per opponent and kept over the legs of the
//     league. Only the two that follow the draw mix their opponents.
//   - What cannot be predicted yet is played at random.
//   - Randomness is drawn in Choose alone, so Observe may come at any time.
//   - Learning uses what an Outcome tells, not what Choose once answered: an
//     outcome may be missing, late, or that of a match Choose never saw.
//   - A choice that was not made or not told (game.NoParity) teaches nothing:
//     a strategy that needs it leaves the match out of its history.
//   - Floating-point products are rounded before they are added, and library
//     functions that some machines compute in assembly are avoided, so the
//     same seed makes the same moves on every machine.
//
// After the first few matches no call allocates.
package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// fingerprint stands for the code of all strategies here. It is raised
// whenever one of them makes other moves than before.
const fingerprint = "builtin/1"

// All returns every built-in strategy, sorted by name. The slice is the
// caller's; the factories are stateless and safe for concurrent use.
func All() []strategies.Factory {
	return []strategies.Factory{
		alternateFactory,
		newAlways("always-even", strategies.Even),
		newAlways("always-odd", strategies.Odd),
		biasedFactory,
		copyLastFactory,
		ctwFactory,
		frequencyFactory,
		gamblerFactory,
		hedgeFactory,
		hotHandFactory,
		jointMarkovFactory,
		longestMatchFactory,
		newMarkov(1),
		newMarkov(2),
		newMarkov(3),
		mindReaderFactory,
		oppositeLastFactory,
		randomFactory,
		roleFactory,
		stayOrFlipFactory,
	}
}

// Classics returns the names of the strategies for a first look: quick, known to
// everybody, and each with another idea. They are all that the two constants, chance,
// a period, imitation, counting and short memory can do.
func Classics() []string {
	return []string{"always-even", "always-odd", "alternate", "copy-last", "opposite-last", "frequency", "markov-2", "random"}
}

// Find returns the built-in strategy with the given name.
func Find(name string) (strategies.Factory, bool) {
	for _, f := range All() {
		if f.Info().Name == name {
			return f, true
		}
	}
	return nil, false
}

// Own reports whether a factory is one of All, and not a wrapper of one.
func Own(f strategies.Factory) bool {
	_, ok := f.(*factory)
	return ok
}

// factory makes seats of one strategy. It never changes.
type factory struct {
	info strategies.Info
	open func(strategies.Setup) strategies.Strategy
}

var _ strategies.Factory = (*factory)(nil)

func define(name, title, description string, open func(strategies.Setup) strategies.Strategy) strategies.Factory {
	return &factory{
		info: strategies.Info{
			Name: name, Kind: strategies.Builtin, Title: title, Description: description, Fingerprint: fingerprint,
		},
		open: open,
	}
}

func (f *factory) Info() strategies.Info { return f.info }

// New makes a seat. It never fails.
func (f *factory) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return f.open(s), nil
}

func (f *factory) Close() error { return nil }

// unattached is the Close of a seat that holds nothing but memory.
type unattached struct{}

func (unattached) Close() error { return nil }

// memoryless is the part of a seat that learns nothing.
type memoryless struct{ unattached }

func (memoryless) Observe(context.Context, *strategies.Outcome) error { return nil }

// learner is the part of a seat that remembers each opponent.
type learner[S any] struct {
	unattached
	rnd    *game.Rand
	memory opponents[S]
}

func newLearner[S any](s strategies.Setup) learner[S] {
	return learner[S]{rnd: s.Rand, memory: newOpponents[S](s.Field)}
}

// toss plays either parity with equal chance.
func toss(r *game.Rand) strategies.Choice { return strategies.Choice(r.Uint64() >> 63) }

// play returns the choice of p, or tosses if p is game.NoParity.
func play(p game.Parity, r *game.Rand) strategies.Choice {
	if p == game.NoParity {
		return toss(r)
	}
	return strategies.Choice(bit(p))
}

// The conversions below are written without branches: what an opponent plays next is what a branch
// predictor cannot know, and each miss costs more than the rest of a call.

// lean returns the parity that a signed quantity points to: even if it is
// positive, odd if it is negative, neither at zero.
func lean(v int32) game.Parity {
	p := game.NoParity
	if v > 0 {
		p = game.Even
	}
	if v < 0 {
		p = game.Odd
	}
	return p
}

// sign is the inverse of lean: 1 for even, -1 for odd, 0 for no parity.
func sign(p game.Parity) int32 { return int32(p&1) - int32(p>>1) }

// bit is 1 for even and 0 for odd, for histories kept in a word.
func bit(p game.Parity) uint64 { return uint64(p) & 1 }
