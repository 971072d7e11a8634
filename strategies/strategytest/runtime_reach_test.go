package strategytest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// checkHostMemory hands a seat what the host goes on using, and looks at it
// afterwards. A vandal may fail; it may not be felt.
func checkHostMemory(ctx context.Context, p *probe) {
	p.with("Vandal", p.subject.Vandal, roomy, func(f strategies.Factory) {
		su := setup()
		s, err := sit(ctx, f, su, game.Key{1, 2})
		if err != nil {
			p.fail("Vandal", "New = %v, want a seat", err)
			return
		}
		if want := setup().Field; !slices.Equal(su.Field, want) {
			p.fail("Vandal", "start changed the players to %v, want %v", su.Field, want)
		}
		for n := range 4 {
			_, _ = s.choose(ctx, turn(n))
			want := turn(n)
			want.Standing = s.Standing()
			if s.turn != want {
				p.fail("Vandal", "choose changed the turn to %+v, want %+v", s.turn, want)
			}
			o := judged(turn(n), game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 4)
			_ = s.observe(ctx, o)
			if s.outcome != o {
				p.fail("Vandal", "observe changed the outcome to %+v, want %+v", s.outcome, o)
			}
		}
		p.leave("Vandal", s)
		if want := setup().Field; !slices.Equal(su.Field, want) {
			p.fail("Vandal", "the players have become %v, want %v", su.Field, want)
		}
	})
}

func checkSandbox(ctx context.Context, p *probe) {
	p.seated(ctx, "Escape", p.subject.Escape, roomy, func(s *player) {
		if _, err := s.choose(ctx, turn(0)); err != nil {
			p.fail("Escape", "%v", err)
		}
	})
}

func checkLog(ctx context.Context, p *probe) {
	p.with("Print", p.subject.Print, roomy, func(f strategies.Factory) {
		if _, err := moves(ctx, f, game.Key{1, 2}, 1); err != nil {
			p.fail("Print", "with no log: %v", err)
		}
		var log strings.Builder
		su := setup()
		su.Log = slog.New(slog.NewTextHandler(&log, nil))
		s, err := sit(ctx, f, su, game.Key{1, 2})
		if err != nil {
			p.fail("Print", "New = %v, want a seat", err)
			return
		}
		if _, err := s.choose(ctx, turn(0)); err != nil {
			p.fail("Print", "%v", err)
		}
		p.leave("Print", s)
		if !strings.Contains(log.String(), Printed) {
			p.fail("Print", "the log has %q, want a record with %q", log.String(), Printed)
		}
	})
}

// checkBatch plays several seats together and each of them alone.
func checkBatch(ctx context.Context, p *probe) {
	for _, b := range []Named{{"Random", p.subject.Random}, {"Memory", p.subject.Memory}} {
		p.with(b.Name, b.Make, roomy, func(f strategies.Factory) {
			batcher, ok := f.(strategies.Batcher)
			if !ok {
				batcher = batch.Of(f)
			}
			const seats = 5
			together, err := batched(ctx, batcher, seats, sample)
			if err != nil {
				p.fail(b.Name, "in a batch: %v", err)
				return
			}
			for i := range seats {
				alone := p.movesOf(ctx, b.Name, f, game.Key{uint64(i), 2})
				if !slices.Equal(alone, together[i]) {
					p.fail(b.Name, "seat %d plays differently alone and in a batch:\n %v\n %v", i, alone, together[i])
				}
			}
		})
	}
}

// batched plays the first n matches of several seats in lockstep: each step
// tells the outcomes of the matches before and asks for the next choices.
func batched(ctx context.Context, f strategies.Batcher, seats, n int) (choices [][]strategies.Choice, err error) {
	b, err := f.NewBatch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := b.Close(); err == nil {
			err = closeErr
		}
	}()
	choices = make([][]strategies.Choice, seats)
	standings := make([]strategies.Standing, seats)
	var step strategies.Step
	for i := range seats {
		key := game.Key{uint64(i), 2}
		su := setup()
		su.Key, su.Rand = key, game.NewRand(key)
		step.Open = append(step.Open, strategies.OpenSeat{Seat: strategies.SeatID(i), Setup: su})
	}
	for m := range n {
		for i := range seats {
			t := turn(m)
			t.Standing = standings[i]
			step.Choose = append(step.Choose, strategies.SeatTurn{Seat: strategies.SeatID(i), Turn: t})
		}
		if err := b.Step(ctx, &step); err != nil {
			return nil, err
		}
		if len(step.Failed) > 0 {
			return nil, fmt.Errorf("seat %d: %w", step.Failed[0].Seat, step.Failed[0].Err)
		}
		if len(step.Choices) != seats {
			return nil, fmt.Errorf("%d choices for %d seats", len(step.Choices), seats)
		}
		answers := slices.Clone(step.Choices)
		step.Reset()
		for i := range seats {
			choices[i] = append(choices[i], answers[i])
			o := result(m, answers[i])
			standings[i].Add(o.Result, o.Points)
			step.Observe = append(step.Observe, strategies.SeatOutcome{Seat: strategies.SeatID(i), Outcome: o})
		}
	}
	for i := range seats {
		step.Close = append(step.Close, strategies.SeatID(i))
	}
	return choices, b.Step(ctx, &step)
}
