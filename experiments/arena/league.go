package arena

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// league is one league in progress. Its memory is reused for the next.
type league struct {
	arena *Arena
	index int
	rec   *results.League
	seats []seat
	draws game.DrawStream
	noted []uint64 // by field index: a bit for each fault with a note
	batch bool     // some seats are batched

	closed bool

	// Of a league without batched seats: the next match, the one that a panic has
	// interrupted, and the next of its four calls: choose of either seat, and observe.
	at, broken, step int

	// During a call of a strategy, twice its part, plus 1 for choose or 2 for
	// observe. Otherwise 0.
	calling int

	verdict game.Verdict
	outcome strategies.Outcome
	err     error // why the league cannot continue: the error of ctx
}

// begin makes l a new league that is recorded in rec.
func (l *league) begin(a *Arena, index int, rec *results.League, quarantined []bool) {
	n := len(a.factories)
	if l.seats == nil {
		l.arena, l.seats, l.noted = a, make([]seat, n), make([]uint64, n)
	}
	rec.Index = index
	rec.Seats = append(rec.Seats[:0], game.Seats(a.plan.Seed, index, n)...)
	rec.Notes, rec.Costs = rec.Notes[:0], rec.Costs[:0]
	if cap(rec.Matches) < len(a.parts)/2 {
		rec.Matches = make([]results.Match, len(a.parts)/2)
	}
	rec.Matches = rec.Matches[:len(a.parts)/2]
	l.index, l.rec, l.err, l.batch = index, rec, nil, false
	l.draws.Reset(a.plan.Seed, index)
	clear(l.noted)
	l.closed, l.at, l.step, l.calling = false, 0, calls, 0
	for s := range l.seats {
		field := rec.Seats[s]
		l.seats[s] = seat{field: field}
		if quarantined[field] {
			l.seats[s].out = game.FaultQuarantined
		}
	}
}

// run plays until the league is over and its seats are closed, or until it waits
// for the choices of batched seats.
func (l *league) run(ctx context.Context) error {
	if l.err = context.Cause(ctx); l.closed || l.err != nil {
		return l.err
	}
	if !l.batch {
		l.call(ctx, (*league).play)
	} else if l.call(ctx, (*league).proceed); l.err == nil && l.waiting() {
		return nil
	}
	if l.err == nil {
		l.observe(ctx)
	}
	if l.err == nil {
		l.close()
		l.closed = true
	}
	return l.err
}

// call calls a method, which calls strategies, until none panics in it.
func (l *league) call(ctx context.Context, do func(*league, context.Context)) {
	for !l.try(ctx, do) {
	}
}

// try returns false after a panic of a strategy. One deferred call covers many calls
// of strategies, because it costs as much as one of them.
func (l *league) try(ctx context.Context, do func(*league, context.Context)) (whole bool) {
	defer l.rescue(ctx)
	do(l, ctx)
	return true
}

// play plays all matches of a league without batched seats.
func (l *league) play(ctx context.Context) {
	const often = 64 // parts; strategies look at ctx themselves
	l.mend(ctx)
	parts, matches, draw := l.arena.parts, l.rec.Matches, l.arena.draw
	for at := l.at; at < len(parts) && l.err == nil; at += 2 {
		m, sa, sb := &matches[at>>1], &l.seats[parts[at].seat], &l.seats[parts[at+1].seat]
		m.Number = int32(draw.Pick(l.draws.Next()))
		m.A = l.choose(ctx, sa, at)
		m.B = l.choose(ctx, sb, at+1)
		l.decide(m, at)
		l.tell(ctx, sa, m, at)
		l.tell(ctx, sb, m, at+1)
		if at%often == 0 && ctx.Err() != nil {
			l.err = context.Cause(ctx)
		}
	}
}

// calls is the number of calls in a match.
const calls = 4

// mend makes the calls that are left of an interrupted match.
func (l *league) mend(ctx context.Context) {
	for ; l.step < calls; l.step++ {
		at := l.broken + l.step&1
		m, s := &l.rec.Matches[at>>1], &l.seats[l.arena.parts[at].seat]
		if l.step < 2 {
			*l.side(at) = l.choose(ctx, s, at)
			continue
		}
		l.decide(m, at)
		l.tell(ctx, s, m, at)
	}
}

