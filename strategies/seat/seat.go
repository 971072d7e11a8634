// Package seat holds the rules of a seat: how a strategy is called in one
// league, what a failure costs, and when the seat is out.
//
//   - The seat's random stream is rekeyed before every call, so that what a
//     strategy draws depends on the match alone.
//   - A choice outside [0, 1] is a failure of choose. A panic is a failure of
//     the call that panics.
//   - A failure of choose costs that match. A failure of start or observe, and
//     every exceeded budget, costs the league: the seat is out (see
//     [strategies.EndsSeat]) and the strategy is never called again.
//   - The first match of a seat that is out bears the reason, unless a choose
//     in that match put it out; every further match is a forfeit.
//
// The player agent, batches and the check of an author's strategy call
// strategies through this package. The arena keeps the same rules in a loop of
// its own, for speed; a test holds both to one digest.
package seat

import (
	"context"
	"errors"
	"strconv"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// Seat is one strategy in one league. Set Factory and Setup, call Start or Quarantine, then Choose
// or Answer and Observe, and Close at the end. It belongs to one goroutine at a time.
type Seat struct {
	Factory strategies.Factory
	Setup   strategies.Setup // Rand is required
	Coin    game.Key         // of the coin that resolves probabilities in Answer
	// Returned, if not nil, is told what each call has returned, and decides what counts.
	Returned func(error) error

	strategy strategies.Strategy // nil while there is nothing to call or to close
	out      game.Fault          // what the next match is lost with; NoFault while the seat is in
	why      error               // of out
	coin     *game.Rand          // made for the first probability
	standing strategies.Standing
}

// Answer is what a seat brings to one match.
type Answer struct {
	Choice game.Parity // NoParity after a fault
	Fault  game.Fault
	Err    error // the reason for the fault; nil for a forfeit and in quarantine
}

var errOut = errors.New("seat: called while out")

// Start makes the strategy. A failure puts the seat out.
func (s *Seat) Start(ctx context.Context) error {
	s.Setup.Rand.Rekey(game.StartPosition)
	made, err := s.start(ctx)
	if made == nil && err == nil {
		err = strategies.ErrNoStrategy
	}
	if err != nil {
		s.fail(strategies.OpStart, err)
		return err
	}
	s.strategy = made
	return nil
}

// Quarantine puts a seat out that has not started: every match is lost with game.FaultQuarantined.
func (s *Seat) Quarantine() { s.out, s.why = game.FaultQuarantined, nil }

// Out returns the fault that the next match of the seat is lost with and the
// reason for it, or game.NoFault while the seat is in.
func (s *Seat) Out() (game.Fault, error) { return s.out, s.why }

// Strategy returns the strategy, nil before Start and after Close.
func (s *Seat) Strategy() strategies.Strategy { return s.strategy }

// Standing counts the observed outcomes, those after the seat was put out included.
func (s *Seat) Standing() strategies.Standing { return s.standing }

// Choose asks for one choice. It passes t on as it is; a caller that does not
// count standings itself sets t.Standing to Standing. The seat must be in.
func (s *Seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.out != game.NoFault || s.strategy == nil {
		return 0, errOut
	}
	s.Setup.Rand.Rekey(game.ChoosePosition(t.Match))
	c, err := s.choose(ctx, t)
	if err == nil && !c.Valid() {
		err = strategies.InvalidChoice(strconv.FormatFloat(float64(c), 'g', -1, 64))
	}
	if err != nil {
		s.fail(strategies.OpChoose, err)
		return 0, err
	}
	return c, nil
}

// Answer asks for what the seat brings to one match: Choose with a probability
// resolved by the host's coin, or a forfeit for a seat that is out.
func (s *Seat) Answer(ctx context.Context, t *strategies.Turn) Answer {
	if s.out != game.NoFault {
		return s.forfeit()
	}
	c, err := s.Choose(ctx, t)
	if err != nil {
		if s.out != game.NoFault {
			return s.forfeit()
		}
		return Answer{Fault: strategies.FaultOf(err), Err: err}
	}
	if c == strategies.Even || c == strategies.Odd {
		return Answer{Choice: c.Resolve(nil)}
	}
	if s.coin == nil {
		s.coin = game.NewRand(s.Coin)
	}
	s.coin.Rekey(t.Match)
	return Answer{Choice: c.Resolve(s.coin)}
}

// forfeit returns the answer of a seat that is out: the reason once, and a bare
// forfeit from then on.
func (s *Seat) forfeit() Answer {
	a := Answer{Fault: s.out, Err: s.why}
	if s.out != game.FaultQuarantined {
		s.out, s.why = game.FaultForfeit, nil
	}
	return a
}

// Observe counts an outcome and passes it to the strategy, unless the seat is out.
func (s *Seat) Observe(ctx context.Context, o *strategies.Outcome) error {
	s.standing.Add(o.Result, o.Points)
	if s.out != game.NoFault || s.strategy == nil {
		return nil
	}
	s.Setup.Rand.Rekey(game.ObservePosition(o.Match))
	err := s.observe(ctx, o)
	if err != nil {
		s.fail(strategies.OpObserve, err)
	}
	return err
}

// Close ends the strategy. It is safe to call more than once, and on a seat that has not started.
func (s *Seat) Close() (err error) {
	if s.strategy == nil {
		return nil
	}
	closing := s.strategy
	s.strategy = nil
	defer strategies.Rescue(&err)
	return closing.Close()
}

// fail puts the seat out if that is the price of the failure.
func (s *Seat) fail(op strategies.Op, err error) {
	if f := strategies.FaultOf(err); strategies.EndsSeat(op, f) {
		s.out, s.why = f, err
	}
}

func (s *Seat) start(ctx context.Context) (made strategies.Strategy, err error) {
	defer strategies.Rescue(&err)
	made, err = s.Factory.New(ctx, s.Setup)
	if counts := s.returned(err); counts != nil && err == nil && made != nil {
		_ = made.Close()
		return nil, counts
	}
	return made, err
}

func (s *Seat) choose(ctx context.Context, t *strategies.Turn) (c strategies.Choice, err error) {
	defer strategies.Rescue(&err)
	c, err = s.strategy.Choose(ctx, t)
	return c, s.returned(err)
}

func (s *Seat) observe(ctx context.Context, o *strategies.Outcome) (err error) {
	defer strategies.Rescue(&err)
	return s.returned(s.strategy.Observe(ctx, o))
}

func (s *Seat) returned(err error) error {
	if s.Returned == nil {
		return err
	}
	return s.Returned(err)
}
