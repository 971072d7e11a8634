package strategytest_test

import (
	"slices"
	"testing"

	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

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
