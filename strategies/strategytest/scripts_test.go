package strategytest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/script"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// The strategies that come with the lab, which people copy, are in perfect order, in live
// leagues too.
func TestStrategiesOfTheLab(t *testing.T) {
	t.Parallel()
	limits := budget.Limits{Time: time.Hour} // a busy machine is not their fault
	c, err := catalog.Load(t.Context(), catalog.Config{Dir: "../..", RequireScripts: true, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
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
