package game_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

// The numbers and names stand in files: neither may ever change. The last
// column says whether the same plan meets the fault again on another machine.
func TestFaultsArePinned(t *testing.T) {
	t.Parallel()
	pinned := []struct {
		fault        game.Fault
		number       uint8
		name         string
		reproducible bool
	}{
		{game.NoFault, 0, "none", true},
		{game.FaultError, 1, "error", true},
		{game.FaultInvalid, 2, "invalid-choice", true},
		{game.FaultTimeout, 3, "timeout", false},
		{game.FaultBudget, 4, "budget", true},
		{game.FaultCrash, 5, "crash", false},
		{game.FaultForfeit, 6, "forfeit", true},
		{game.FaultQuarantined, 7, "quarantined", true},
		{game.FaultNoJoin, 16, "no-join", false},
		{game.FaultDeclined, 17, "declined", true},
		{game.FaultNoAnswer, 18, "no-answer", false},
		{game.FaultDisconnect, 19, "disconnect", false},
		{game.FaultConnect, 20, "connect", false},
	}
	named := 0
	for _, p := range pinned {
		if uint8(p.fault) != p.number || p.fault.String() != p.name {
			t.Errorf("fault %d %q, want %d %q", p.fault, p.fault, p.number, p.name)
		}
		if got, err := game.ParseFault(p.name); err != nil || got != p.fault {
			t.Errorf("ParseFault(%q) = %v, %v", p.name, got, err)
		}
		if got := p.fault.Reproducible(); got != p.reproducible {
			t.Errorf("%v.Reproducible() = %t", p.fault, got)
		}
	}
	for n := range 256 { // those without a name cannot be read back
		if _, err := game.ParseFault(game.Fault(n).String()); err == nil {
			named++
		}
	}
	if named != len(pinned) {
		t.Errorf("%d faults have names, %d are pinned here", named, len(pinned))
	}
}

func TestUnknownFaults(t *testing.T) {
	t.Parallel()
	if got := game.Fault(99).String(); got != "fault-99" {
		t.Errorf("Fault(99) is %q", got)
	}
	for _, s := range []string{"", "Timeout", "fault-99", "time"} {
		if f, err := game.ParseFault(s); err == nil || f != game.NoFault {
			t.Errorf("ParseFault(%q) = %v, %v, want an error", s, f, err)
		}
	}
}
