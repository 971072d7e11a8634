package isolate_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/luascript"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

const loaderMemory = 128 << 20

func newLoader(tb testing.TB, limit time.Duration) *isolate.Loader {
	tb.Helper()
	l := isolate.NewLoader(plugins.Config{Command: []string{os.Args[0], "loader"}, Memory: loaderMemory, StartTimeout: 5 * time.Minute}, limit)
	tb.Cleanup(l.Close)
	return l
}

// file is a script of the given file name.
func file(path, source string) plugins.Script {
	s := plugins.Script{Name: "x", Path: path, Source: []byte(source)}
	if filepath.Ext(path) == ".wasm" {
		s.Kind = strategies.WebAssembly
	}
	return s
}

const honest = `function choose() return "even" end`

// choosing is a module whose choose runs some code and answers even.
func choosing(code ...any) wasmtest.Module {
	return wasmtest.Module{Pages: 1, Funcs: []wasmtest.Func{{Name: "choose", Results: "d", Code: wasmtest.Code(append(code, wasmtest.F64(1))...)}}}
}

// bombs are small files whose loading takes seconds, hours or gigabytes, by their names.
func bombs() map[string]string {
	nested := func(open, in, end string, n int) string { return strings.Repeat(open, n) + in + strings.Repeat(end, n) }
	const luaEnd, jsEnd = "\n" + honest, ";\nfunction choose() { return \"even\"; }"
	const targets = 1_000_000
	table := append(binary.AppendUvarint([]byte{0x41, 0, 0x0e}, targets), make([]byte, targets+1)...)
	return map[string]string{
		"arrow functions.js":   "var f = " + nested("(a=", "1", ")=>1", 60) + jsEnd,
		"async functions.js":   "var f = " + nested("async(a=", "1", ")=>1", 60) + jsEnd,
		"nested arrays.js":     "var x = " + nested("[", "", "]", 100_000) + jsEnd,
		"nested templates.js":  "var x = " + nested("`${", "1", "}`", 40_000) + jsEnd,
		"concatenation.lua":    "local a = 'x' local x = " + strings.Repeat("a..", 80_000) + "a" + luaEnd,
		"nested tables.lua":    "local x = " + nested("{", "", "}", 120_000) + luaEnd,
		"a million cases.wasm": string(choosing(wasmtest.Block(0), table, wasmtest.End).Bytes()),
	}
}

// TestLoaderBounds: what takes too much time or memory is refused with the reason, and
// the next file loads.
func TestLoaderBounds(t *testing.T) {
	t.Parallel()
	for name, source := range bombs() {
		if !wholeSets && !strings.HasPrefix(name, "nested t") {
			continue // one of JavaScript and one of Lua
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoader(t, 150*time.Millisecond)
			_, err := l.Describe(t.Context(), file(name, source), nil)
			var typed *strategies.Error
			if !errors.As(err, &typed) || typed.Op != strategies.OpLoad || typed.Source != name || typed.Hint == "" ||
				!errors.Is(err, strategies.ErrTimeout) && !errors.Is(err, strategies.ErrCrashed) {
				t.Fatalf("refused with %v", err)
			}
			if text := err.Error(); !strings.Contains(text, "0ms of processor time") && !strings.Contains(text, "out of memory, of which a script has 128 MiB") {
				t.Errorf("the reason is %q", text)
			}
			if _, again := l.Describe(t.Context(), file(name, source), nil); again != err {
				t.Errorf("judged twice: %v", again)
			}
			if info, err := l.Describe(t.Context(), file("honest.lua", honest), nil); err != nil || info.Name != "x" || info.Kind == "" && info.Source == "" {
				t.Errorf("the next file: %+v, %v", info, err)
			}
		})
	}
}

// TestLoaderJudges: errors are those of the format, a file that ends its process is
// refused, and one in whose process another cause did is not.
func TestLoaderJudges(t *testing.T) {
	t.Parallel()
	l := newLoader(t, time.Hour)
	for source, want := range map[string]string{
		"unloadable":  "x.toy:7: load: no x (none)",
		"die at load": "x.toy: load: process exited: exit status 9",
		"die once " + filepath.Join(t.TempDir(), "mark"): "",
	} {
		_, err := l.Describe(t.Context(), file("x.toy", source), nil)
		var typed *strategies.Error
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", source, err)
		case want != "" && (!errors.As(err, &typed) || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
	// A changed file is another.
	if _, err := l.Describe(t.Context(), file("x.toy", "fine"), nil); err != nil {
		t.Errorf("after an edit: %v", err)
	}
	for _, f := range l.Formats(languages(), nil) {
		if f.Ext != ".toy" {
			continue
		}
		if _, err := f.Load(t.Context(), "x", "x.toy", []byte("unloadable"), patient); err == nil {
			t.Error("a format loads what the loader refuses")
		}
		if f, err := f.Load(t.Context(), "x", "x.toy", []byte("fine"), patient); err != nil || f.Info().Name != "x" {
			t.Errorf("a format does not load what the loader accepts: %v", err)
		}
	}
}

// TestLoaderStops: the end of the context ends a load, and of Close the loader.
func TestLoaderStops(t *testing.T) {
	t.Parallel()
	l := newLoader(t, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := l.Describe(ctx, file("y.lua", honest), nil) // behind the other, or before it
		waiting <- err
	}()
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := l.Describe(ctx, file("bomb.js", bombs()["arrow functions.js"]), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	if err := <-waiting; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the one that waits: %v", err)
	}
	if _, err := l.Describe(t.Context(), file("x.lua", honest), nil); err != nil {
		t.Errorf("the next: %v", err)
	}
	l.Close()
	if _, err := l.Describe(t.Context(), file("z.lua", honest), nil); err == nil {
		t.Error("a closed loader loads")
	}
}

// BenchmarkLoader describes a thousand scripts in the loader's process, and loads them in this one.
func BenchmarkLoader(b *testing.B) {
	const scripts = 1000
	var seconds [2]float64
	for b.Loop() {
		l := newLoader(b, 0)
		for n := range scripts {
			s := file("x.lua", fmt.Sprintf("%s -- %d", honest, n)) // none is known
			before := b.Elapsed()
			if _, err := l.Describe(b.Context(), s, nil); err != nil {
				b.Fatal(err)
			}
			middle := b.Elapsed()
			f, err := luascript.Compile(s.Name, s.Path, s.Source, s.Limits)
			if err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			seconds[0] += (middle - before).Seconds()
			seconds[1] += (b.Elapsed() - middle).Seconds()
		}
	}
	b.ReportMetric(seconds[0]/float64(b.N)/scripts*1e6, "us/described")
	b.ReportMetric(seconds[1]/float64(b.N)/scripts*1e6, "us/compiled")
	b.ReportMetric(seconds[0]/seconds[1], "times-as-long")
}
