package strategytest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Not parallel: it looks at the heap of the process.
func TestMemoryHogIsFound(t *testing.T) {
	var findings []strategytest.Finding
	synctest.Test(t, func(t *testing.T) {
		s := toySubject(newToy("devours"))
		findings = strategytest.CheckRuntime(t.Context(), strategytest.Subject{Hungry: s.Hungry})
	})
	if !slices.ContainsFunc(findings, func(f strategytest.Finding) bool {
		return f.ID == "hungry" && f.Level == strategytest.Error && strings.Contains(f.What, "the heap grew by 6")
	}) {
		t.Errorf("findings %v, want an error that the heap grew by 600 MiB", findings)
	}
}
