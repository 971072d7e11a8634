package strategytest

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// seat does the host's part for one strategy in one league: it rekeys the
// random stream before every call, counts the standing, and refuses choices
// that are none.
type seat struct {
	strategy strategies.Strategy
	source   string
	rand     *game.Rand
	standing strategies.Standing
	turn     strategies.Turn    // reused, as hosts do
	outcome  strategies.Outcome // likewise
}

var errNoSeat = errors.New("the factory returned neither a seat nor an error")

// sit makes a seat whose randomness has the given key.
func sit(ctx context.Context, f strategies.Factory, setup strategies.Setup, key game.Key) (s *seat, err error) {
	source := sourceOf(f.Info())
	defer recovered(source, strategies.OpStart, &err)
	setup.Key, setup.Rand = key, game.NewRand(key)
	setup.Rand.Rekey(game.StartPosition)
	st, err := f.New(ctx, setup)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return nil, errNoSeat
	}
	return &seat{strategy: st, source: source, rand: setup.Rand}, nil
}

// recovered turns a panic of a strategy in Go into its failure, as every host
// does. It is deferred.
func recovered(source string, op strategies.Op, err *error) {
	if v := recover(); v != nil {
		*err = &strategies.Error{Source: source, Op: op, Err: strategies.Panicked(v)}
	}
}

// sourceOf is what an error of the strategy has to name.
func sourceOf(info strategies.Info) string {
	if info.Source != "" {
		return info.Source
	}
	return info.Name
}

// choose asks for a choice; what the turn says of the standing is filled in.
func (s *seat) choose(ctx context.Context, t strategies.Turn) (c strategies.Choice, err error) {
	defer recovered(s.source, strategies.OpChoose, &err)
	t.Standing = s.standing
	s.turn = t
	s.rand.Rekey(game.ChoosePosition(t.Match))
	c, err = s.strategy.Choose(ctx, &s.turn)
	if err == nil && !c.Valid() {
		err = &strategies.Error{
			Source: s.source, Op: strategies.OpChoose,
			Err: strategies.InvalidChoice(fmt.Sprint(float64(c))),
		}
	}
	return c, err
}

// observe tells an outcome and counts it.
func (s *seat) observe(ctx context.Context, o strategies.Outcome) (err error) {
	defer recovered(s.source, strategies.OpObserve, &err)
	s.outcome = o
	s.rand.Rekey(game.ObservePosition(o.Match))
	s.standing.Add(o.Result, o.Points)
	return s.strategy.Observe(ctx, &s.outcome)
}

// close ends the seat.
func (s *seat) close() (err error) {
	defer recovered(s.source, opClose, &err)
	return s.strategy.Close()
}

// opClose is what a seat does last. No script has a hook for it.
const opClose strategies.Op = "close"

// judged returns what one player is told of a match: mine and theirs are what
// it and its opponent brought to it.
func judged(t strategies.Turn, mine, theirs game.Side, number int) strategies.Outcome {
	v := game.Judge(mine, theirs, number)
	o := strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: mine.Choice, OpponentChoice: theirs.Choice,
		Result: v.ResultA, Points: v.PointsA,
	}
	if !v.Technical() {
		o.Number, o.Drew = number, true
	}
	return o
}
