package referee

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// assigning returns the request that assigns a new match in the way that the referee takes.
func (t *T) assigning() kit.Request {
	t.findAssignment()
	return kit.Request{Message: t.announcement(t.newMatch(nil)), AssignedBy: t.T.Session.Peer.AssignedBy()}
}

// assign assigns matches in that way, and returns the last answer.
func (t *T) assign(matches ...*match) *kit.Answer {
	t.findAssignment()
	return cmp.Or(t.Find(t.announcement(matches...)), new(kit.Answer)) // none where no tool takes it
}

// findAssignment finds out once how the referee is assigned matches, which the peer then knows. It
// returns the evidence of the first announcement.
func (t *T) findAssignment() []kit.Evidence {
	t.tries.Do(with(t.Aside()).tryAssignments)
	return t.announced
}

// tryAssignments announces a match, and assigns others in every other known way until one is
// played, the first as the scenario "win".
func (t *T) tryAssignments() {
	peer, tried := t.T.Session.Peer, map[*match]string{}
	begun := func(within time.Duration) bool {
		return t.Until(within, func() bool {
			for m, name := range tried {
				if len(m.sent) > 0 {
					t.played["win"] = m
					peer.AssignBy(name)
				}
			}
			return t.played["win"] != nil
		})
	}
	try := func(name string) *kit.Answer {
		peer.AssignBy(name)
		m, aside := t.newMatch(nil), t.Aside()
		a := cmp.Or(aside.Find(t.announcement(m)), new(kit.Answer))
		tried[m] = peer.AssignedBy() // another where it knows no announcements
		if len(tried) == 1 {
			t.announced = aside.Evidence[:min(1, len(aside.Evidence))]
		}
		if len(tried) == 1 || !a.Refused && a.Err == nil {
			begun(t.assignmentDelay(a))
		}
		return a
	}
	for _, name := range slices.Concat([]string{""}, protocol.AssignmentNames) {
		a := try(name)
		known := peer.Speaks().Has(dialect.TraitManagerID)
		if !begun(0) && !known && a.Refused && strings.Contains(strings.ToLower(a.Reason), "sender") {
			peer.Learn(peer.Speaks().With(dialect.TraitManagerID))
			try(name)
		}
		if begun(0) {
			return
		}
	}
	peer.AssignBy("")
	begun(t.patience())
}

// assignmentDelay is how long a match is waited for before the next way is tried.
// A slower referee is noticed later: every way has a match of its own.
func (t *T) assignmentDelay(a *kit.Answer) time.Duration {
	if t.Registered() && a.Taken() && protocol.Type(a.Message.Text("message_type")) == protocol.TypeRoundAnnouncement.Answer() {
		return t.T.Session.Timeout
	}
	return min(t.T.Session.Timeout/5, time.Second)
}
