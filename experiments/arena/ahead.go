package arena

import "context"

// A league with batched seats is not played round by round. A seat plays its matches in
// the order of the schedule and learns of no others, so a match can be played as soon as
// both seats have finished all that they play before it. While a batched seat is awaited,
// everything is played that does not depend on its answer. By the circle method that is
// much: with an odd number of seats, no opponent of a seat up to its next bye depends, even
// by way of others, on what the seat plays until then. So for a whole leg the choices are
// known before it is asked, and no other strategy is called between two of its answers,
// which would push the machines of scripts and the code of the plugin out of the caches.

// prepare draws the numbers of all matches, and places the seats at their first.
func (l *league) prepare() {
	for i := range l.rec.Matches {
		l.rec.Matches[i].Number = int32(l.arena.draw.Pick(l.draws.Next()))
	}
	for i := range l.seats {
		l.seats[i].at = int(l.arena.firsts[i])
	}
}

// proceed plays until batched seats are waited for or the league is over.
func (l *league) proceed(ctx context.Context) {
	for l.err == nil {
		l.ask(ctx)
		if l.waiting() || l.over() {
			return
		}
		l.playAhead(ctx)
	}
}

// waiting reports whether a batched seat has not answered yet.
func (l *league) waiting() bool {
	return l.some(func(s *seat) bool { return s.asked })
}

// over reports whether every seat knows all its outcomes.
func (l *league) over() bool {
	return !l.some(func(s *seat) bool { return s.at < len(l.arena.parts) })
}

// behind reports whether a batched seat waits for more than its own answer: the choice
// of its opponent is not known.
func (l *league) behind() bool {
	return l.some(func(s *seat) bool { return s.batched() && s.at < len(l.arena.parts) && !l.knows(s.at^1) })
}

// some reports whether something holds for a seat.
func (l *league) some(holds func(*seat) bool) bool {
	for i := range l.seats {
		if holds(&l.seats[i]) {
			return true
		}
	}
	return false
}

// ask adds to the next step of every group what its seats can learn and choose without
// a call of another strategy.
func (l *league) ask(ctx context.Context) {
	for i := range l.seats {
		for s := &l.seats[i]; s.batched() && s.at < len(l.arena.parts); {
			at := s.at
			l.enter(ctx, s, at)
			if !l.knows(at) || !l.knows(at^1) {
				break
			}
			l.decide(&l.rec.Matches[at>>1], at)
			l.report(ctx, s, at)
		}
	}
}

// playAhead plays what does not depend on an awaited answer. It calls no batched seat:
// their groups may be in the middle of a step.
func (l *league) playAhead(ctx context.Context) {
	for moved := true; moved && l.err == nil; {
		moved, l.err = false, context.Cause(ctx)
		for i := range l.seats {
			for s := &l.seats[i]; s.at < len(l.arena.parts) && l.err == nil; moved = true {
				at := s.at
				if l.push(ctx, at&^1); s.at == at {
					break
				}
			}
		}
	}
}

// push plays as much of a match as can be played now. After a panic in it the next push
// makes the calls that are left.
func (l *league) push(ctx context.Context, at int) {
	for _, at := range [2]int{at, at + 1} {
		if s := &l.seats[l.arena.parts[at].seat]; s.at == at && !s.batched() {
			l.enter(ctx, s, at)
		}
	}
	if !l.knows(at) || !l.knows(at+1) {
		return
	}
	l.decide(&l.rec.Matches[at>>1], at)
	for _, at := range [2]int{at, at + 1} {
		if s := &l.seats[l.arena.parts[at].seat]; s.at == at && !s.batched() {
			l.report(ctx, s, at)
		}
	}
}

// enter has a seat choose in its match, or asks it to.
func (l *league) enter(ctx context.Context, s *seat, at int) {
	if !s.chosen {
		*l.side(at) = l.choose(ctx, s, at)
		s.chosen = true
	}
}

// report tells a seat the outcome of its match, which has just been decided.
func (l *league) report(ctx context.Context, s *seat, at int) {
	l.tell(ctx, s, &l.rec.Matches[at>>1], at)
	l.leave(s)
}

// leave takes a seat to its next match.
func (l *league) leave(s *seat) { s.at, s.chosen = int(l.arena.parts[s.at].next), false }

// knows reports whether the side of a match that a part is about is known.
func (l *league) knows(at int) bool {
	s := &l.seats[l.arena.parts[at].seat]
	return s.at > at || s.at == at && s.chosen && !s.asked
}

// follow notes which part follows which one in the course of a seat.
func (a *Arena) follow() {
	a.firsts = make([]int32, len(a.factories))
	for i := range a.firsts {
		a.firsts[i] = int32(len(a.parts))
	}
	for at := len(a.parts) - 1; at >= 0; at-- {
		p := &a.parts[at]
		first := &a.firsts[p.seat]
		p.next, *first = *first, int32(at)
	}
}
