package strategytest_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
// and a plugin that serves a built-in strategy ("plugin NAME").
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "worker":
		_ = isolate.Serve(isolate.ServerConfig{Formats: catalog.Formats()}) // the host sees that it ends
		return
	case len(os.Args) == 3 && os.Args[1] == "plugin":
		f, ok := builtin.Find(os.Args[2])
		if !ok {
			panic("no built-in strategy " + os.Args[2])
		}
		plugins.Serve(f)
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

// seldom returns all behaviours in this process. A worker process runs the same code, and
// is started for each; it tries a sample of them, in the order of the names, unless
// everything is to be tested.
func seldom(all []strategytest.Named) (some []strategytest.Named) {
	const sample = 20
	if !*isolated || os.Getenv("WHOLE_TESTS") != "" {
		return all
	}
	slices.SortFunc(all, func(a, b strategytest.Named) int { return strings.Compare(a.Name, b.Name) })
	for i := 0; i < len(all); i += sample {
		some = append(some, all[i])
	}
	return some
}

// TestIsolatedRuntimes holds scripts in processes of their own to everything
// that holds for scripts in this one.
func TestIsolatedRuntimes(t *testing.T) {
	t.Parallel()
	if *isolated {
		t.Skip("this is that process")
	}
	if testing.Short() || raced {
		t.Skip("it starts hundreds of processes")
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-isolated", "-test.run", "^Test(Lua|JavaScript)Runtime$").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A plugin is a runtime like any other.
func TestPluginRuntime(t *testing.T) {
	t.Parallel()
	served := func(name string) strategytest.Maker {
		return func(budget.Limits) (strategies.Factory, error) {
			all, err := plugins.Open(t.Context(), plugins.Config{Command: []string{os.Args[0], "plugin", name}, Name: "builtins"})
			if err != nil {
				return nil, err
			}
			return all[0], nil
		}
	}
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind: strategies.Plugin, Random: served("random"),
		Valid: []strategytest.Answer{
			{Name: "always-even", Make: served("always-even"), Want: strategies.Even},
			{Name: "always-odd", Make: served("always-odd"), Want: strategies.Odd},
		},
	})
}
