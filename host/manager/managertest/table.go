// Package managertest is for tests that look at what a manager has left.
package managertest

import (
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
)

// Table recomputes the table of a league from its manager's journal in a data directory,
// which nobody has open, by nothing but the rules.
func Table(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, dataDir, id string) []league.Standing {
	t.Helper()
	s := league.New(id, league.Rules{})
	j, found, err := journal.Open(manager.JournalName(dataDir, id), journal.Config{NoSync: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, e := range found.Events {
		if err := s.Replay(e); err != nil {
			t.Fatalf("event %d of %s: %v", e.Seq, id, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return s.Standings()
}
