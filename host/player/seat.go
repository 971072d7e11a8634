package player

import (
	"context"
	"errors"
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// seat drives a strategy through one league by the rules of package
// strategies, the very ones that the batch arena keeps: streams are rekeyed
// before every call, probabilities meet the host's coin, and an overrun costs
// the rest of the league. It is safe for concurrent use; calls of the strategy
// follow one another.
type seat struct {
	factory strategies.Factory
	setup   strategies.Setup
	coin    game.Key

	mu       sync.Mutex
	strategy strategies.Strategy // nil while there is none
	coins    *game.Rand          // made when first thrown
	out      game.Fault          // what the next match is lost with
	why      error
	closed   bool
	standing strategies.Standing
	turn     strategies.Turn
	failures []Failure
}

// Failure is something that a strategy did wrong.
type Failure struct {
	Op    strategies.Op
	Fault game.Fault
	Err   error
}

// errLeft is the answer of a seat that has been closed.
var errLeft = errors.New("player: the agent has left the league")

func (p *Player) newSeat(league *League) *seat {
	return &seat{
		factory: p.cfg.Factory, coin: p.cfg.Coin,
		setup: strategies.Setup{
			ID: p.ID(), Name: p.cfg.Name, Field: league.Field, Rounds: league.Rounds, Legs: league.Legs,
			Key: p.cfg.Key, Rand: game.NewRand(p.cfg.Key), Log: p.cfg.Print,
		},
	}
}

// start makes the strategy's seat. A failure puts it out.
func (s *seat) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setup.Rand.Rekey(game.StartPosition)
	made, err := guard(ctx, func(ctx context.Context) (strategies.Strategy, error) {
		return s.factory.New(ctx, s.setup)
	})
	if err == nil && made == nil {
		err = errors.New("made neither a seat nor an error")
	}
	if err != nil {
		s.fail(strategies.OpStart, err)
		return
	}
	s.strategy = made
}

// bar puts the seat out before it is made, for what it did in earlier leagues.
func (s *seat) bar() { s.out = game.FaultQuarantined }

// choose asks for one choice. The turn's standing is filled in here. The error
// says that the seat has been closed, or that ctx ended, of which the strategy
// is innocent; then there is no answer.
func (s *seat) choose(ctx context.Context, t strategies.Turn) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Answer{}, errLeft
	}
	if s.out != game.NoFault {
		return s.forfeit(), nil
	}
	s.turn = t
	s.turn.Standing = s.standing
	s.setup.Rand.Rekey(game.ChoosePosition(t.Match))
	strategy := s.strategy
	choice, err := guard(ctx, func(ctx context.Context) (strategies.Choice, error) {
		return strategy.Choose(ctx, &s.turn)
	})
	if errors.Is(ctx.Err(), context.Canceled) {
		return Answer{}, errLeft
	}
	if err == nil && !choice.Valid() {
		err = strategies.InvalidChoice(strconv.FormatFloat(float64(choice), 'g', -1, 64))
	}
	if err != nil {
		a := Answer{Fault: s.fail(strategies.OpChoose, err), Err: err}
		if s.out != game.NoFault {
			s.forfeit() // this match bears the reason
		}
		return a, nil
	}
	if choice == strategies.Even || choice == strategies.Odd {
		return Answer{Choice: choice.Resolve(nil)}, nil
	}
	if s.coins == nil {
		s.coins = game.NewRand(s.coin)
	}
	s.coins.Rekey(t.Match)
	return Answer{Choice: choice.Resolve(s.coins)}, nil
}

// forfeit is what a seat that is out brings to its next match: first what put
// it out, then that it is.
func (s *seat) forfeit() Answer {
	a := Answer{Fault: s.out, Err: s.why}
	if s.out != game.FaultQuarantined {
		s.out, s.why = game.FaultForfeit, nil
	}
	return a
}

// observe tells how a match ended.
func (s *seat) observe(ctx context.Context, o *strategies.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.Add(o.Result, o.Points)
	if s.out != game.NoFault || s.closed {
		return nil
	}
	s.setup.Rand.Rekey(game.ObservePosition(o.Match))
	strategy := s.strategy
	_, err := guard(ctx, func(ctx context.Context) (none struct{}, err error) {
		told := *o // the caller may use it again
		return none, strategy.Observe(ctx, &told)
	})
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the agent is leaving
	}
	if err != nil {
		s.fail(strategies.OpObserve, err)
	}
	return err
}

// fail judges a failure and keeps it. It is called with the lock held.
func (s *seat) fail(op strategies.Op, err error) game.Fault {
	f := strategies.FaultOf(err)
	if strategies.EndsSeat(op, f) {
		s.out, s.why = f, err
	}
	if errors.Is(err, strategies.ErrLost) {
		s.strategy = nil // its goroutine may be in it for ever
	}
	s.failures = append(s.failures, Failure{Op: op, Fault: f, Err: err})
	return f
}

func (s *seat) failed() []Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Failure(nil), s.failures...)
}

func (s *seat) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.strategy == nil {
		return nil
	}
	err := contained(s.strategy.Close)
	s.strategy = nil
	return err
}

// guard makes a call of a strategy that may not come back: then it fails with
// strategies.ErrLost.
func guard[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	var made T // the goroutine's until it has returned
	err := strategies.Outlast(ctx, func(ctx context.Context) error {
		return contained(func() (err error) {
			made, err = call(ctx)
			return err
		})
	})
	if err != nil {
		var none T
		return none, err
	}
	return made, nil
}

// contained turns a panic of a strategy into its failure.
func contained(call func() error) (err error) {
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
