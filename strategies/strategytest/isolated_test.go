package strategytest_test

import (
	"context"
	"flag"
	"math"
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
	"github.com/strategylab/strategylab/strategies/script"
	"github.com/strategylab/strategylab/strategies/strategytest"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
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
	must(t, err)
	maker := func(i int) strategytest.Maker {
		return func(budget.Limits) (strategies.Factory, error) { return kept{all[i].(strategies.Batcher)}, nil }
	}
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind: strategies.Plugin, Random: maker(2), Valid: []strategytest.Answer{
			{Name: served[0], Make: maker(0), Want: strategies.Even}, {Name: served[1], Make: maker(1), Want: strategies.Odd},
		},
	})
	for _, f := range all {
		must(t, f.Close())
	}
}

// wasm makes a module of hooks, the first of which is choose.
func wasm(choose []byte, others ...Func) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		m := Module{Pages: 1, Globals: []Global{{Type: 'i'}}, Data: []byte(strategytest.Printed)}
		m.Imports = []Import{From("lab", "random", "", "d"), From("lab", "log", "ii", "")}
		m.Funcs = append([]Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Code: choose}}, others...)
		return compile("scripts/subject.wasm", string(m.Bytes()), l)
	}
}

// wasmFirst runs code in round 1 and answers even afterwards.
func wasmFirst(code ...any) strategytest.Maker {
	return wasm(Code(Get(1), I32(1), I32Eq, If(0), Code(code...), End, F64(1)))
}

func TestWebAssemblyRuntime(t *testing.T) {
	t.Parallel()
	text := func(source string) strategytest.Maker {
		return func(l budget.Limits) (strategies.Factory, error) { return compile("scripts/subject.wasm", source, l) }
	}
	throw, spin := Code(Unreachable), Code(Loop(0), Br(0), End)
	s := strategytest.Subject{
		Kind: strategies.WebAssembly, Instructions: true,
		Random: wasm(Call(0)),
		Memory: wasm(Code(GetGlobal(0), I32(64), Load(I32Load, 0), I32Add, I32Eqz, F64FromI32,
			I32(1), SetGlobal(0), I32(64), I32(1), Store(I32Store, 0))),
		Print: wasm(Code(I32(0), I32(int32(len(strategytest.Printed))), Call(1), F64(1))),
		Unloadable: []strategytest.Named{
			{Name: "empty", Make: text("")}, {Name: "text", Make: text("function choose() end")},
			{Name: "half", Make: text(string(Frequency().Bytes()[:40]))},
			{Name: "no choose", Make: text(string(Module{Funcs: []Func{{Name: "start"}}}.Bytes()))},
			{Name: "loops", Make: wasm(F64(1), Func{Name: "_initialize", Code: spin})},
		},
		ThrowStart: wasm(F64(1), Func{Name: "start", Code: throw}), ThrowObserve: wasm(F64(1), Func{Name: "observe", Code: throw}),
		ThrowChoose: wasmFirst(Unreachable),
		SpinStart:   wasm(F64(1), Func{Name: "start", Code: spin}), SpinObserve: wasm(F64(1), Func{Name: "observe", Code: spin}),
		SpinChoose: wasmFirst(spin),
	}
	for name, choice := range map[string]float64{"even": 1, "odd": 0, "a quarter": 0.25, "negative zero": math.Copysign(0, -1)} {
		s.Valid = append(s.Valid, strategytest.Answer{Name: name, Make: wasm(F64(choice)), Want: strategies.Choice(choice + 0)})
	}
	for name, choice := range map[string]float64{"2": 2, "negative": -0.1, "NaN": math.NaN(), "infinity": math.Inf(1)} {
		s.Invalid = append(s.Invalid, strategytest.Named{Name: name, Make: wasmFirst(F64(choice), byte(0x0f))})
	}
	strategytest.RunRuntime(t, s)
}

// The strategies that come with the lab, which people copy, are in perfect order, in live
// leagues too.
func TestStrategiesOfTheLab(t *testing.T) {
	t.Parallel()
	limits := budget.Limits{Time: time.Hour} // a busy machine is not their fault
	c, err := catalog.Load(t.Context(), catalog.Config{Dir: "../..", RequireScripts: true, Limits: limits})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	kinds, bared := make(map[strategies.Kind]int), make(map[strategies.Kind]int)
	for _, e := range c.Entries() {
		if e.Err != nil || e.Info.Title == "" || e.Info.Description == "" {
			t.Fatalf("%s: title %q, description %q, %v: want both, from the comment at the top", e.Info.Name, e.Info.Title, e.Info.Description, e.Err)
		}
		kinds[e.Info.Kind]++
		findings := strategytest.Check(t.Context(), e.Factory, strategytest.Config{Seed: 7, Limits: limits})
		if strategytest.Worst(findings) > strategytest.Info ||
			!slices.ContainsFunc(findings, func(f strategytest.Finding) bool { return f.ID == "deterministic" && f.Level == strategytest.OK }) {
			t.Errorf("%s: %v", e.Info.Name, findings)
		}
		// A bare seat must do the same work as a seat, which is timed against it. It has other
		// random numbers.
		watched, ok := e.Factory.(script.Watched)
		if ok && watched.Text().LineOf("random") == 0 {
			bared[e.Info.Kind]++
			if f := strategytest.CheckIsolated(t.Context(), e.Factory, bare{e.Factory}, strategytest.Config{}); f.Level != strategytest.OK {
				t.Errorf("%s: a bare seat %s", e.Info.Name, strings.TrimPrefix(f.What, "chooses "))
			}
		}
	}
	for _, kind := range []strategies.Kind{strategies.Lua, strategies.JavaScript, strategies.Builtin} {
		if kinds[kind] < 4 || bared[kind] == 0 && kind != strategies.Builtin {
			t.Errorf("%d strategies of kind %s, want at least 4; %d bare", kinds[kind], kind, bared[kind])
		}
	}
}

// bare makes the bare seats of a factory.
type bare struct{ strategies.Factory }

func (b bare) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return b.Factory.(interface {
		NewBare(strategies.Setup) (strategies.Strategy, error)
	}).NewBare(s)
}
