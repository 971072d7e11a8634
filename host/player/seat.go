package player

import (
	"context"
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// Answer is what the strategy brought to one match.
type Answer struct {
	Choice game.Parity // NoParity if it failed
	Fault  game.Fault
	Err    error // why it failed; nil if it chose
}

// seat drives a strategy through one league by the rules of package
// strategies, the very ones that the batch arena keeps: streams are rekeyed
// before every call, probabilities meet the host's coin, and an overrun costs
// the rest of the league. It is safe for concurrent use; calls of the strategy
// follow one another.
type seat struct {
	mu       sync.Mutex
	strategy strategies.Strategy // nil while there is none
	rand     *game.Rand
	coin     *game.Rand
	out      game.Fault // what the next match is lost with
	why      error
	standing strategies.Standing
	turn     strategies.Turn
}

// start makes the strategy's seat. A failure puts it out.
func (s *seat) start(ctx context.Context, f strategies.Factory, setup strategies.Setup, coin game.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rand, s.coin = setup.Rand, game.NewRand(coin)
	s.rand.Rekey(game.StartPosition)
	err := guard(func() (err error) {
		s.strategy, err = f.New(ctx, setup)
		return err
	})
	if err != nil {
		s.strategy = nil
		s.fail(strategies.OpStart, err)
	}
}

// choose asks for one choice. The turn's standing is filled in here.
func (s *seat) choose(ctx context.Context, t strategies.Turn) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out != game.NoFault {
		a := Answer{Fault: s.out, Err: s.why}
		s.out = game.FaultForfeit
		return a
	}
	s.turn = t
	s.turn.Standing = s.standing
	s.rand.Rekey(game.ChoosePosition(t.Match))
	var choice strategies.Choice
	err := guard(func() (err error) {
		choice, err = s.strategy.Choose(ctx, &s.turn)
		return err
	})
	if err == nil && !choice.Valid() {
		err = strategies.InvalidChoice(strconv.FormatFloat(float64(choice), 'g', -1, 64))
	}
	if err != nil {
		f := s.fail(strategies.OpChoose, err)
		if s.out != game.NoFault {
			s.out = game.FaultForfeit
		}
		return Answer{Fault: f, Err: err}
	}
	s.coin.Rekey(t.Match)
	return Answer{Choice: choice.Resolve(s.coin)}
}

// observe tells how a match ended.
func (s *seat) observe(ctx context.Context, o *strategies.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Add(o.Result, o.Points)
	if s.out != game.NoFault || s.strategy == nil {
		return nil
	}
	s.rand.Rekey(game.ObservePosition(o.Match))
	err := guard(func() error { return s.strategy.Observe(ctx, o) })
	if err != nil {
		s.fail(strategies.OpObserve, err)
	}
	return err
}

// fail judges a failure. It is called with the lock held.
func (s *seat) fail(op strategies.Op, err error) game.Fault {
	f := strategies.FaultOf(err)
	if strategies.EndsSeat(op, f) {
		s.out, s.why = f, err
	}
	return f
}

func (s *seat) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strategy == nil {
		return nil
	}
	err := guard(s.strategy.Close)
	s.strategy = nil
	return err
}

// guard turns a panic of a strategy into its failure.
func guard(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = strategies.Panicked(v)
		}
	}()
	return call()
}

// position is the number that a match is keyed with where its place in the
// schedule is not known.
func position(matchID string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(matchID)) // never fails
	return h.Sum64() >> 2           // positions are doubled
}
