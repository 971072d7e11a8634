package wasmscript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// seat is one module in one league.
type seat struct {
	factory  *factory
	instance *instance
	used     int64 // instructions of all calls, after the end
	ended    error // why no call is possible any more
	total    budget.Total
	spent    time.Duration // by calls that were watched, at the end

	players []string // by index; others join when they are first met
	known   map[string]uint64
	ordered uint // this many of the first ones have the id of their place

	// The parameters of a call, and its result. A deferred outcome waits in it, before
	// those of the choice.
	stack    [2 * mostParameters]uint64
	deferred bool
}

// The stages of an instance: a step observes a deferred outcome before it does what it ends with.
const ending, observing = 0, 1

// none is the number of a module for what is not there.
const none = -1

// The numbers of a module for parities, as choose has them, and for results.
var (
	parities = [...]uint64{game.NoParity: number(none), game.Even: 1, game.Odd: 0}
	results  = [...]uint64{game.NoResult: number(-3), game.Win: 1, game.Tie: 0, game.Loss: number(-1), game.TechnicalLoss: number(-2)}
)

func newSeat(f *factory, in *instance, s *strategies.Setup) *seat {
	st := &seat{factory: f, instance: in, players: s.Field[:len(s.Field):len(s.Field)]}
	for st.ordered < uint(len(s.Field)) && place(s.Field[st.ordered]) == st.ordered {
		st.ordered++
	}
	if len(s.Field) > 32 {
		st.known = make(map[string]uint64, len(s.Field))
		for i, id := range s.Field {
			st.known[id] = uint64(i)
		}
	}
	return st
}

func number(n int) uint64 { return api.EncodeI32(int32(n)) }

// player returns the index of a player, none without an id.
func (s *seat) player(id string) uint64 {
	if i := place(id); i < s.ordered {
		return uint64(i)
	}
	return s.search(id)
}

func (s *seat) search(id string) uint64 {
	if id == "" {
		return number(none)
	}
	if s.known != nil {
		if i, ok := s.known[id]; ok {
			return i
		}
	}
	i := slices.Index(s.players, id)
	if i < 0 {
		i = len(s.players)
		s.players = append(s.players, id)
	}
	if s.known != nil {
		s.known[id] = uint64(i)
	}
	return uint64(i)
}

// place returns the place to which game.PlayerID gives an id, 2 for "P03", so that it need
// not be searched; a large number for ids without two digits.
func place(id string) uint {
	if len(id) != 3 || id[0] != 'P' || id[1]-'0' > 9 || id[2]-'0' > 9 {
		return ^uint(0)
	}
	return 10*uint(id[1]-'0') + uint(id[2]-'0') - 1
}

// begin calls start.
func (s *seat) begin(ctx context.Context, setup *strategies.Setup) error {
	if _, ok := s.factory.module.hooks["start"]; !ok {
		return nil
	}
	s.stack = [len(s.stack)]uint64{s.player(setup.ID), number(len(setup.Field)), number(setup.Rounds), number(setup.Legs)}
	return s.call(ctx, strategies.OpStart, s.instance.entry("start"))
}

func (s *seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	f, at, stage := s.instance.choose, 0, uint64(ending)
	if s.deferred {
		s.deferred = false
		f, at, stage = s.instance.step, s.factory.observes, observing
	}
	p := (*[mostParameters]uint64)(s.stack[at:])
	p[0] = s.player(t.Opponent)
	if s.factory.chooses > 1 {
		p[1], p[2], p[3] = number(t.Round), uint64(t.Role), number(t.Played)
		p[4], p[5], p[6], p[7] = number(t.Wins), number(t.Draws), number(t.Losses), number(t.Points)
	}
	if err := s.instance.run(ctx, f, stage, s.stack[:]); err != nil {
		return 0, s.fail(ctx, strategies.OpChoose, err)
	}
	c := strategies.Choice(api.DecodeF64(s.stack[0]))
	if !c.Valid() {
		return 0, s.factory.Fail(strategies.OpChoose, 0, "choose returns the probability of even",
			strategies.InvalidChoice(fmt.Sprint(float64(c))))
	}
	return c, nil
}

