package arena

import (
	"context"
	"errors"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// lane is a block of leagues in lockstep: all are in the same round, and the
// calls of a round to a Batcher go into one step.
type lane struct {
	arena   *Arena
	leagues []league // of which the first n are in use
	n       int
	groups  []*group
	flight  sync.WaitGroup // steps under way; the groups are theirs
	closing bool           // the last step is under way
}

// playAlone plays one league from start to end, where no seat is batched.
func (ln *lane) playAlone(ctx context.Context, index int, rec *results.League, barred []bool) error {
	ln.use(1)
	l := &ln.leagues[0]
	l.begin(ln.arena, index, rec, barred)
	if err := l.open(ctx, nil, 0); err != nil {
		return err
	}
	return l.run(ctx)
}

func (ln *lane) use(n int) {
	if n > len(ln.leagues) {
		ln.leagues = make([]league, n)
	}
	ln.n = n
}

// begin starts a block of leagues. What fails is told by advance.
func (ln *lane) begin(ctx context.Context, first int, out []results.League, barred []bool) {
	ln.use(len(out))
	ln.closing = len(out) == 0
	for _, g := range ln.groups {
		g.begin(len(out) * len(ln.arena.ids))
	}
	for i := range out {
		l := &ln.leagues[i]
		l.begin(ln.arena, first+i, &out[i], barred)
		if l.open(ctx, ln.groups, i) != nil {
			return
		}
	}
}

// advance takes the answers to the last step, plays every league on to where
// it waits for the next, and sends that. It returns false once all is over.
func (ln *lane) advance(ctx context.Context) (more bool, err error) {
	ln.flight.Wait()
	for _, g := range ln.groups {
		if err := ln.receive(ctx, g); err != nil {
			return false, err
		}
	}
	if ln.closing {
		return false, nil
	}
	ln.closing = true
	for i := range ln.n {
		l := &ln.leagues[i]
		l.answered()
		if err := l.run(ctx); err != nil {
			return false, err
		}
		if l.stage == waiting {
			ln.closing = false
		}
	}
	for _, g := range ln.groups {
		if !g.idle() {
			g.sent = true
			ln.flight.Go(func() { g.exchange(ctx) })
		}
	}
	return true, nil
}

// receive takes a group's answers to the last step, if there was one.
func (ln *lane) receive(ctx context.Context, g *group) error {
	if !g.sent {
		return nil
	}
	defer g.reset()
	if g.err == nil {
		g.err = g.check()
	}
	if g.err != nil {
		if err := ln.lose(ctx, g); err != nil {
			return err
		}
	}
	for _, f := range g.step.Failed {
		if err := ln.failed(ctx, g, f); err != nil {
			return err
		}
	}
	for i, q := range g.asked {
		l, s := ln.find(g, q.seat)
		switch {
		case q.answered:
		case s.out != game.NoFault:
			*l.side(q.at) = game.Side{Fault: s.forfeit()}
		default:
			*l.side(q.at) = l.resolve(ctx, s, q.at, g.step.Choices[i])
		}
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// failed takes what went wrong with one seat. If the seat was out before, the
// batch had only not stopped at the first failure.
func (ln *lane) failed(ctx context.Context, g *group, f strategies.SeatError) error {
	l, s := ln.find(g, f.Seat)
	switch {
	case s.out != game.NoFault || s.group != g:
	case f.Op == strategies.OpChoose:
		q := &g.asked[f.Index]
		q.answered = true
		*l.side(q.at) = l.refused(ctx, s, f.Err)
	default:
		l.fail(ctx, s, f.Op, f.Err)
	}
	return l.err
}

// find returns the league and the seat that an id stands for.
func (ln *lane) find(g *group, id strategies.SeatID) (*league, *seat) {
	i, n := int(id-g.base), len(ln.arena.ids)
	l := &ln.leagues[i/n]
	return l, &l.seats[i%n]
}

// lose puts out all seats of a group that was lost as a whole.
func (ln *lane) lose(ctx context.Context, g *group) error {
	op := g.op()
	for i := range ln.n {
		l := &ln.leagues[i]
		for j := range l.seats {
			s := &l.seats[j]
			if s.group != g || s.out != game.NoFault {
				continue
			}
			if s.out = l.fail(ctx, s, op, g.err); l.err != nil {
				return l.err
			}
		}
	}
	g.step.Failed = g.step.Failed[:0]
	_ = g.close() // why it is lost is known already
	return nil
}

// end leaves nothing under way. After a failure it also closes what is open.
func (ln *lane) end(failed bool) (err error) {
	ln.flight.Wait()
	if !failed {
		return nil
	}
	for i := range ln.n {
		ln.leagues[i].close()
	}
	for _, g := range ln.groups {
		err = errors.Join(err, g.close())
		g.reset()
	}
	return err
}
