package seat_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// forgetful plays even and fails to take note of its second outcome.
type forgetful struct{ outcomes int }

func (*forgetful) Info() strategies.Info { return strategies.Info{Name: "forgetful"} }
func (*forgetful) Close() error          { return nil }

func (*forgetful) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return &forgetful{}, nil
}

func (*forgetful) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	return strategies.Even, nil
}

func (f *forgetful) Observe(context.Context, *strategies.Outcome) error {
	if f.outcomes++; f.outcomes == 2 {
		return errors.New("out of paper")
	}
	return nil
}

// A failed observe costs the rest of the league: the next match bears the
// reason, the others are forfeits.
func Example() {
	s := &seat.Seat{Factory: &forgetful{}, Setup: strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{})}}
	if err := s.Start(context.Background()); err != nil {
		fmt.Println(err)
	}
	for match := range uint64(4) {
		a := s.Answer(context.Background(), &strategies.Turn{Match: match})
		fmt.Printf("match %d: choice %q, fault %q, reason %v\n", match, a.Choice, a.Fault, a.Err)
		_ = s.Observe(context.Background(), &strategies.Outcome{Match: match, Result: game.Win, Points: game.WinPoints})
	}
	fmt.Println(s.Standing().Points, "points")
	// Output:
	// match 0: choice "even", fault "none", reason <nil>
	// match 1: choice "even", fault "none", reason <nil>
	// match 2: choice "", fault "error", reason out of paper
	// match 3: choice "", fault "forfeit", reason <nil>
	// 12 points
}
