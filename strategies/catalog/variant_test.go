package catalog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// Every runtime plays the values that a reference gives.
func TestValuesOfParameters(t *testing.T) {
	module := wasmtest.Module{
		Imports: []wasmtest.Import{wasmtest.From("lab", "param", "i", "d")},
		Funcs:   []wasmtest.Func{{Name: "choose", Results: "d", Code: wasmtest.Code(wasmtest.I32(1), wasmtest.Call(0))}},
		About:   "Tuned\nparam: mode a|b = a\nparam: greed 0.0..1.0 = 0.25\n", Data: []byte("x"), Pages: 1,
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"scripts/l.lua":  "-- Tuned\n-- param: mode a|b = a\n-- param: greed 0.0..1.0 = 0.25\nfunction choose() return params.mode == 'a' and params.greed or 1 end\n",
		"scripts/j.js":   "// Tuned\n\n// param: mode a|b = a\n// param: greed 0.0..1.0 = 0.25\nfunction choose() { return params.mode === 'a' ? params.greed : 1 }\n",
		"scripts/w.wasm": string(module.Bytes()),
		"scripts/own.js": "const params = {greed: 0.5}; function choose() { return params.greed }\n",
		"scripts/bad.js": "// Bad\n// param: greed 0..1 = 0.5\nfunction choose() { return 1 }\n",
	})
	c := load(t, catalog.Config{Dir: dir})
	for target, want := range map[string]strategies.Choice{
		"l": 0.25, "l(greed=0.75)": 0.75, "l(m=b)": 1, "scripts/l.lua(greed=.5)": 0.5,
		"j": 0.25, "j(greed=0.75)": 0.75, "j(mode=b;greed=1)": 1, "w": 0.25, "w(greed=0.75)": 0.75, "own": 0.5,
	} {
		e, err := c.Resolve(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if e.Info.Title != "Tuned" && target != "own" || e.Info.Description != "" {
			t.Errorf("%s: described as %q, %q", target, e.Info.Title, e.Info.Description)
		}
		s, err := e.Factory.New(t.Context(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}, Rand: game.NewRand(game.Key{})})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Choose(t.Context(), &strategies.Turn{MatchID: "R1M1", Round: 1, Opponent: "P02"}); err != nil || got != want {
			t.Errorf("%s chooses %v, %v, want %v", target, got, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	f, err := c.Field(t.Context(), refs(t, "l(greed=0.5)*2, l, l(greed=0.75)"))
	if got, want := players(f), "l(greed=0.5)#1 l(greed=0.5)#2 l l(greed=0.75)"; err != nil || got != want {
		t.Errorf("field %s, %v, want %s", got, err, want)
	}
	if _, err := catalog.ParseRefs("drafts=(1)/l.lua,l(greed=0.5)"); err != nil {
		t.Errorf("a folder may have any name: %v", err)
	}
	for target, want := range map[string]string{
		"l(greed=2)":    `strategy l: parameter greed is "2", want a number in 0.0..1.0; it declares mode a|b = a, greed 0.0..1.0 = 0.25`,
		"own(greed=1)":  `strategy own: parameter "greed": the strategy has no parameters`,
		"random(x=1)":   `strategy random: parameter "x"`,
		"nobody(x=1)":   `no strategy "nobody"`,
		"bad":           "scripts/bad.js:2: load: the default: greed is \"0.5\", want a whole number in 0..1 (for numbers with a fraction write",
		"l(greed=1,2)*": "",
	} {
		if want == "" {
			if _, err := catalog.ParseRefs(target); err == nil || !strings.Contains(err.Error(), "want values of parameters as in") {
				t.Errorf("%s: %v", target, err)
			}
			continue
		}
		if _, err := c.Resolve(t.Context(), target); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
}

// A plugin gets the values when its program starts; the description declares them.
func TestValuesOfPlugins(t *testing.T) {
	o := options(t, nil)
	var given []string
	o.OpenPlugin = func(_ context.Context, _, path, values string) ([]strategies.Factory, error) {
		given = append(given, values)
		return []strategies.Factory{&toy{info: strategies.Info{Name: "far", Kind: strategies.Plugin, Source: path, Description: "Far. param: lag 1..5 = 2 param: mode a|b = a"}}}, nil
	}
	o.Plugins = []catalog.Program{{Path: "far"}}
	c := load(t, o)
	e, err := c.Resolve(t.Context(), "far(mode=b;lag=3)")
	if err != nil || e.Info.Name != "far(lag=3;mode=b)" || fmt.Sprint(given) != "[ lag=3;mode=b]" {
		t.Errorf("%s, %v; opened with %q", e.Info.Name, err, given)
	}
	if _, err := c.Resolve(t.Context(), "far(lag=9)"); err == nil || !strings.Contains(err.Error(), "want a whole number in 1..5") {
		t.Errorf("a lag of 9: %v", err)
	}
}
