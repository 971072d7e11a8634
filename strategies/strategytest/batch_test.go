package strategytest_test

import (
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Whatever the runtime, its seats play the same in steps as one by one.
func TestBatchOfEveryRuntime(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]strategytest.Subject{
		"builtin": {Random: compiled(t, "random"), Memory: compiled(t, "markov-2")},
		"lua":     {Random: luaSubject().Random, Memory: luaSubject().Memory},
		"js":      {Random: jsSubject().Random, Memory: jsSubject().Memory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := false
			for _, f := range strategytest.CheckRuntime(t.Context(), strategytest.Subject{
				Random: inSteps(s.Random), Memory: inSteps(s.Memory),
			}) {
				if f.ID != "batch" {
					continue
				}
				tried = tried || f.Level == strategytest.OK
				if f.Level != strategytest.OK {
					t.Error(f)
				}
			}
			if !tried {
				t.Error("nothing was tried")
			}
		})
	}
}

func inSteps(m strategytest.Maker) strategytest.Maker {
	return func(l budget.Limits) (strategies.Factory, error) {
		f, err := m(l)
		if err != nil {
			return nil, err
		}
		return batch.Of(f), nil
	}
}
