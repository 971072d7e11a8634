package plugins_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// TestMain lets the test binary be the plugin as well: "plugin NAME..." serves
// built-in strategies, "misbehave HOW MARK" does what no plugin should, "slow NAME" sleeps before every choice, "tasks -" is a worker; "host MARK HOW" plays with such plugins.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "plugin":
			plugins.Serve(named(os.Args[2:])...)
			return
		case "slow":
			plugins.Serve(slow{named(os.Args[2:])[0]})
			return
		case "host":
			host(os.Args[2], os.Args[3])
			return
		case "tasks":
			plugins.ServeTasks(func(log *slog.Logger, _ chan<- struct{}) plugins.Tasks { return chores{log} })
			return
		case "misbehave":
			misbehave(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

func named(names []string) (all []strategies.Factory) {
	for _, name := range names {
		f, ok := builtin.Find(name)
		if !ok {
			panic(fmt.Sprintf("no strategy %s", name))
		}
		all = append(all, f)
	}
	return all
}

// plugin is a configuration that serves built-in strategies.
func plugin(names ...string) plugins.Config {
	return plugins.Config{
		Command: append([]string{os.Args[0], "plugin"}, names...), Name: "builtins",
		CallTime: time.Minute, StartTimeout: 5 * time.Minute, // for a slow machine
	}
}

// open opens a plugin for a test or a benchmark.
func open(tb testing.TB, c plugins.Config) []strategies.Factory {
	tb.Helper()
	c.StartTimeout = cmp.Or(c.StartTimeout, 5*time.Minute) // a busy machine starts slowly
	all, err := plugins.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, f := range all {
			if err := f.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
	return all
}
