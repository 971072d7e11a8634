package plugins_test

import (
	"testing"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// A plugin is a runtime like any other.
func TestPluginRuntime(t *testing.T) {
	t.Parallel()
	served := func(name string) strategytest.Maker {
		return func(budget.Limits) (strategies.Factory, error) {
			all, err := plugins.Open(t.Context(), plugin(name))
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
