package strategytest_test

import (
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// The scripts that people copy are in perfect order, in live leagues too.
func TestScriptsOfTheLab(t *testing.T) {
	t.Parallel()
	limits := budget.Limits{Time: time.Hour} // a busy machine is not their fault
	c, err := catalog.Load(t.Context(), catalog.Config{
		Dir: "../..", RequireScripts: true, Builtins: []strategies.Factory{}, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	kinds := make(map[strategies.Kind]int)
	for _, e := range c.Entries() {
		kinds[e.Info.Kind]++
		t.Run(e.Info.Name, func(t *testing.T) {
			t.Parallel()
			if e.Err != nil {
				t.Fatal(e.Err)
			}
			if e.Info.Title == "" || e.Info.Description == "" {
				t.Errorf("title %q, description %q: want both, from the comment at the top", e.Info.Title, e.Info.Description)
			}
			for _, f := range strategytest.Check(t.Context(), e.Factory, strategytest.Config{Seed: 7, Limits: limits}) {
				if f.Level > strategytest.Info {
					t.Error(f)
				}
			}
		})
	}
	for _, kind := range []strategies.Kind{strategies.Lua, strategies.JavaScript} {
		if kinds[kind] < 4 {
			t.Errorf("%d scripts of kind %s, want at least 4", kinds[kind], kind)
		}
	}
}
