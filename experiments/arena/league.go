package arena

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// stage is the next activity of a league.
type stage uint8

const (
	between  stage = iota // start the next parts
	asking                // ask for choices
	settling              // decide matches and report outcomes
	sending               // wait until the turns of batched seats are sent
	waiting               // wait for the choices of batched seats
	over                  // close the seats
	closed
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

	// In lockstep all seats of a round are asked before any outcome is reported.
	// Without batched seats it is the two of one match, which is equivalent:
	// nobody has another match in the round.
	stage      stage
	first, end int // the parts that are handled together
	at         int // of them, the next in this stage

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
	rec.Notes = rec.Notes[:0]
	if cap(rec.Matches) < len(a.parts)/2 {
		rec.Matches = make([]results.Match, len(a.parts)/2)
	}
	rec.Matches = rec.Matches[:len(a.parts)/2]
	l.index, l.rec, l.err, l.batch = index, rec, nil, false
	l.draws.Reset(a.plan.Seed, index)
	clear(l.noted)
	l.stage, l.first, l.end, l.at, l.calling = between, 0, 0, 0, 0
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
	for l.err == nil && l.stage < sending {
		l.carryOn(ctx)
	}
	if l.err == nil && l.stage == over {
		l.observe(ctx)
		l.close()
		l.stage = closed
	}
	return l.err
}

// carryOn plays until the first panic of a strategy, or to the end of a stage in
// lockstep. One deferred call covers many calls of strategies, because it costs as
// much as one of them.
func (l *league) carryOn(ctx context.Context) {
	defer l.rescue(ctx)
	switch l.stage {
	case between:
		l.next(ctx)
	case asking:
		l.ask(ctx)
	case settling:
		l.settle(ctx)
	}
}

// next starts the next round, or plays all remaining matches.
func (l *league) next(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
		l.err = context.Cause(ctx)
	case l.end == len(l.arena.parts):
		l.stage = over
	case l.batch:
		l.stage, l.first, l.end = sending, l.end, l.end+l.arena.perRound
		l.askBatched(ctx)
	default:
		l.play(ctx)
	}
}

// play plays the remaining matches one by one. After a panic, ask and settle
// complete the match.
func (l *league) play(ctx context.Context) {
	const often = 64 // parts; strategies look at ctx themselves
	parts, matches, draw := l.arena.parts, l.rec.Matches, l.arena.draw
	for at := l.end; at < len(parts) && l.err == nil; at += 2 {
		m, a, b := &matches[at>>1], &parts[at], &parts[at+1]
		sa, sb := &l.seats[a.seat], &l.seats[b.seat]
		m.A = l.choose(ctx, sa, a, at)
		m.B = l.choose(ctx, sb, b, at+1)
		l.decide(m, a, at, draw.Pick(l.draws.Next()))
		l.tell(ctx, sa, a, m, at)
		l.tell(ctx, sb, b, m, at+1)
		if at%often == 0 && ctx.Err() != nil {
			l.err = context.Cause(ctx)
		}
	}
	l.end = len(parts)
}

// askBatched adds the turns of batched seats to the next step of their group.
func (l *league) askBatched(ctx context.Context) {
	for at := l.first; at < l.end; at++ {
		v := &l.arena.parts[at]
		if s := &l.seats[v.seat]; s.group != nil {
			*l.side(at) = l.choose(ctx, s, v, at)
		}
	}
}

// ask asks the seats of the parts before l.end that are not batched.
func (l *league) ask(ctx context.Context) {
	for ; l.at < l.end; l.at++ {
		v := &l.arena.parts[l.at]
		s := &l.seats[v.seat]
		if s.group != nil {
			continue
		}
		side := l.choose(ctx, s, v, l.at)
		*l.side(l.at) = side
	}
	if l.stage, l.at = settling, l.first; l.batch {
		l.stage = waiting
	}
}

// settle decides the matches of the parts before l.end and reports the outcomes.
func (l *league) settle(ctx context.Context) {
	for ; l.at < l.end; l.at++ {
		v, m := &l.arena.parts[l.at], &l.rec.Matches[l.at>>1]
		if l.at&1 == 0 {
			l.decide(m, v, l.at, l.arena.draw.Pick(l.draws.Next()))
		}
		l.tell(ctx, &l.seats[v.seat], v, m, l.at)
	}
	l.stage = between
}

// rescue turns a panic of a strategy into its failure and continues the league
// after that call. Other panics continue.
func (l *league) rescue(ctx context.Context) {
	if l.calling == 0 {
		return
	}
	err := strategies.Panicked(recover())
	at, choosing := (l.calling-1)/2, l.calling%2 == 1
	l.calling, l.at = 0, at+1
	if !l.batch {
		l.first = at &^ 1
		l.end = l.first + 2
	}
	s := &l.seats[l.arena.parts[at].seat]
	if choosing {
		l.stage = asking
		*l.side(at) = l.refused(ctx, s, err)
	} else {
		l.stage = settling
		l.fail(ctx, s, strategies.OpObserve, err)
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
func (l *league) choose(ctx context.Context, s *seat, v *part, at int) game.Side {
	if s.out != game.NoFault {
		return game.Side{Fault: s.forfeit()}
	}
	t := &s.turn
	t.Match, t.MatchID, t.Round, t.Opponent, t.Role = uint64(at>>1), v.match, int(v.round), v.opponent, role(at)
	if s.group != nil {
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
func (l *league) tell(ctx context.Context, s *seat, v *part, m *results.Match, at int) {
	if s.out != game.NoFault {
		return
	}
	o := &l.outcome
	o.Opponent, o.Role = v.opponent, role(at)
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
// if a technical loss makes it unused, so that no other match shifts.
func (l *league) decide(m *results.Match, v *part, at, number int) {
	o := &l.outcome
	o.Match, o.MatchID, o.Round = uint64(at>>1), v.match, int(v.round)
	o.Number, o.Drew, m.Number = 0, false, results.NoNumber
	if m.A.Fault|m.B.Fault == game.NoFault {
		o.Number, o.Drew, m.Number = number, true, int32(number)
	}
	l.verdict = game.Judge(m.A, m.B, number)
}
