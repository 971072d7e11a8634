package strategies_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// contrary is a complete strategy: it plays the opposite of what each opponent played last.
type contrary struct{}

func (contrary) Info() strategies.Info {
	return strategies.Info{Name: "contrary", Title: "The opposite of the opponent's last choice"}
}

func (contrary) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return &contrarySeat{rand: s.Rand, last: make(map[string]game.Parity)}, nil
}

func (contrary) Close() error { return nil }

// contrarySeat is what it remembers in one league.
type contrarySeat struct {
	rand *game.Rand
	last map[string]game.Parity // by opponent
}

func (s *contrarySeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if last, met := s.last[t.Opponent]; met {
		return strategies.Play(last.Opposite()), nil
	}
	return 0.5, nil // the host tosses a coin
}

func (s *contrarySeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity { // absent after a technical loss
		s.last[o.Opponent] = o.OpponentChoice
	}
	return nil
}

func (*contrarySeat) Close() error { return nil }

func Example() {
	ctx := context.Background()
	key := game.Key{1, 2}
	seat, err := contrary{}.New(ctx, strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}, Key: key, Rand: game.NewRand(key)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seat.Close()
	first, _ := seat.Choose(ctx, &strategies.Turn{Opponent: "P02"})
	_ = seat.Observe(ctx, &strategies.Outcome{Opponent: "P02", Choice: game.Odd, OpponentChoice: game.Even})
	second, _ := seat.Choose(ctx, &strategies.Turn{Opponent: "P02"})
	fmt.Println(first, second == strategies.Odd)
	// Output: 0.5 true
}