func (s *seat) Observe(ctx context.Context, o *strategies.Outcome) error {
	if s.ended != nil {
		return s.ended
	}
	if err := s.Settle(ctx); err != nil {
		return err
	}
	s.receive(o)
	if s.instance.observe == nil {
		return nil
	}
	return s.call(ctx, strategies.OpObserve, s.instance.observe)
}

// Defer implements strategies.Deferrer.
func (s *seat) Defer(ctx context.Context, o *strategies.Outcome) error {
	if s.ended != nil || s.deferred || s.instance.step == nil {
		return s.Observe(ctx, o)
	}
	s.receive(o)
	if s.factory.draws {
		s.instance.before = *s.instance.rand
	}
	s.deferred = true
	return nil
}

// Settle implements strategies.Deferrer.
func (s *seat) Settle(ctx context.Context) error {
	if s.ended != nil || !s.deferred {
		return s.ended
	}
	s.deferred = false
	stage := s.instance.global[stageGlobal]
	stage.Set(observing)
	if err := s.instance.run(ctx, s.instance.observe, observing, s.stack[:]); err != nil {
		return s.fail(ctx, strategies.OpObserve, err)
	}
	stage.Set(ending)
	return nil
}

// receive makes parameters of an outcome.
func (s *seat) receive(o *strategies.Outcome) {
	p := (*[mostParameters]uint64)(s.stack[:])
	p[0], p[1], p[2] = s.player(o.Opponent), number(o.Round), uint64(o.Role)
	p[3], p[4] = parities[o.Choice], parities[o.OpponentChoice]
	if s.factory.observes <= 5 {
		return
	}
	drawn := none
	if o.Drew {
		drawn = o.Number
	}
	p[5], p[6], p[7] = number(drawn), results[o.Result], number(o.Points)
}

// InstructionsUsed returns what all calls of the seat have used so far, start included,
// in the unit of budget.Limits.Instructions.
func (s *seat) InstructionsUsed() int64 {
	used := s.used
	if s.instance != nil {
		used = s.instance.instructions()
	}
	return used / perInstruction
}

// Spent implements strategies.Spender.
func (s *seat) Spent() strategies.Spent { return s.total.Share(s.spent, s.InstructionsUsed()) }

// Close hands the instance on.
func (s *seat) Close() error {
	s.retire(script.ErrClosed)
	return nil
}

func (s *seat) retire(why error) {
	if s.ended == nil {
		s.ended = why
	}
	if s.instance != nil {
		s.used = s.instance.instructions()
		if guard := s.instance.fuel.guard; guard != nil {
			s.spent = guard.Spent()
		}
		s.factory.put(s.instance, why == script.ErrClosed)
		s.instance = nil
	}
}

// call calls a function that observes an outcome or comes before all matches.
func (s *seat) call(ctx context.Context, op strategies.Op, f function) error {
	if err := s.instance.run(ctx, f, ending, s.stack[:]); err != nil {
		return s.fail(ctx, op, err)
	}
	return nil
}

// fail makes an error of what went wrong in a call, and ends the seat if it exceeded a
// limit. op is what the call ends with.
func (s *seat) fail(ctx context.Context, op strategies.Op, err error) error {
	if s.instance.global[stageGlobal].Get() == observing {
		op = strategies.OpObserve
	}
	cause := s.instance.fuel.cause
	hint, over := "", true
	switch {
	case errors.Is(err, errStopped):
		err = s.factory.Overtime(ctx, cause, s.total)
	case errors.Is(err, errTotal):
		err = fmt.Errorf("%w: more than %d instructions in one league", strategies.ErrBudget, s.instance.fuel.total)
		hint = "do less in one call"
	case errors.Is(err, errSpent):
		err = fmt.Errorf("%w: more than %d instructions in one call", strategies.ErrBudget, s.instance.fuel.limit)
		hint = "is there an endless loop?"
	case s.instance.deep():
		err = fmt.Errorf("%w: calls nested too deeply", strategies.ErrBudget)
		hint = "is there an endless recursion?"
	default:
		err, over = s.factory.module.reason(err), false
	}
	err = s.factory.Fail(op, 0, hint, err)
	if over && op != strategies.OpLoad {
		s.retire(err)
	} else {
		s.instance.rewind()
	}
	return err
}
