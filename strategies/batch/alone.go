package batch

import (
	"cmp"
	"context"

	"github.com/strategylab/strategylab/strategies"
)

// Alone returns a seat of f that has a batch to itself. Failures of the whole batch name f
// as their source.
func Alone(ctx context.Context, f strategies.Batcher, setup strategies.Setup) (strategies.Strategy, error) {
	a := &alone{source: cmp.Or(f.Info().Source, f.Info().Name), bounded: setup.Totals > 0}
	var err error
	if a.batch, err = f.NewBatch(ctx); err != nil {
		return nil, strategies.Wrap(a.source, strategies.OpStart, err)
	}
	a.step.Open = append(a.step.Open, strategies.OpenSeat{Setup: setup})
	if _, err := a.exchange(ctx, strategies.OpStart); err != nil {
		_ = a.batch.Close()
		return nil, err
	}
	return a, nil
}

// alone is a batch of one seat.
type alone struct {
	source  string
	batch   strategies.Batch
	step    strategies.Step
	bounded bool // the batch knows at the end what the seat has cost
	spent   strategies.Spent
}

// exchange carries out the step, empties it, and returns the answer to a turn.
func (a *alone) exchange(ctx context.Context, op strategies.Op) (answer strategies.Choice, err error) {
	defer a.step.Reset()
	if err := a.batch.Step(ctx, &a.step); err != nil {
		return 0, strategies.Wrap(a.source, op, err)
	}
	for _, x := range a.step.Spent {
		a.spent = x.Spent
	}
	if failed := a.step.Failed; len(failed) > 0 {
		a.bounded = a.bounded && !strategies.EndsSeat(failed[0].Op, strategies.FaultOf(failed[0].Err))
		return 0, failed[0].Err
	}
	if len(a.step.Choices) > 0 {
		answer = a.step.Choices[0]
	}
	return answer, nil
}

func (a *alone) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	a.step.Choose = append(a.step.Choose, strategies.SeatTurn{Turn: *t})
	return a.exchange(ctx, strategies.OpChoose)
}

func (a *alone) Observe(ctx context.Context, o *strategies.Outcome) error {
	a.step.Observe = append(a.step.Observe, strategies.SeatOutcome{Outcome: *o})
	_, err := a.exchange(ctx, strategies.OpObserve)
	return err
}

// Spent implements strategies.Spender.
func (a *alone) Spent() strategies.Spent { return a.spent }

func (a *alone) Close() error {
	if a.bounded {
		a.step.Close = append(a.step.Close, 0)
		_, _ = a.exchange(context.Background(), strategies.OpObserve) // a process that has ended costs nothing more
	}
	return a.batch.Close()
}
