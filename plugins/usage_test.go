package plugins_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// TestUsage looks at what is known of processes that work, and of ones that die.
func TestUsage(t *testing.T) {
	t.Parallel()
	there := open(t, plugin("markov-2", "ctw"))
	played(t, plan(200, 4, there), there, arena.Config{}, nobody{})
	u := there[0].(plugins.Metered).Usage()
	if u.CPU <= 0 || u.CPU > time.Hour || u.Starts != 1 || u.Failed != 0 || u.Aside || u.Process != "builtins" {
		t.Errorf("usage %+v of one process that has worked", u)
	}
	if runtime.GOOS == "linux" && (u.Peak < 1<<20 || u.Peak > 1<<30) {
		t.Errorf("it is said to have had %d bytes resident", u.Peak)
	}
	if v := there[1].(plugins.Metered).Usage(); v.Process != u.Process || v.Starts != 1 {
		t.Errorf("usage %+v of the strategy that shares the process", v)
	}
	dies := open(t, plugins.Config{Command: []string{os.Args[0], "misbehave", "dead on arrival", t.TempDir()}, Restarts: 1, Backoff: -1})
	for range 3 {
		if s, err := dies[0].New(context.Background(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}}); err == nil {
			_, _ = s.Choose(t.Context(), &strategies.Turn{Opponent: "P02"})
			_ = s.Close()
		}
	}
	if u := dies[0].(plugins.Metered).Usage(); !u.Aside || u.Failed != 2 || u.Starts != 2 {
		t.Errorf("usage %+v of a plugin that has died twice and may be restarted once", u)
	}
}
