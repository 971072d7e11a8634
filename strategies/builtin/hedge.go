package builtin

import (
	"context"
	"math"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// hedge plays what its experts advise, each with a weight that falls exponentially with the
// expert's past losses: Hedge (Freund and Schapire, A decision-theoretic generalization of on-line
// learning, Journal of Computer and System Sciences 55, 1997). An expert loses 1 where it advised
// what the opponent played, and 1/2 where it had no advice. The answer is the weighted share of
// even, so its expected loss is the weighted mean of theirs.
//
// In the t-th match with an opponent the rate r(t) is 2 sqrt(ln N / t) for N experts. Then after
// any T matches, against any opponent, the expected loss is at most that of the best expert plus ln
// N / r(T) + sum over t of r(t) / 8, and so plus sqrt(T ln N) (Bubeck, Introduction to Online
// Optimization, 2011, chapter 2).
type hedge struct{ learner[panel] }

var hedgeFactory = define("hedge", "Weighs simple strategies by their past",
	"Mixes twelve simple strategies, each weighted by how often it would have differed from this opponent, and answers "+
		"with a probability. Never much worse than the best of them. Source: Hedge, Freund and Schapire 1997.",
	func(s strategies.Setup) strategies.Strategy { return &hedge{newLearner[panel](s)} })

func (h *hedge) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return h.memory.at(t.Opponent).mix(t.Role), nil
}

func (h *hedge) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity {
		h.memory.at(o.Opponent).add(o.Role, o.Choice, o.OpponentChoice)
	}
	return nil
}

// experts is how many strategies a panel weighs, and logExperts the natural logarithm of it.
const (
	experts    = 12
	logExperts = 2.4849066497880004
)

// panel is what hedge knows of one opponent.
type panel struct {
	own, opponent game.Parity // in the last match
	choices       counts      // of the opponent, by its own choices
	joint         counts      // of the opponent, by both players' choices
	met           int
	losses        [experts]int32 // in halves
}

// advice returns what each expert would play now.
func (p *panel) advice(r game.Role) [experts]game.Parity {
	return [experts]game.Parity{
		game.Even,
		game.Odd,
		p.own, // stay
		p.own.Opposite(),
		p.opponent, // copy-last
		p.opponent.Opposite(),
		conventional(r),
		p.choices.predict(0, 1).Opposite(), // frequency
		p.choices.predict(1, 1).Opposite(), // markov-1, -2, -3
		p.choices.predict(2, 1).Opposite(),
		p.choices.predict(3, 1).Opposite(),
		p.joint.predict(jointOrder, jointStep).Opposite(),
	}
}

// mix returns the weighted share of the experts that advise even; one without
// advice counts as half for even.
func (p *panel) mix(r game.Role) strategies.Choice {
	best := p.losses[0]
	for _, l := range p.losses {
		best = min(best, l)
	}
	half := expNegative(math.Sqrt(logExperts / float64(p.met+1)))
	var even, total float64
	for i, advised := range p.advice(r) {
		weight := power(half, p.losses[i]-best) // half: the factor for half a loss
		even += weight * evenness(advised)      // exact: times 0, 1/2 or 1
		total += weight
	}
	return strategies.Choice(even / total)
}

// evenness is the chance of even that stands for an advice.
func evenness(p game.Parity) float64 { return float64(1+sign(p)) / 2 }

func (p *panel) add(r game.Role, own, opponent game.Parity) {
	for i, advised := range p.advice(r) {
		p.losses[i] += 1 + sign(advised)*sign(opponent)
	}
	p.met++
	p.choices.add(opponent, 3, 1, bit(opponent))
	if own != game.NoParity {
		p.joint.add(opponent, jointOrder, jointStep, joint(own, opponent))
		p.own = own
	}
	p.opponent = opponent
}

// expNegative returns e^-x for x in [0, 2], off by less than 1e-12 of it. It
// stands in for math.Exp, which some machines compute in assembly with another
// last bit: Taylor's series at x/256, squared eight times.
func expNegative(x float64) float64 {
	y := x / 256
	e := 1.0
	for k := 6.0; k >= 1; k-- {
		e = 1 - y*e/k
	}
	for range 8 {
		e *= e
	}
	return e
}

// power returns b to the n-th for n >= 0.
func power(b float64, n int32) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= b
		}
		b *= b
	}
	return p
}

// mindReader is Shannon's machine that played matching pennies against people (A Mind-Reading (?)
// Machine, Bell Laboratories memorandum, 18 March 1953; a simpler model of Hagelbarger's SEER, IRE
// Transactions on Electronic Computers 5, 1956). It knows eight situations: whether the opponent
// won the last match but one, whether it then changed its choice, and whether it won the last. For
// each it remembers whether the opponent next stayed or changed, and trusts that once it has
// happened twice running; until then it plays at random.
//
// Shannon's machine won by matching, so it played what it predicted. Here winning is differing, for
// both: the opponent counts as having won where the choices differed, and the machine plays the
// opposite of what it predicts.
type mindReader struct{ learner[mind] }

var mindReaderFactory = define("mind-reader", "Shannon's mind-reading machine",
	"Remembers, for each of eight situations made of the last two matches, whether the opponent then stayed or changed, "+
		"and relies on what happened twice running. Here it plays the opposite of what it predicts. "+
		"Source: Shannon, A Mind-Reading (?) Machine, 1953.",
	func(s strategies.Setup) strategies.Strategy { return &mindReader{newLearner[mind](s)} })

func (m *mindReader) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(m.memory.at(t.Opponent).predict().Opposite(), m.rnd), nil
}

func (m *mindReader) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice != game.NoParity && o.OpponentChoice != game.NoParity {
		m.memory.at(o.Opponent).add(o.OpponentChoice, o.Choice != o.OpponentChoice)
	}
	return nil
}

// habit is what an opponent did in a situation when it last arose.
type habit struct {
	did   reaction
	twice bool // and also the time before
}

// reaction is whether the opponent repeated its choice.
type reaction uint8

const (
	unknown reaction = iota
	stayed
	changed
)

// mind is what the machine knows of one opponent.
type mind struct {
	habits    [8]habit
	situation uint8
	met       uint8       // matches so far, at most 2
	last      game.Parity // of the opponent
	won       bool        // whether the opponent won the last match
}

func (m *mind) predict() game.Parity {
	h := m.habits[m.situation%8]
	switch {
	case m.met < 2 || !h.twice:
		return game.NoParity
	case h.did == changed:
		return m.last.Opposite()
	}
	return m.last
}

func (m *mind) add(opponent game.Parity, won bool) {
	change := opponent != m.last
	if m.met == 2 {
		h := &m.habits[m.situation%8]
		did := stayed + reaction(flag(change))
		h.twice = h.did == did
		h.did = did
	}
	m.situation = flag(m.won)<<2 | flag(change)<<1 | flag(won)
	m.last, m.won = opponent, won
	m.met = min(m.met+1, 2)
}

// flag is 1 for true and 0 for false.
func flag(b bool) uint8 {
	var n uint8
	if b {
		n = 1
	}
	return n
}
