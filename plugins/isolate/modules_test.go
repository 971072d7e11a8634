package isolate_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// choosing is a module whose choose runs some code and answers even.
func choosing(code ...any) Module {
	return Module{Pages: 1, Funcs: []Func{{Name: "choose", Results: "d", Code: Code(append(code, F64(1))...)}}}
}

// hostileModules are strategies that take what they can get.
func hostileModules() map[string]Module {
	forever := Code(Loop(0), Br(0), End)
	in := func(hook string) Module {
		m := choosing()
		m.Funcs = append(m.Funcs, Func{Name: hook, Code: forever})
		return m
	}
	recursion := choosing(Call(1), Drop)
	recursion.Funcs = append(recursion.Funcs, Func{Results: "d", Code: Code(Call(1))})
	return map[string]Module{
		"endless choose":  choosing(forever),
		"endless start":   in("start"),
		"endless observe": in("observe"),
		"recursion":       recursion,
		"memory":          choosing(Loop(0), I32(16), byte(0x40), byte(0), Drop, Br(0), End),
		"fill":            choosing(Loop(0), I32(0), I32(1), I32(65_536), byte(0xfc), byte(11), byte(0), Br(0), End),
		"trap":            choosing(Unreachable),
	}
}

// TestHostileModules has each end alike in this process and in one of its own, at the cost
// of its own matches.
func TestHostileModules(t *testing.T) {
	t.Parallel()
	limits := budget.Limits{Time: patient.Time, Instructions: 10_000}
	others := load(t, catalog.Formats(), "echo.js", "settle.lua")
	digest := func(fs []catalog.Format, m Module) string {
		at := slices.IndexFunc(fs, func(f catalog.Format) bool { return f.Kind == strategies.WebAssembly })
		made, err := fs[at].Load(t.Context(), "module", "scripts/module.wasm", m.Bytes(), limits)
		if err != nil {
			t.Fatal(err)
		}
		field := append(slices.Clone(others), made)
		out := played(t, plan(3, 2, field), field)
		if !out.Reproducible {
			t.Error("a fault depended on the machine")
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
		return out.Digest
	}
	harmless := digest(catalog.Formats(), choosing())
	for name, m := range hostileModules() {
		if raced && name == "memory" {
			continue // a process under the race detector takes more memory than a script may
		}
		inside, apart := digest(catalog.Formats(), m), digest(formats(plugins.Config{}), m)
		if inside != apart || inside == harmless {
			t.Errorf("%s: digest %s in process, %s isolated, %s without harm; want two that are equal", name, inside, apart, harmless)
		}
	}
}
