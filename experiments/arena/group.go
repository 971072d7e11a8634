package arena

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/strategies"
)

// group is the seats of one Batcher in the leagues of one lane. While a step is
// under way it belongs to the goroutine of exchange.
type group struct {
	factory strategies.Batcher
	batch   strategies.Batch // nil until needed, and after it was lost
	step    strategies.Step
	asked   []question // asked[i] belongs to step.Choose[i]
	sent    bool       // the step is or was under way
	err     error      // the group was lost in it

	base strategies.SeatID // the first id of this block
	size int               // ids of this block
}

// question is a call for a choice.
type question struct {
	seat     strategies.SeatID
	at       int // the visit
	answered bool
}

// begin reserves ids for a block. No id is used twice in a batch, but that
// after four billion they begin anew.
func (g *group) begin(seats int) {
	g.base += strategies.SeatID(g.size)
	g.size = seats
}

// open, choose, observe and end put an operation into the next step.

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

// idle reports whether the next step has nothing in it.
func (g *group) idle() bool {
	s := &g.step
	return len(s.Open)+len(s.Observe)+len(s.Choose)+len(s.Close) == 0
}

// exchange carries out the step. What it comes to is in step and err.
func (g *group) exchange(ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			g.err = strategies.Panicked(v)
		}
	}()
	if g.batch == nil {
		if g.batch, g.err = g.factory.NewBatch(ctx); g.err != nil {
			g.batch = nil
			return
		}
		if g.batch == nil {
			g.err = errors.New("made neither a batch nor an error")
			return
		}
	}
	g.err = g.batch.Step(ctx, &g.step)
}

// op is what the group was doing, for a failure of the whole.
func (g *group) op() strategies.Op {
	switch {
	case g.batch == nil || len(g.step.Open) > 0:
		return strategies.OpStart
	case len(g.step.Choose) > 0:
		return strategies.OpChoose
	}
	return strategies.OpObserve
}

// check reports an answer that does not fit the step. A batch may be another
// process, of which anything must be expected.
func (g *group) check() error {
	if len(g.step.Choices) != len(g.step.Choose) {
		return fmt.Errorf("batch made %d choices where %d were asked for", len(g.step.Choices), len(g.step.Choose))
	}
	for _, f := range g.step.Failed {
		switch {
		case f.Err == nil:
			return fmt.Errorf("batch tells of a failure of seat %d without saying which", f.Seat)
		case int(f.Seat-g.base) >= g.size:
			return fmt.Errorf("batch tells of seat %d, which it does not have", f.Seat)
		case f.Op == strategies.OpStart, f.Op == strategies.OpObserve:
		case f.Op != strategies.OpChoose:
			return fmt.Errorf("batch tells of a failed %q, which no seat does", f.Op)
		case f.Index < 0 || f.Index >= len(g.asked) || g.asked[f.Index].seat != f.Seat:
			return fmt.Errorf("batch tells of a failed choice of seat %d that was not asked for", f.Seat)
		}
	}
	return nil
}

// reset empties the step for the next one.
func (g *group) reset() {
	g.step.Reset()
	g.asked, g.sent, g.err = g.asked[:0], false, nil
}

// close ends the batch with all seats that are open in it.
func (g *group) close() (err error) {
	b := g.batch
	g.batch = nil
	if b == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = strategies.Panicked(v)
		}
	}()
	return b.Close()
}
