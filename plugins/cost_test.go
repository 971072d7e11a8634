package plugins_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// slow is a strategy that keeps everybody waiting, within the limit of every call.
type slow struct{ strategies.Factory }

func (f slow) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	return slowSeat{made}, err
}

const slowness = 30 * time.Millisecond

type slowSeat struct{ strategies.Strategy }

func (s slowSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	time.Sleep(slowness)
	return s.Strategy.Choose(ctx, t)
}

// faultsOf collects the kinds of fault by player.
type faultsOf map[int][]game.Fault

func (f faultsOf) Append(l *results.League) error {
	for _, n := range l.Notes {
		f[n.Field] = append(f[n.Field], n.Fault)
	}
	return nil
}

// A plugin that keeps the run waiting within the limits of its calls is quarantined, and a
// league does not wait for it for long; others in its league lose nothing.
func TestSlowPluginIsQuarantined(t *testing.T) {
	t.Parallel()
	for legs, kind := range map[int]game.Fault{2: game.FaultQuarantined, 30: game.FaultTimeout} {
		late := open(t, plugins.Config{Command: []string{os.Args[0], "slow", "random"}, Name: "slow", CallTime: 200 * time.Millisecond})
		others := open(t, plugin("markov-2"))
		factories := append(late, others...)
		faults := faultsOf{}
		out := played(t, plan(5, legs, factories), factories, arena.Config{}, faults)
		if !slices.Equal(out.Quarantined, []int{0}) || out.Reproducible || len(faults[1]) > 0 || !slices.Contains(faults[0], kind) {
			t.Errorf("%d legs: quarantined %v, reproducible %t, faults %v", legs, out.Quarantined, out.Reproducible, faults)
		}
	}
}
