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

// checked applies every check to a toy with a bug, in a bubble so that endless loops cost no time.
func checked(t *testing.T, bug string) (findings []strategytest.Finding) {
	synctest.Test(t, func(t *testing.T) {
		rt := newToy(bug)
		t.Cleanup(func() { close(rt.released) })
		findings = strategytest.CheckRuntime(t.Context(), toySubject(rt))
	})
	return findings
}

func TestSoundRuntimePasses(t *testing.T) {
	t.Parallel()
	findings := checked(t, "")
	if strategytest.Worst(findings) != strategytest.OK || len(findings) != 23 {
		t.Errorf("findings %v, want all 23 checks passed", findings)
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
			if got := failed(checked(t, bug)); !slices.Equal(got, want) {
				t.Errorf("found by %q, want %q", got, want)
			}
		})
	}
}

func TestCloseErrorsAreFound(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string]string{
		"factory-close": "Factory.Close = file already closed",
		"seat-close":    "seat already closed",
	} {
		if !slices.ContainsFunc(checked(t, bug), func(f strategytest.Finding) bool {
			return f.Level == strategytest.Error && strings.Contains(f.What, want)
		}) {
			t.Errorf("%s: no finding says %q", bug, want)
		}
	}
}
