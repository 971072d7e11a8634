package strategytest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/strategies/strategytest"
)

// failed returns the ids of the checks that found an error.
func failed(findings []strategytest.Finding) []string {
	var ids []string
	for _, f := range findings {
		if f.Level == strategytest.Error && !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

func TestSoundRuntimePasses(t *testing.T) {
	t.Parallel()
	var findings []strategytest.Finding
	synctest.Test(t, func(t *testing.T) {
		findings = strategytest.CheckRuntime(t.Context(), toySubject(newToy("")))
	})
	passed := 0
	for _, f := range findings {
		if f.Level != strategytest.OK {
			t.Errorf("finding %v, want none but OK", f)
		}
		passed++
	}
	if passed != 23 {
		t.Errorf("%d checks passed, want all 23", passed)
	}
}

// Each bug must be found by the checks named, and by no others.
func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string][]string{
		"nameless":              {"info"},
		"wrong-kind":            {"info"},
		"changing-info":         {"info"},
		"loads-anything":        {"load-errors"},
		"plain-load-error":      {"load-errors"},
		"loads-for-ever":        {"load-errors"},
		"ignores-key":           {"same-seed", "own-match"},
		"unseeded":              {"same-seed", "own-match", "concurrent", "batch"},
		"running-stream":        {"own-match"},
		"clock":                 {"unseeded"},
		"one-at-a-time":         {"concurrent"},
		"shared-memory":         {"fresh-seat", "batch"},
		"rounds":                {"valid-answers"},
		"takes-anything":        {"invalid-answers"},
		"passes-on":             {"invalid-answers"},
		"no-line":               {"invalid-answers", "throwing"},
		"swallows":              {"throwing"},
		"gives-up":              {"throwing"},
		"goes-on":               {"deadline", "cancel", "time-budget", "instruction-budget"},
		"stale-turn":            {"received-turn"},
		"strikes-next":          {"deadline", "cancel"},
		"no-time-budget":        {"time-budget"},
		"no-instruction-budget": {"instruction-budget"},
		"live-field":            {"host-memory"},
		"live-turn":             {"host-memory"},
		"live-outcome":          {"host-memory"},
		"way-out":               {"sandbox"},
		"no-legs":               {"received-setup"},
		"lower-role":            {"received-turn", "received-nothing"},
		"wire-result":           {"received-outcome", "received-history", "received-nothing"},
		"whole-history":         {"received-history", "received-nothing"},
		"zero-absent":           {"received-nothing"},
		"empty-choice":          {"received-nothing"},
		"empty-opponent":        {"received-turn", "received-nothing"},
		"silent":                {"received-setup", "received-turn", "received-outcome", "received-history", "received-nothing", "log"},
		"batch-mixes-seats":     {"batch"},
		"batch-drops":           {"batch"},
		"no-source":             {"invalid-answers", "throwing", "deadline", "cancel", "time-budget", "instruction-budget"},
		"wrong-op":              {"invalid-answers", "throwing", "deadline", "cancel", "time-budget", "instruction-budget"},
		"plain-error":           {"invalid-answers", "throwing", "deadline", "cancel", "time-budget", "instruction-budget"},
		"stack-trace":           {"invalid-answers", "throwing", "deadline", "cancel", "time-budget", "instruction-budget"},
		"refuses-seats": {
			"same-seed", "own-match", "unseeded", "concurrent", "fresh-seat", "valid-answers", "invalid-answers", "throwing",
			"deadline", "cancel", "time-budget", "instruction-budget", "host-memory", "sandbox",
			"received-setup", "received-turn", "received-outcome", "received-history", "received-nothing", "log", "batch",
		},
		"deaf": {"deadline", "cancel", "time-budget", "instruction-budget"},
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rt := newToy(bug)
				t.Cleanup(func() { close(rt.released) })
				findings := strategytest.CheckRuntime(t.Context(), toySubject(rt))
				if got := failed(findings); !slices.Equal(got, want) {
					t.Errorf("found by %q, want %q", got, want)
				}
			})
		})
	}
}

func TestCloseErrorsAreFound(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string]string{
		"factory-close": "Factory.Close = file already closed",
		"seat-close":    "seat already closed",
	} {
		var findings []strategytest.Finding
		synctest.Test(t, func(t *testing.T) {
			findings = strategytest.CheckRuntime(t.Context(), toySubject(newToy(bug)))
		})
		if !slices.ContainsFunc(findings, func(f strategytest.Finding) bool {
			return f.Level == strategytest.Error && strings.Contains(f.What, want)
		}) {
			t.Errorf("%s: no finding says %q", bug, want)
		}
	}
}
