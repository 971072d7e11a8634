package arena

import (
	"context"
	"strconv"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

type seat struct {
	field    int
	strategy strategies.Strategy // nil if there is none to close
	deferrer strategies.Deferrer // nil if outcomes are reported at once
	group    *group              // for a batched seat
	id       strategies.SeatID   // in the group
	rand     *game.Rand
	coin     *game.Rand // made when first needed
	out      game.Fault // what its next match is lost with; NoFault while it is in
	turn     strategies.Turn

	// Of a league with batched seats:
	at     int  // the part that it plays next or has begun; after the last, the number of parts
	chosen bool // its choice there is made or asked for
	asked  bool // its batch has not answered yet
}

// batched reports whether only a step of its group can call a seat.
func (s *seat) batched() bool { return s.group != nil && s.out == game.NoFault }

// forfeit returns the fault of the next match of a seat that is out: first the
// reason, then FaultForfeit.
func (s *seat) forfeit() game.Fault {
	f := s.out
	if f != game.FaultQuarantined {
		s.out = game.FaultForfeit
	}
	return f
}

// open makes the seats of a league, those of batchers in the next step of their
// group. at is the league's index in its block.
func (l *league) open(ctx context.Context, groups []*group, at int) error {
	a := l.arena
	for i := range l.seats {
		s := &l.seats[i]
		if s.out != game.NoFault {
			continue
		}
		key := game.StrategyKey(a.plan.Seed, l.index, s.field)
		setup := strategies.Setup{
			ID: a.ids[i], Name: a.ids[i], Field: a.ids, Rounds: a.rounds, Legs: a.plan.Legs,
			Key: key, Rand: game.NewRand(key), Totals: a.plan.Totals(),
		}
		setup.Rand.Rekey(game.StartPosition)
		if a.opts.Log != nil {
			setup.Log = a.opts.Log(l.index, s.field)
		}
		s.rand = setup.Rand
		if b := a.batcherOf[s.field]; b >= 0 {
			l.batch, s.group = true, groups[b]
			s.id = s.group.base + strategies.SeatID(at*len(l.seats)+i)
			s.group.open(s.id, setup)
			continue
		}
		var err error
		if s.strategy, err = start(ctx, a.factories[s.field], setup); err != nil {
			if l.fail(ctx, s, strategies.OpStart, err); l.err != nil {
				return l.err
			}
		}
		s.deferrer, _ = s.strategy.(strategies.Deferrer)
	}
	if l.batch {
		l.prepare()
	}
	return nil
}

func start(ctx context.Context, f strategies.Factory, setup strategies.Setup) (s strategies.Strategy, err error) {
	defer strategies.Rescue(&err)
	s, err = f.New(ctx, setup)
	if s == nil && err == nil {
		err = strategies.ErrNoStrategy
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// observe passes the last outcomes to the seats that have deferred them.
func (l *league) observe(ctx context.Context) {
	for i := range l.seats {
		s := &l.seats[i]
		if s.deferrer == nil || s.out != game.NoFault {
			continue
		}
		if err := observe(ctx, s.deferrer); err != nil {
			l.fail(ctx, s, strategies.OpObserve, err)
		}
	}
}

func observe(ctx context.Context, d strategies.Deferrer) (err error) {
	defer strategies.Rescue(&err)
	return d.Settle(ctx)
}

// close ends the seats of a league. Errors come too late to matter.
func (l *league) close() {
	for i := range l.seats {
		s := &l.seats[i]
		if s.strategy != nil {
			stop(s.strategy)
			if spender, ok := s.strategy.(strategies.Spender); ok {
				l.spent(s.field, spender.Spent())
			}
			s.strategy, s.deferrer = nil, nil
		}
		if s.group != nil && s.out == game.NoFault {
			s.group.end(s)
		}
	}
}

// spent records what a player has cost, if that is more than a league may cost.
func (l *league) spent(field int, s strategies.Spent) {
	if s.Over() {
		l.rec.AddCost(results.Cost{Field: field, Share: s.Share, Exact: s.Exact})
	}
}

func stop(s strategies.Strategy) {
	defer func() { _ = recover() }()
	_ = s.Close()
}

// fail records the failure of a call and puts the seat out if the failure ends it.
// If ctx is done, the strategy is not to blame, and fail sets l.err instead.
func (l *league) fail(ctx context.Context, s *seat, op strategies.Op, err error) game.Fault {
	if ctx.Err() != nil {
		l.err = context.Cause(ctx)
		return game.NoFault
	}
	f, op := strategies.FaultOf(err), strategies.FailedOp(op, err)
	l.note(s.field, f, op, err)
	if strategies.EndsSeat(op, f) {
		s.out = f
	}
	return f
}

// refused returns the side of a seat whose choice failed. If that puts the seat out,
// this match bears the reason.
func (l *league) refused(ctx context.Context, s *seat, err error) game.Side {
	f := l.fail(ctx, s, strategies.OpChoose, err)
	if s.out != game.NoFault {
		s.forfeit()
	}
	return game.Side{Fault: f}
}

// resolve turns a choice into the seat's side of the match.
func (l *league) resolve(ctx context.Context, s *seat, at int, c strategies.Choice) game.Side {
	if !c.Valid() {
		return l.refused(ctx, s, strategies.InvalidChoice(strconv.FormatFloat(float64(c), 'g', -1, 64)))
	}
	if s.coin == nil {
		s.coin = game.NewRand(game.CoinKey(l.arena.plan.Seed, l.index, s.field))
	}
	s.coin.Rekey(uint64(at >> 1))
	return game.Side{Choice: c.Resolve(s.coin)}
}

// note records a failure, once in a league for each player and fault.
func (l *league) note(field int, f game.Fault, op strategies.Op, err error) {
	if l.noted[field]&(1<<f) != 0 {
		return
	}
	l.noted[field] |= 1 << f
	text := strategies.Wrap(l.arena.sources[field], op, err).Error()
	l.rec.Notes = append(l.rec.Notes, results.NoteOf(field, f, text))
}
