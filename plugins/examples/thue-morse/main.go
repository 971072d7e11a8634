// Command thue-morse is a plugin: a strategy in a program of its own. It plays
// the Thue-Morse sequence, which never repeats anything three times in a row,
// from a place that its randomness picks.
package main

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

func main() { plugins.Serve(factory{}) }

type factory struct{}

func (factory) Info() strategies.Info {
	return strategies.Info{
		Name:        "thue-morse",
		Title:       "Plays the Thue-Morse sequence.",
		Description: "Even where a match's number has an even number of ones in binary. An example of a plugin in Go. param: stride 1..64 = 1",
	}
}

func (factory) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	stride := 1
	if _, err := fmt.Sscanf(plugins.Values(), "stride=%d", &stride); err != nil {
		stride = 1 // the default, as declared
	}
	return &seat{next: s.Rand.IntN(1 << 16), stride: stride}, nil
}

func (factory) Close() error { return nil }

// seat is one player in one league.
type seat struct{ next, stride int }

func (s *seat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	n := s.next
	s.next += s.stride
	return strategies.Play(game.ParityOf(bits.OnesCount(uint(n)))), nil
}

func (s *seat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (s *seat) Close() error { return nil }
