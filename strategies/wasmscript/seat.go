package wasmscript

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// seat is one module in one league.
type seat struct {
	factory  *factory
	instance *instance
	used     int64 // instructions of all calls, after the end
	ended    error // why no call is possible any more

	players []string // by index; others join when they are first met
	known   map[string]uint64
	stack   [8]uint64
}

// The numbers of a module for what is not there, and for results.
const (
	none          = -1
	wonResult     = 1
	tiedResult    = 0
	lostResult    = -1
	failedResult  = -2
	unknownResult = -3
)

func newSeat(f *factory, in *instance, s *strategies.Setup) *seat {
	st := &seat{factory: f, instance: in, players: s.Field[:len(s.Field):len(s.Field)]}
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
	if id == "" {
		return number(none)
	}
	if i := inOrder(id); i < uint(len(s.players)) && s.players[i] == id {
		return uint64(i)
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

// inOrder returns the place of a player in fields that game.PlayerID names, where nothing
// needs to be searched: 2 for "P03".
func inOrder(id string) uint {
	n := len(id)
	if n < 2 {
		return ^uint(0)
	}
	return 10*uint(id[n-2]-'0') + uint(id[n-1]-'0') - 1
}

// begin calls start.
func (s *seat) begin(ctx context.Context, setup *strategies.Setup) error {
	if _, ok := s.factory.module.hooks["start"]; !ok {
		return nil
	}
	stack := append(s.stack[:0], s.player(setup.ID), number(len(setup.Field)), number(setup.Rounds), number(setup.Legs))
	return s.call(ctx, strategies.OpStart, s.instance.entry("start"), stack)
}

func (s *seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	s.stack = [8]uint64{
		s.player(t.Opponent), number(t.Round), uint64(t.Role), number(t.Played),
		number(t.Wins), number(t.Draws), number(t.Losses), number(t.Points),
	}
	if err := s.call(ctx, strategies.OpChoose, s.instance.choose, s.stack[:]); err != nil {
		return 0, err
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
	opponent := s.player(o.Opponent)
	if s.instance.observe == nil {
		return nil
	}
	drawn := none
	if o.Drew {
		drawn = o.Number
	}
	s.stack = [8]uint64{
		opponent, number(o.Round), uint64(o.Role), parity(o.Choice), parity(o.OpponentChoice),
		number(drawn), result(o.Result), number(o.Points),
	}
	return s.call(ctx, strategies.OpObserve, s.instance.observe, s.stack[:])
}

// parity returns 1 for even and 0 for odd, as choose does.
func parity(p game.Parity) uint64 {
	switch p {
	case game.Even:
		return 1
	case game.Odd:
		return 0
	}
	return number(none)
}

func result(r game.Result) uint64 {
	switch r {
	case game.Win:
		return number(wonResult)
	case game.Tie:
		return number(tiedResult)
	case game.Loss:
		return number(lostResult)
	case game.TechnicalLoss:
		return number(failedResult)
	}
	return number(unknownResult)
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

// Close hands the instance on.
func (s *seat) Close() error {
	s.retire(errClosed)
	return nil
}

var errClosed = errors.New("the seat is closed")

func (s *seat) retire(why error) {
	if s.ended == nil {
		s.ended = why
	}
	if s.instance != nil {
		s.used = s.instance.instructions()
		s.factory.put(s.instance)
		s.instance = nil
	}
}

// call calls a function of the module within the limits. After an overrun the seat has
// ended.
func (s *seat) call(ctx context.Context, op strategies.Op, f function, stack []uint64) error {
	if ctx.Err() != nil {
		return s.settle(ctx, op, context.Cause(ctx), errStopped)
	}
	if cause, err := s.instance.run(ctx, f, stack); err != nil {
		return s.settle(ctx, op, cause, err)
	}
	return nil
}

// settle makes an error of what went wrong in a call, and ends the seat if it exceeded a
// limit. cause is why the call was interrupted.
func (s *seat) settle(ctx context.Context, op strategies.Op, cause, err error) error {
	limits := s.factory.Limits()
	hint, over := "", true
	switch {
	case errors.Is(err, errStopped) && ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", strategies.ErrTimeout, cause)
	case errors.Is(err, errStopped):
		err = fmt.Errorf("%w: more than %v in one call", strategies.ErrTimeout, limits.Time)
	case errors.Is(err, errSpent):
		err = fmt.Errorf("%w: more than %d instructions in one call", strategies.ErrBudget, s.instance.tank.limit)
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
		s.instance.global[roomGlobal].Set(stackWords)
	}
	return err
}
