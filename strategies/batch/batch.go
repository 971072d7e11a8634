// Package batch turns any strategy into one that is called in batches. The
// seats stay in this process. Plugins answer the steps of a host with it, and
// tests compare a field of batched strategies with the same field unbatched.
package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// Of returns f as a Batcher. Every step calls the seats by the rules of package seat.
func Of(f strategies.Factory) strategies.Batcher { return &factory{Factory: f} }

// Watched is Of, with the hook Returned of package seat.
func Watched(f strategies.Factory, returned func(error) error) strategies.Batcher {
	return &factory{f, returned}
}

type factory struct {
	strategies.Factory
	returned func(error) error
}

// NewBatch implements strategies.Batcher. It cannot fail.
func (f *factory) NewBatch(context.Context) (strategies.Batch, error) {
	return &batch{factory: f, seats: make(map[strategies.SeatID]*seat.Seat)}, nil
}

// batch holds the open seats.
type batch struct {
	factory *factory
	seats   map[strategies.SeatID]*seat.Seat
}

func (b *batch) Step(ctx context.Context, s *strategies.Step) error {
	for i := range s.Open {
		if err := b.open(ctx, s, &s.Open[i]); err != nil {
			return err
		}
	}
	for i := range s.Observe {
		o := &s.Observe[i]
		if st := b.seats[o.Seat]; st != nil {
			b.record(s, o.Seat, strategies.OpObserve, 0, st.Observe(ctx, &o.Outcome))
		}
	}
	for i := range s.Choose {
		t := &s.Choose[i]
		var c strategies.Choice
		if st := b.seats[t.Seat]; st != nil {
			var err error
			c, err = st.Choose(ctx, &t.Turn)
			b.record(s, t.Seat, strategies.OpChoose, i, err)
		}
		s.Choices = append(s.Choices, c)
	}
	for _, id := range s.Close {
		_ = b.end(id, s) // the league is over for this seat
	}
	return context.Cause(ctx)
}

func (b *batch) open(ctx context.Context, s *strategies.Step, o *strategies.OpenSeat) error {
	if b.seats[o.Seat] != nil {
		return fmt.Errorf("batch: seat %d is open already", o.Seat)
	}
	st := &seat.Seat{Factory: b.factory.Factory, Setup: o.Setup, Returned: b.factory.returned}
	b.seats[o.Seat] = st
	b.record(s, o.Seat, strategies.OpStart, 0, st.Start(ctx))
	return nil
}

// record reports a failed call in the step, and ends the seat if it is out.
func (b *batch) record(s *strategies.Step, id strategies.SeatID, op strategies.Op, index int, err error) {
	if err == nil {
		return
	}
	s.Failed = append(s.Failed, strategies.SeatError{Seat: id, Op: op, Index: index, Err: err})
	if fault, _ := b.seats[id].Out(); fault != game.NoFault {
		_ = b.end(id, s)
	}
}

// end ends a seat, and reports in the step what it has cost.
func (b *batch) end(id strategies.SeatID, s *strategies.Step) error {
	st := b.seats[id]
	if st == nil {
		return nil
	}
	delete(b.seats, id)
	spender, spends := st.Strategy().(strategies.Spender)
	if spends {
		defer func() {
			if spent := spender.Spent(); spent.Over() {
				s.Spent = append(s.Spent, strategies.SeatSpent{Seat: id, Spent: spent})
			}
		}()
	}
	return st.Close()
}

func (b *batch) Close() error {
	var err error
	for id := range b.seats {
		err = errors.Join(err, b.end(id, new(strategies.Step)))
	}
	return err
}
