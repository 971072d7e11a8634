package arena

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// block is a number of leagues in lockstep: their calls to a Batcher share steps.
type block struct {
	arena   *Arena
	leagues []league // of which the first n are in use
	n       int
	groups  []*group
	flight  sync.WaitGroup // steps in progress, which own the groups
	closing bool           // the last step is in progress
}

func (ln *block) playAlone(ctx context.Context, index int, rec *results.League, quarantined []bool) error {
	ln.use(1)
	l := &ln.leagues[0]
	l.begin(ln.arena, index, rec, quarantined)
	if err := l.open(ctx, nil, 0); err != nil {
		return err
	}
	return l.run(ctx)
}

func (ln *block) use(n int) {
	if n > len(ln.leagues) {
		ln.leagues = make([]league, n)
	}
	ln.n = n
}

// play plays leagues in lockstep.
func (ln *block) play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	ln.begin(ctx, first, out, quarantined)
	for {
		if more, err := ln.advance(ctx); !more || err != nil {
			return err
		}
	}
}

// begin starts a block of leagues. advance returns its errors.
func (ln *block) begin(ctx context.Context, first int, out []results.League, quarantined []bool) {
	ln.use(len(out))
	ln.closing = len(out) == 0
	for _, g := range ln.groups {
		g.begin(len(out) * len(ln.arena.ids))
	}
	for i := range out {
		l := &ln.leagues[i]
		l.begin(ln.arena, first+i, &out[i], quarantined)
		if l.open(ctx, ln.groups, i) != nil {
			return
		}
	}
}

// advance receives the answers to the last step, sends the next one, and plays
// meanwhile what does not depend on its answers. It returns false at the end.
func (ln *block) advance(ctx context.Context) (more bool, err error) {
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
		if err := l.run(ctx); err != nil {
			return false, err
		}
		ln.closing = ln.closing && l.closed
	}
	// Every step is sent before the first answer is awaited.
	for _, g := range ln.groups {
		if s := &g.step; len(s.Open)+len(s.Observe)+len(s.Choose)+len(s.Close) > 0 {
			ln.send(ctx, g)
		}
	}
	for i := range ln.n {
		if l := &ln.leagues[i]; !l.closed && l.behind() {
			l.call(ctx, (*league).playAhead)
		}
	}
	return true, nil
}

// send starts the step of a group.
func (ln *block) send(ctx context.Context, g *group) {
	if g.sent = true; g.ready(ctx) {
		ln.flight.Go(func() { g.exchange(ctx) })
	}
}

