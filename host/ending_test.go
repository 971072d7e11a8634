package host_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/manager"
)

// A league whose process was killed after its last round, and before everybody
// had received the end, ends when it is restarted, whether or not its own agents
// had received it; and then it is over.
func TestKilledBeforeTheEndWasAnnounced(t *testing.T) {
	t.Parallel()
	l := leagueOf(t, 3, 3)
	l.Referees[0].Data = l.Manager.DataDir
	for i := range l.Seats {
		l.Seats[i].Data = l.Manager.DataDir
	}
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := manager.JournalName(l.Manager.DataDir, l.Manager.LeagueID)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
	last := len(lines) - 1
	if !strings.Contains(lines[last], " completed ") {
		t.Fatalf("the journal ends with %q", lines[last])
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines[:last], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var ends int
	l.Manager.Events = func(e manager.Event) {
		if e.Kind == manager.LeagueCompleted {
			ends++
		}
	}
	for _, before := range []bool{false, true} {
		again, err := l.Play(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again.Before != before || !slices.Equal(again.Standings, played.Standings) || ends != 1 {
			t.Errorf("before: %v, %d ends, standings %+v, want %+v", again.Before, ends, again.Standings, played.Standings)
		}
	}
}
