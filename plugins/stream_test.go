package plugins_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

func newSeat(t *testing.T, f strategies.Factory) strategies.Strategy {
	t.Helper()
	key := game.Key{1, 2}
	s, err := f.New(t.Context(), strategies.Setup{ID: "P01", Name: "P01", Field: []string{"P01", "P02"}, Key: key, Rand: game.NewRand(key)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A call that its caller no longer waits for ends the process if the plugin
// ignores that.
func TestCallStopped(t *testing.T) {
	t.Parallel()
	all := open(t, plugins.Config{
		Command:  []string{os.Args[0], "misbehave", "hang", t.TempDir()},
		CallTime: time.Hour, StartTimeout: 5 * time.Minute,
	})
	s := newSeat(t, all[0])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	turn := strategies.Turn{Match: 1, MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleA}
	var err error
	for i := 0; err == nil && i < 1000; i++ { // it hangs after some choices
		_, err = s.Choose(ctx, &turn)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	_ = s.Close()
}
