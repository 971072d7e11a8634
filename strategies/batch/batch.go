// Package batch makes any strategy one that is called in batches. The seats
// stay in this process; what is gained is the shape of the calls. A process
// that serves strategies to a host answers its steps with it, and tests compare
// a field with it to the same field without.
package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// Of returns f as a Batcher. A seat gets from its steps exactly what it would
// get from New, Choose, Observe and Close, its randomness and the recovery
// from a panic included.
func Of(f strategies.Factory) strategies.Batcher { return &factory{f} }

type factory struct{ strategies.Factory }

// NewBatch implements strategies.Batcher. It cannot fail.
func (f *factory) NewBatch(context.Context) (strategies.Batch, error) {
	return &batch{factory: f.Factory, seats: make(map[strategies.SeatID]*seat)}, nil
}

// batch is the seats that are open.
type batch struct {
	factory strategies.Factory
	seats   map[strategies.SeatID]*seat
}

type seat struct {
	strategy strategies.Strategy
	rand     *game.Rand
}

// Step implements strategies.Batch.
func (b *batch) Step(ctx context.Context, s *strategies.Step) error {
	for i := range s.Open {
		if err := b.open(ctx, s, &s.Open[i]); err != nil {
			return err
		}
	}
	for i := range s.Observe {
		o := &s.Observe[i]
		if st := b.seats[o.Seat]; st != nil {
			st.rand.Rekey(game.ObservePosition(o.Outcome.Match))
			b.failed(s, o.Seat, strategies.OpObserve, 0, st.observe(ctx, &o.Outcome))
		}
	}
	for i := range s.Choose {
		t := &s.Choose[i]
		var c strategies.Choice
		if st := b.seats[t.Seat]; st != nil {
			st.rand.Rekey(game.ChoosePosition(t.Turn.Match))
			var err error
			c, err = st.choose(ctx, &t.Turn)
			b.failed(s, t.Seat, strategies.OpChoose, i, err)
		}
		s.Choices = append(s.Choices, c)
	}
	for _, id := range s.Close {
		_ = b.end(id) // a seat that ends badly has nothing left to lose
	}
	return context.Cause(ctx)
}

// open makes one seat.
func (b *batch) open(ctx context.Context, s *strategies.Step, o *strategies.OpenSeat) error {
	if b.seats[o.Seat] != nil {
		return fmt.Errorf("batch: seat %d is open already", o.Seat)
	}
	o.Setup.Rand.Rekey(game.StartPosition)
	st := &seat{rand: o.Setup.Rand}
	err := st.start(ctx, b.factory, o.Setup)
	if err == nil {
		b.seats[o.Seat] = st
	}
	b.failed(s, o.Seat, strategies.OpStart, 0, err)
	return nil
}

// failed tells of an error, if it is one, and ends the seat if that is the
// consequence.
func (b *batch) failed(s *strategies.Step, id strategies.SeatID, op strategies.Op, index int, err error) {
	if err == nil {
		return
	}
	s.Failed = append(s.Failed, strategies.SeatError{Seat: id, Op: op, Index: index, Err: err})
	if strategies.EndsSeat(op, strategies.FaultOf(err)) {
		_ = b.end(id)
	}
}

// end closes a seat if it is open.
func (b *batch) end(id strategies.SeatID) error {
	st := b.seats[id]
	if st == nil {
		return nil
	}
	delete(b.seats, id)
	return st.close()
}

// Close implements strategies.Batch.
func (b *batch) Close() error {
	var err error
	for id := range b.seats {
		err = errors.Join(err, b.end(id))
	}
	return err
}

func (st *seat) start(ctx context.Context, f strategies.Factory, setup strategies.Setup) (err error) {
	defer rescue(&err)
	st.strategy, err = f.New(ctx, setup)
	if st.strategy == nil && err == nil {
		err = strategies.ErrNoStrategy
	}
	return err
}

func (st *seat) choose(ctx context.Context, t *strategies.Turn) (c strategies.Choice, err error) {
	defer rescue(&err)
	return st.strategy.Choose(ctx, t)
}

func (st *seat) observe(ctx context.Context, o *strategies.Outcome) (err error) {
	defer rescue(&err)
	return st.strategy.Observe(ctx, o)
}

func (st *seat) close() (err error) {
	defer rescue(&err)
	return st.strategy.Close()
}

func rescue(err *error) {
	if v := recover(); v != nil {
		*err = strategies.Panicked(v)
	}
}
