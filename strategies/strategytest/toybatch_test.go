package strategytest_test

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// NewBatch makes every toy a Batcher.
func (f *toyFactory) NewBatch(context.Context) (strategies.Batch, error) {
	return &toyBatch{factory: f, seats: make(map[strategies.SeatID]*toySeat)}, nil
}

type toySeat struct {
	strategies.Strategy
	rand *game.Rand
}

type toyBatch struct {
	factory *toyFactory
	seats   map[strategies.SeatID]*toySeat
}

func (b *toyBatch) Step(ctx context.Context, s *strategies.Step) error {
	for _, o := range s.Open {
		o.Setup.Rand = game.NewRand(o.Setup.Key)
		st, err := b.factory.New(ctx, o.Setup)
		if err != nil {
			s.Failed = append(s.Failed, strategies.SeatError{Seat: o.Seat, Op: strategies.OpStart, Err: err})
			continue
		}
		b.seats[o.Seat] = &toySeat{st, o.Setup.Rand}
	}
	for _, o := range s.Observe {
		b.seats[o.Seat].rand.Rekey(game.ObservePosition(o.Outcome.Match))
		if err := b.seats[o.Seat].Observe(ctx, &o.Outcome); err != nil {
			s.Failed = append(s.Failed, strategies.SeatError{Seat: o.Seat, Op: strategies.OpObserve, Err: err})
		}
	}
	for i, t := range s.Choose {
		seat := b.seats[t.Seat]
		if seat == nil { // ended in this step
			s.Choices = append(s.Choices, 0)
			continue
		}
		if b.factory.toy.bug == "batch-mixes-seats" {
			seat = b.seats[0]
		}
		seat.rand.Rekey(game.ChoosePosition(t.Turn.Match))
		c, err := seat.Choose(ctx, &t.Turn)
		if err != nil {
			s.Failed = append(s.Failed, strategies.SeatError{Seat: t.Seat, Op: strategies.OpChoose, Index: i, Err: err})
		}
		s.Choices = append(s.Choices, c)
	}
	if b.factory.toy.bug == "batch-drops" && len(s.Choices) > 1 {
		s.Choices = s.Choices[1:]
	}
	for _, id := range s.Close {
		if err := b.seats[id].Close(); err != nil {
			return err
		}
		delete(b.seats, id)
	}
	return nil
}

func (b *toyBatch) Close() error { return nil }
