package words

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	p := analysis.Player{Name: "slow", Faults: []analysis.Fault{
		{Kind: game.FaultTimeout, Count: 1200, League: 3, Match: "R1M2", Where: "scripts/slow.lua:12: choose took\x1b too long\nstack"},
		{Kind: game.FaultError, Count: 1, Match: "R2M1"},
		{Kind: game.FaultForfeit, Count: 40, League: 3, Match: "R2M1"},
		{Kind: game.FaultQuarantined, Count: 800, Where: "failed in every match"},
		{Kind: game.FaultBudget, Count: 2, Match: "R1M1"},
	}}
	want := []string{
		"slow: 1,200 technical losses by timeout, first in league 3, match R1M2",
		"  scripts/slow.lua:12: choose t…",
		"  strategylab replay 'my runs/it'\\''s' --league 3 --match R1M2",
		"slow: 1 technical loss by error, first in league 0, match R2M1",
		"  strategylab replay 'my runs/it'\\''s' --league 0 --match R2M1",
		"slow: 40 technical losses by forfeit",
		"slow: 800 technical losses by quarantine: failed in every match",
		"slow: 2 technical losses by too many instructions, first in league 0, match R1M1",
		"  strategylab replay 'my runs/it'\\''s' --league 0 --match R1M1",
	}
	if diff := cmp.Diff(want, Plain.Faults(&p, "my runs/it's", 30)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := Plain.Faults(&p, "", 30); len(got) != 6 || strings.Contains(strings.Join(got, ""), "replay") {
		t.Errorf("without a folder: %q", got)
	}
	if got := Plain.Faults(&analysis.Player{}, "run", 30); got != nil {
		t.Errorf("without faults: %q", got)
	}
}
