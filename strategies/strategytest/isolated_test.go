package strategytest_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

var isolated = flag.Bool("isolated", false, "run the scripts of the runtimes' tests in worker processes")

// TestMain lets the test binary be the worker of isolated scripts ("worker")
// and a plugin that serves some built-in strategies ("plugin").
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "worker":
		_ = isolate.Serve(isolate.ServerConfig{Formats: catalog.Formats()}) // the host sees that it ends
		return
	case len(os.Args) == 2 && os.Args[1] == "plugin":
		plugins.Serve(slices.DeleteFunc(builtin.All(), func(f strategies.Factory) bool { return !slices.Contains(served, f.Info().Name) })...)
		return
	}
	os.Exit(m.Run())
}

// compile loads a script, in process or isolated, by the file's extension.
func compile(path, source string, l budget.Limits) (strategies.Factory, error) {
	formats := catalog.Formats()
	if *isolated {
		formats = isolate.Formats(formats, plugins.Config{Command: []string{os.Args[0], "worker"}, StartTimeout: 5 * time.Minute}, nil)
	}
	for _, f := range formats {
		if f.Ext == filepath.Ext(path) {
			return f.Load(context.Background(), "subject", path, []byte(source), l)
		}
	}
	panic("no language for " + path)
}

// sampled returns all behaviours of a subject in this process. A worker process runs the same
// code, and is started for each; it tries some of them, unless everything is to be tested.
func sampled(s strategytest.Subject) strategytest.Subject {
	if !*isolated || os.Getenv("WHOLE_TESTS") != "" {
		return s
	}
	s.Valid, s.Invalid, s.Unseeded, s.Unloadable = s.Valid[len(s.Valid)-1:], s.Invalid[:1], s.Unseeded[:1], s.Unloadable[:1]
	echo := s.Echo
	s.Echo = func(path string) strategytest.Maker {
		if path != "setup.players" && path != "outcome.opponent_choice" {
			return nil
		}
		return echo(path)
	}
	return s
}

// TestIsolatedRuntimes holds scripts in processes of their own to everything
// that holds for scripts in this one; a plain run to some of it.
func TestIsolatedRuntimes(t *testing.T) {
	t.Parallel()
	if *isolated {
		t.Skip("this is that process")
	}
	if testing.Short() || raced {
		t.Skip("it starts hundreds of processes")
	}
	which := "^Test(Lua|JavaScript)Runtime$"
	if os.Getenv("WHOLE_TESTS") == "" {
		which += "/^(load-errors|own-match|throwing|time-budget|received-setup|received-outcome|log|batch)$"
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-isolated", "-test.run", which).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// served are the strategies of the plugin, in the order in which it serves them.
var served = []string{"always-even", "always-odd", "random"}

// kept is a factory of a plugin that all checks use.
type kept struct{ strategies.Batcher }

func (kept) Close() error { return nil }

// A plugin is a runtime like any other.
func TestPluginRuntime(t *testing.T) {
	t.Parallel()
	all, err := plugins.Open(t.Context(), plugins.Config{Command: []string{os.Args[0], "plugin"}, Name: "builtins"})
	if err != nil {
		t.Fatal(err)
	}
	maker := func(i int) strategytest.Maker {
		return func(budget.Limits) (strategies.Factory, error) { return kept{all[i].(strategies.Batcher)}, nil }
	}
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind: strategies.Plugin, Random: maker(2), Valid: []strategytest.Answer{
			{Name: served[0], Make: maker(0), Want: strategies.Even}, {Name: served[1], Make: maker(1), Want: strategies.Odd},
		},
	})
	for _, f := range all {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
