package arena

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// stage is what a league does next.
type stage uint8

const (
	asking   stage = iota // the seats of a round for their choices
	waiting               // for the answers of batched seats
	settling              // the matches of the round
	over
)

// league is one league under way. It is used again for the next one.
type league struct {
	arena *Arena
	index int
	rec   *results.League
	seats []seat
	draws game.DrawStream
	noted []uint64 // by field index: a bit for each fault that has a note
	batch bool     // some seats are batched

	stage      stage
	round      int // from 0
	at         int // the visit that is next in this stage of the round
	first, end int // of the round's visits

	calling int // the visit whose strategy is being called, from 1; 0 if none is
	verdict game.Verdict
	outcome strategies.Outcome
	err     error // why the league cannot go on; it is ctx's
}

// begin makes l the start of a league that is to be recorded in rec.
func (l *league) begin(a *Arena, index int, rec *results.League, barred []bool) {
	n := len(a.factories)
	if l.seats == nil {
		l.arena, l.seats, l.noted = a, make([]seat, n), make([]uint64, n)
	}
	rec.Index = index
	rec.Seats = append(rec.Seats[:0], game.Seats(a.plan.Seed, index, n)...)
	rec.Notes = rec.Notes[:0]
	if cap(rec.Matches) < len(a.visits)/2 {
		rec.Matches = make([]results.Match, len(a.visits)/2)
	}
	rec.Matches = rec.Matches[:len(a.visits)/2]
	l.index, l.rec, l.err, l.batch = index, rec, nil, false
	l.draws.Reset(a.plan.Seed, index)
	clear(l.noted)
	l.stage, l.round, l.at, l.first, l.end = asking, 0, 0, 0, a.perRound
	for s := range l.seats {
		field := rec.Seats[s]
		l.seats[s] = seat{field: field}
		if barred[field] {
			l.seats[s].out = game.FaultQuarantined
		}
	}
}

// run plays on until the league is over, or until it waits for the answers of
// batched seats.
func (l *league) run(ctx context.Context) error {
	for l.err == nil && l.stage != over && l.stage != waiting {
		l.carryOn(ctx)
	}
	return l.err
}

// answered goes on from waiting.
func (l *league) answered() {
	if l.stage == waiting {
		l.stage, l.at = settling, l.first
	}
}

// carryOn is run up to the first panic of a strategy. One deferred call covers
// all calls of strategies; it costs as much as a match, so there is not one for
// each.
func (l *league) carryOn(ctx context.Context) {
	defer l.rescue(ctx)
	const often = 16 // rounds; strategies look at ctx themselves
	for {
		switch l.stage {
		case asking:
			if l.round%often == 0 && ctx.Err() != nil {
				l.err = context.Cause(ctx)
				return
			}
			if l.ask(ctx); l.err != nil {
				return
			}
			l.stage, l.at = settling, l.first
			if l.batch {
				l.stage = waiting
				return
			}
		case settling:
			if l.settle(ctx); l.err != nil {
				return
			}
			l.round++
			l.first, l.end = l.end, l.end+l.arena.perRound
			l.stage, l.at = asking, l.first
			if l.round == l.arena.rounds {
				l.stage = over
				return
			}
		default:
			return
		}
	}
}

// rescue turns a panic of a strategy into its failure and leaves the league
// after that call. A panic of our own goes on.
func (l *league) rescue(ctx context.Context) {
	if l.calling == 0 {
		return
	}
	at, err := l.calling-1, strategies.Panicked(recover())
	l.calling, l.at = 0, at+1
	s := &l.seats[l.arena.visits[at].seat]
	if l.stage == asking {
		*l.side(at) = l.refused(ctx, s, err)
	} else {
		l.fail(ctx, s, strategies.OpObserve, err)
	}
}

// side is where the record keeps what a visit brought.
func (l *league) side(at int) *game.Side {
	m := &l.rec.Matches[at>>1]
	if at&1 == 0 {
		return &m.A
	}
	return &m.B
}

// ask asks the seats of a round, from l.at on.
func (l *league) ask(ctx context.Context) {
	visits, seats := l.arena.visits, l.seats
	for at := l.at; at < l.end; at++ {
		v := &visits[at]
		s := &seats[v.seat]
		if s.out != game.NoFault {
			*l.side(at) = game.Side{Fault: s.forfeit()}
			continue
		}
		t := &s.turn
		t.Match, t.MatchID, t.Round, t.Opponent, t.Role = uint64(at>>1), v.match, int(v.round), v.opponent, role(at)
		if s.group != nil {
			s.group.choose(s, at)
			continue
		}
		s.rand.Rekey(game.ChoosePosition(t.Match))
		l.calling = at + 1
		c, err := s.strategy.Choose(ctx, t)
		l.calling = 0
		side := l.side(at)
		switch {
		case err != nil:
			*side = l.refused(ctx, s, err)
			if l.err != nil {
				return
			}
		case c == strategies.Even:
			*side = game.Side{Choice: game.Even}
		case c == strategies.Odd:
			*side = game.Side{Choice: game.Odd}
		default:
			*side = l.resolve(ctx, s, at, c)
		}
	}
}

// role is the part that a visit has in its match.
func role(at int) game.Role { return game.RoleA + game.Role(at&1) }

// settle decides the matches of a round and tells their players, from l.at on.
func (l *league) settle(ctx context.Context) {
	visits, seats, o := l.arena.visits, l.seats, &l.outcome
	for at := l.at; at < l.end; at++ {
		v := &visits[at]
		m := &l.rec.Matches[at>>1]
		if at&1 == 0 {
			l.decide(m)
			o.Match, o.MatchID, o.Round = uint64(at>>1), v.match, int(v.round)
			o.Choice, o.OpponentChoice = m.A.Choice, m.B.Choice
			o.Result, o.Points = l.verdict.ResultA, l.verdict.PointsA
		} else {
			o.Choice, o.OpponentChoice = m.B.Choice, m.A.Choice
			o.Result, o.Points = l.verdict.ResultB, l.verdict.PointsB
		}
		s := &seats[v.seat]
		if s.out != game.NoFault {
			continue
		}
		o.Opponent, o.Role = v.opponent, role(at)
		s.turn.Standing.Add(o.Result, o.Points)
		if s.group != nil {
			s.group.observe(s, o)
			continue
		}
		s.rand.Rekey(game.ObservePosition(o.Match))
		l.calling = at + 1
		err := s.strategy.Observe(ctx, o)
		l.calling = 0
		if err != nil {
			if l.fail(ctx, s, strategies.OpObserve, err); l.err != nil {
				return
			}
		}
	}
}

// decide draws the number of a match and scores it. Every match takes its word
// from the stream of draws, so that a technical loss shifts no other match.
func (l *league) decide(m *results.Match) {
	word := l.draws.Next()
	number, clean := results.NoNumber, m.A.Fault|m.B.Fault == game.NoFault
	if clean {
		number = l.arena.draw.Pick(word)
	}
	m.Number = int32(number)
	l.outcome.Number, l.outcome.Drew = number, clean
	l.verdict = game.Judge(m.A, m.B, number)
}
