package strategytest_test

import (
	"encoding/json"
	"testing"

	"github.com/strategylab/strategylab/strategies/strategytest"
)

func TestFindingString(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f    strategytest.Finding
		want string
	}{
		{strategytest.Finding{ID: "league", What: "fine"}, "ok league: fine"},
		{strategytest.Finding{ID: "a", Level: strategytest.Info, What: "b"}, "info a: b"},
		{strategytest.Finding{ID: "a", Level: strategytest.Warning, What: "b", Where: "x.lua:3"}, "warning a: x.lua:3: b"},
		{strategytest.Finding{ID: "a", Level: strategytest.Error, What: "b", Where: "x.lua:3", Hint: "c"}, "error a: x.lua:3: b (c)"},
		{strategytest.Finding{ID: "a", Level: 9, What: "b"}, "level-9 a: b"},
	} {
		if got := tt.f.String(); got != tt.want {
			t.Errorf("String() = %q, want %q", got, tt.want)
		}
	}
}

func TestFindingJSON(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(strategytest.Finding{ID: "a", Level: strategytest.Warning, What: "b", Where: "x.lua:3"})
	if want := `{"id":"a","level":"warning","what":"b","where":"x.lua:3"}`; err != nil || string(got) != want {
		t.Errorf("JSON %s, %v, want %s", got, err, want)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	at := func(levels ...strategytest.Level) (out []strategytest.Finding) {
		for _, l := range levels {
			out = append(out, strategytest.Finding{Level: l})
		}
		return out
	}
	const ok, info, warning, bad = strategytest.OK, strategytest.Info, strategytest.Warning, strategytest.Error
	for _, tt := range []struct {
		findings []strategytest.Finding
		worst    strategytest.Level
		want     string
	}{
		{nil, ok, "Ready: all checks passed."},
		{at(ok, info, ok), info, "Ready: all checks passed."},
		{at(warning, ok), warning, "Ready for experiments; read 1 warning before playing live."},
		{at(warning, bad, ok), bad, "Not ready: 1 problem to fix first."},
		{at(bad, bad, warning), bad, "Not ready: 2 problems to fix first."},
	} {
		if got := strategytest.Verdict(tt.findings); got != tt.want {
			t.Errorf("Verdict(%v) = %q, want %q", tt.findings, got, tt.want)
		}
		if got := strategytest.Worst(tt.findings); got != tt.worst {
			t.Errorf("Worst(%v) = %v, want %v", tt.findings, got, tt.worst)
		}
	}
}
