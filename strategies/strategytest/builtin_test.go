package strategytest_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// compiled makes a subject of a factory that needs no compiling.
func compiled(t *testing.T, name string) strategytest.Maker {
	t.Helper()
	f, ok := builtin.Find(name)
	if !ok {
		t.Fatalf("no built-in strategy %q", name)
	}
	return func(budget.Limits) (strategies.Factory, error) { return f, nil }
}

// Strategies in Go can express little of what a script can, so most checks
// are skipped.
func TestBuiltinRuntime(t *testing.T) {
	t.Parallel()
	strategytest.RunRuntime(t, strategytest.Subject{
		Kind:   strategies.Builtin,
		Random: compiled(t, "random"),
		Valid: []strategytest.Answer{
			{Name: "always-even", Make: compiled(t, "always-even"), Want: strategies.Even},
			{Name: "always-odd", Make: compiled(t, "always-odd"), Want: strategies.Odd},
		},
	})
}

// Every strategy that comes with the lab is in perfect order.
func TestBuiltinStrategies(t *testing.T) {
	t.Parallel()
	for _, f := range builtin.All() {
		t.Run(f.Info().Name, func(t *testing.T) {
			t.Parallel()
			findings := strategytest.Check(t.Context(), f, strategytest.Config{Seed: 7})
			for _, f := range findings {
				if f.Level > strategytest.Info {
					t.Error(f)
				}
			}
			if !slices.ContainsFunc(findings, func(f strategytest.Finding) bool {
				return f.ID == "deterministic" && f.Level == strategytest.OK
			}) {
				t.Error("it was not checked for determinism")
			}
		})
	}
}
