package luascript_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// FuzzScript compiles anything, and plays it. It must not panic, nor outlive
// its budget, nor fail in a way that does not name the script.
func FuzzScript(f *testing.F) {
	paths, err := filepath.Glob("../../scripts/*.lua")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	f.Add([]byte(benchScript))
	f.Add([]byte(dump))
	for _, c := range hookFailures {
		f.Add([]byte("function choose(turn) " + c.body + " end"))
	}
	for _, source := range partners {
		f.Add([]byte(source))
	}
	f.Add([]byte(`function choose(...) local a, b = ... a[b or 1], b = b, a return select("#", ...) .. "x" end`))
	f.Add([]byte(`choose = pcall start = choose observe = error goto x ::x::`))
	f.Add([]byte(`function choose(t) return setmetatable(t, {__index = choose, __call = choose, __concat = choose})() .. t end`))
	limits := budget.Limits{Time: time.Hour, Instructions: 20_000}
	f.Fuzz(func(t *testing.T, source []byte) {
		factory, err := luascript.Compile("fuzz", "fuzz.lua", source, luascript.Config{Limits: limits})
		if err != nil {
			mustName(t, err)
			return
		}
		defer factory.Close()
		start := time.Now()
		seat, err := factory.New(t.Context(), setup())
		if err != nil {
			mustName(t, err)
			return
		}
		defer seat.Close()
		for i := range 3 {
			c, err := seat.Choose(t.Context(), turn(i))
			if err != nil {
				mustName(t, err)
			} else if !c.Valid() {
				t.Errorf("choice %v", c)
			}
			if err := seat.Observe(t.Context(), outcome(i)); err != nil {
				mustName(t, err)
			}
		}
		if d := time.Since(start); d > 5*time.Minute {
			t.Errorf("20000 instructions a call took %v in all", d)
		}
	})
}

func mustName(t *testing.T, err error) {
	t.Helper()
	var se *strategies.Error
	if !errors.As(err, &se) || se.Source != "fuzz.lua" || se.Op == "" || se.Err == nil || se.Line < 0 {
		t.Errorf("error %v (%T) does not name the script and the operation", err, err)
	}
}