// rescue turns a panic of a strategy into its failure, so that the league continues
// after that call. Other panics continue.
func (l *league) rescue(ctx context.Context) {
	if l.calling == 0 {
		return
	}
	err := strategies.Panicked(recover())
	at, choosing := (l.calling-1)/2, l.calling%2 == 1
	l.calling, l.at, l.broken = 0, at&^1+2, at&^1
	s := &l.seats[l.arena.parts[at].seat]
	if choosing {
		l.step = at&1 + 1
		*l.side(at) = l.refused(ctx, s, err)
		s.chosen = true
		return
	}
	l.step = at&1 + 3
	l.fail(ctx, s, strategies.OpObserve, err)
	if l.batch {
		l.leave(s)
	}
}

func (l *league) side(at int) *game.Side {
	m := &l.rec.Matches[at>>1]
	if at&1 == 0 {
		return &m.A
	}
	return &m.B
}

func role(at int) game.Role { return game.RoleA + game.Role(at&1) }

// choose returns one seat's side of a match. That of a batched seat follows with
// the answers to the step.
func (l *league) choose(ctx context.Context, s *seat, at int) game.Side {
	if s.out != game.NoFault {
		return game.Side{Fault: s.forfeit()}
	}
	a := l.arena
	t, m := &s.turn, &a.matches[at>>1]
	t.Match, t.MatchID, t.Round, t.Opponent, t.Role = uint64(at>>1), m.id, m.round, a.ids[a.parts[at^1].seat], role(at)
	if s.group != nil {
		s.asked = true
		s.group.choose(s, at)
		return game.Side{}
	}
	s.rand.Rekey(game.ChoosePosition(t.Match))
	l.calling = 2*at + 1
	c, err := s.strategy.Choose(ctx, t)
	l.calling = 0
	switch {
	case err != nil:
		return l.refused(ctx, s, err)
	case c == strategies.Even:
		return game.Side{Choice: game.Even}
	case c == strategies.Odd:
		return game.Side{Choice: game.Odd}
	}
	return l.resolve(ctx, s, at, c)
}

// tell reports the outcome of the match decided last to one seat.
func (l *league) tell(ctx context.Context, s *seat, m *results.Match, at int) {
	if s.out != game.NoFault {
		return
	}
	o := &l.outcome
	o.Opponent, o.Role = s.turn.Opponent, s.turn.Role // of this match, in which it has chosen
	if at&1 == 0 {
		o.Choice, o.OpponentChoice, o.Result, o.Points = m.A.Choice, m.B.Choice, l.verdict.ResultA, l.verdict.PointsA
	} else {
		o.Choice, o.OpponentChoice, o.Result, o.Points = m.B.Choice, m.A.Choice, l.verdict.ResultB, l.verdict.PointsB
	}
	s.turn.Standing.Add(o.Result, o.Points)
	if s.group != nil {
		s.group.observe(s, o)
		return
	}
	s.rand.Rekey(game.ObservePosition(o.Match))
	l.calling = 2*at + 2
	var err error
	if s.deferrer != nil {
		err = s.deferrer.Defer(ctx, o)
	} else {
		err = s.strategy.Observe(ctx, o)
	}
	l.calling = 0
	if err != nil {
		l.fail(ctx, s, strategies.OpObserve, err)
	}
}

// decide scores a match. Every match takes a number from the stream of draws, even
// if a technical loss makes it unused, so that no other match shifts. To decide a match
// again gives the same.
func (l *league) decide(m *results.Match, at int) {
	o, number := &l.outcome, int(m.Number)
	of := &l.arena.matches[at>>1]
	o.Match, o.MatchID, o.Round = uint64(at>>1), of.id, of.round
	o.Number, o.Drew, m.Number = 0, false, results.NoNumber
	if m.A.Fault|m.B.Fault == game.NoFault {
		o.Number, o.Drew, m.Number = number, true, int32(number)
	}
	l.verdict = game.Judge(m.A, m.B, number)
}
