package isolate_test

import (
	"errors"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// TestStuckCall has a call ignore its interrupt while another batch of the script waits
// for its next step. The call costs its seat the league, and its time limit once: it is
// not tried again. Batches whose process has ended close without an error. On a busy
// machine a process may also end that was only slow; with more time it is not.
func TestStuckCall(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Second
	for limit := 100 * time.Millisecond; ; limit *= 4 {
		u := getStuck(t, limit)
		if u.Starts == 1 && u.Failed == 1 {
			return
		}
		if t.Failed() || limit > most {
			t.Fatalf("usage %+v with a limit of %v, want one process, which failed", u, limit)
		}
	}
}

// getStuck returns the usage of a script after a call of it got stuck.
func getStuck(t *testing.T, limit time.Duration) plugins.Usage {
	t.Helper()
	const source = `
		function choose(t) {
			if (t.opponent === "P09") Array.prototype.fill.call({ length: 1e15 }, 0);
			return "odd";
		}`
	var f strategies.Factory
	for _, format := range formats(plugins.Config{}) {
		if format.Ext == ".js" {
			var err error
			if f, err = format.Load(t.Context(), "stuck", "stuck.js", []byte(source), budget.Limits{Time: limit}); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer f.Close()
	batches := make([]strategies.Batch, 3)
	for i := range batches {
		var err error
		if batches[i], err = f.(strategies.Batcher).NewBatch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step := func(b strategies.Batch, opponent string) *strategies.Step {
		s := &strategies.Step{
			Open:   []strategies.OpenSeat{{Seat: 1, Setup: strategies.Setup{Rand: game.NewRand(game.Key{})}}},
			Choose: []strategies.SeatTurn{{Seat: 1, Turn: strategies.Turn{Opponent: opponent}}},
		}
		if err := b.Step(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	step(batches[0], "P02")
	stuck := step(batches[1], "P09")
	if len(stuck.Failed) != 1 || !errors.Is(stuck.Failed[0].Err, strategies.ErrTimeout) {
		t.Errorf("the stuck call: %+v", stuck.Failed)
	}
	used := f.(plugins.Metered).Usage()
	step(batches[2], "P02")
	for i, b := range batches {
		if err := b.Close(); err != nil {
			t.Errorf("close batch %d: %v", i, err)
		}
	}
	return used
}