func (ln *block) receive(ctx context.Context, g *group) error {
	if !g.sent {
		return nil
	}
	defer g.reset()
	if g.err == nil {
		g.err = g.check()
	}
	if g.err != nil {
		if err := ln.failGroup(ctx, g); err != nil {
			return err
		}
	}
	for _, f := range g.step.Failed {
		if err := ln.failed(ctx, g, f); err != nil {
			return err
		}
	}
	for _, x := range g.step.Spent {
		if l, s := ln.find(g, x.Seat); s.group == g {
			l.spent(s.field, x.Spent)
		}
	}
	for i, q := range g.asked {
		l, s := ln.find(g, q.seat)
		s.asked = false
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

// failed handles the failure of one seat. A further failure of a seat that is out
// is ignored.
func (ln *block) failed(ctx context.Context, g *group, f strategies.SeatError) error {
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

// find returns the league and the seat of an id.
func (ln *block) find(g *group, id strategies.SeatID) (*league, *seat) {
	i, n := int(id-g.base), len(ln.arena.ids)
	l := &ln.leagues[i/n]
	return l, &l.seats[i%n]
}

// failGroup puts out all seats of a lost group.
func (ln *block) failGroup(ctx context.Context, g *group) error {
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
	g.step.Failed, g.step.Spent = g.step.Failed[:0], g.step.Spent[:0]
	_ = g.close() // the reason is known already
	return nil
}

// end waits for steps in progress. After a failure it also closes what is open.
func (ln *block) end(failed bool) (err error) {
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

// group is the seats of one Batcher in one block. During a step it belongs to the
// goroutine of exchange.
type group struct {
	factory strategies.Batcher
	batch   strategies.Batch // nil until needed and after a loss
	step    strategies.Step
	asked   []question // asked[i] belongs to step.Choose[i]
	sent    bool       // the step was sent
	err     error      // why the step lost the group

	base strategies.SeatID // the first id of this block
	size int               // ids of this block
}

type question struct {
	seat     strategies.SeatID
	at       int // the part
	answered bool
}

// begin reserves ids for a block. Ids are unique in a batch until they wrap after
// four billion.
func (g *group) begin(seats int) {
	g.base += strategies.SeatID(g.size)
	g.size = seats
}

// open, choose, observe and end add an operation to the next step.

func (g *group) open(id strategies.SeatID, setup strategies.Setup) {
	g.step.Open = append(g.step.Open, strategies.OpenSeat{Seat: id, Setup: setup})
}

func (g *group) choose(s *seat, at int) {
	g.step.Choose = append(g.step.Choose, strategies.SeatTurn{Seat: s.id, Turn: s.turn})
	g.asked = append(g.asked, question{seat: s.id, at: at})
}

func (g *group) observe(s *seat, o *strategies.Outcome) {
	g.step.Observe = append(g.step.Observe, strategies.SeatOutcome{Seat: s.id, Outcome: *o})
}

func (g *group) end(s *seat) { g.step.Close = append(g.step.Close, s.id) }

// ready opens the batch if necessary. The reason of a failure is in err.
func (g *group) ready(ctx context.Context) bool {
	defer strategies.Rescue(&g.err)
	if g.batch != nil {
		return true
	}
	if g.batch, g.err = g.factory.NewBatch(ctx); g.err != nil {
		g.batch = nil
	} else if g.batch == nil {
		g.err = errors.New("factory returned neither a batch nor an error")
	}
	return g.batch != nil
}

// exchange carries out the step. The results are in step and err.
func (g *group) exchange(ctx context.Context) {
	defer strategies.Rescue(&g.err)
	g.err = g.batch.Step(ctx, &g.step)
}

// op returns the operation of the step, for a failure of the whole group.
func (g *group) op() strategies.Op {
	switch {
	case g.batch == nil || len(g.step.Open) > 0:
		return strategies.OpStart
	case len(g.step.Choose) > 0:
		return strategies.OpChoose
	}
	return strategies.OpObserve
}

// check validates the answer to a step. A batch may be another process, which can
// send anything.
func (g *group) check() error {
	if len(g.step.Choices) != len(g.step.Choose) {
		return fmt.Errorf("batch returned %d choices, want %d", len(g.step.Choices), len(g.step.Choose))
	}
	for _, f := range g.step.Failed {
		switch {
		case f.Err == nil:
			return fmt.Errorf("batch reported that seat %d failed, with a nil error", f.Seat)
		case int(f.Seat-g.base) >= g.size:
			return fmt.Errorf("batch reported a failure of unknown seat %d", f.Seat)
		case f.Op == strategies.OpStart, f.Op == strategies.OpObserve:
		case f.Op != strategies.OpChoose:
			return fmt.Errorf("batch reported a failure of unknown operation %q", f.Op)
		case f.Index < 0 || f.Index >= len(g.asked) || g.asked[f.Index].seat != f.Seat:
			return fmt.Errorf("batch reported a failed choice of seat %d that was not requested", f.Seat)
		}
	}
	for _, x := range g.step.Spent {
		if int(x.Seat-g.base) >= g.size {
			return fmt.Errorf("batch reported the cost of unknown seat %d", x.Seat)
		}
	}
	return nil
}

// reset empties the step for the next one.
func (g *group) reset() {
	g.step.Reset()
	g.asked, g.sent, g.err = g.asked[:0], false, nil
}

// close ends the batch with its open seats.
func (g *group) close() (err error) {
	b := g.batch
	g.batch = nil
	if b == nil {
		return nil
	}
	defer strategies.Rescue(&err)
	return b.Close()
}
