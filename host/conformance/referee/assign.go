package referee

import (
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is how the referee is assigned its matches. The dialect of the referee says how
// the manager signs that.
type assignment struct {
	name     string         // of the message that assigns one match; empty for ROUND_ANNOUNCEMENT
	match    *match         // that was played first, nil if none was
	evidence []kit.Evidence // of the first announcement
}

// assigning returns the request that assigns matches in the way that the referee takes; if that
// assigns them one by one, only the first.
func (t *T) assigning(matches ...*match) kit.Request {
	return kit.Request{Message: t.announcement(matches...), AssignedBy: t.assignment().name}
}

// assign assigns matches in that way, and returns the last answer.
func (t *T) assign(matches ...*match) (last *kit.Answer) {
	n := 1
	if t.assignment().name == "" {
		n = len(matches)
	}
	for some := range slices.Chunk(matches, n) {
		last = t.Send(t.assigning(some...))
	}
	return last
}

// assignment finds out once how the referee is assigned matches.
func (t *T) assignment() assignment {
	t.tries.Do(func() { with(t.Aside()).findAssignment() })
	return t.way
}

// findAssignment announces a match, and assigns others in every other known way until one is played.
func (t *T) findAssignment() {
	tried := map[*match]string{}
	begun := func(within time.Duration) bool {
		return t.Until(within, func() bool {
			for m, name := range tried {
				if len(m.sent) > 0 {
					t.way.match, t.way.name, t.played["win"] = m, name, m
				}
			}
			return t.way.match != nil
		})
	}
	peer := t.T.Session.Peer
	try := func(name string) *kit.Answer {
		m, aside := t.newMatch(nil), t.Aside()
		tried[m] = name
		a := aside.Send(kit.Request{Message: t.announcement(m), AssignedBy: name})
		if len(tried) == 1 {
			t.way.evidence = aside.Evidence
		}
		if len(tried) == 1 || !a.Refused && a.Err == nil {
			begun(t.assignmentDelay(a))
		}
		return a
	}
	for _, name := range slices.Concat([]string{""}, protocol.AssignmentNames) {
		a := try(name)
		if name == "" && !begun(0) && (a.UnknownMessage() || a.Plain) { // other ids, wrappings and tools
			m := t.newMatch(nil)
			t.Aside().Find(t.announcement(m))
			tried[m] = peer.AssignedBy()
			begun(t.assignmentDelay(a))
		}
		known := peer.Speaks().Has(dialect.TraitManagerID)
		if !begun(0) && !known && a.Refused && strings.Contains(strings.ToLower(a.Reason), "sender") {
			peer.Learn(peer.Speaks().With(dialect.TraitManagerID))
			try(name)
		}
		if begun(0) {
			return
		}
	}
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
