package referee

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is how the referee is assigned its matches.
type assignment struct {
	found  bool
	name   string // of the message that assigns one match; empty for ROUND_ANNOUNCEMENT
	sender string // instead of the protocol's
	first  []kit.Evidence
}

// otherManager is how some managers sign; some referees know no other name.
const otherManager = "league_manager:LM01"

// request assigns a match in one way.
func (t T) request(w assignment, a *protocol.RoundAnnouncement) kit.Request {
	a.Sender = cmp.Or(w.sender, a.Sender)
	r := kit.Request{Message: a, Dialect: t.Dialect}
	if w.name != "" {
		r.Wrap = func(d *dialect.Dialect) (dialect.Call, error) {
			calls, err := d.AssignmentCalls(w.name, a)
			if err != nil {
				return dialect.Call{}, err
			}
			return calls[0], nil
		}
	}
	return r
}

// assigning returns the request that assigns matches in the way that the referee
// takes; if it takes them one by one, only the first.
func (t T) assigning(matches ...*match) kit.Request {
	return t.request(t.assignment(), t.announcement(matches...))
}

// assign assigns matches in the way that the referee takes, and returns the last
// answer.
func (t T) assign(matches ...*match) *kit.Answer {
	if t.assignment().name == "" {
		return t.Send(t.assigning(matches...))
	}
	var last *kit.Answer
	for _, m := range matches {
		last = t.Send(t.assigning(m))
	}
	return last
}

// assignment finds out once how the referee is assigned matches: it announces a
// match, and assigns others in every other known way until one is played.
func (t T) assignment() assignment {
	t.Lock()
	known := t.assigned
	t.Unlock()
	if known.found {
		return known
	}
	found := t.findAssignment()
	found.found = true
	t.Lock()
	t.peers.assigned = found
	t.Unlock()
	return found
}

func (t T) findAssignment() assignment {
	var ways []assignment
	var matches []*match
	var first []kit.Evidence
	played := func() int {
		return slices.IndexFunc(matches, func(m *match) bool { return len(m.sent) > 0 })
	}
	result := func() (assignment, bool) {
		t.Lock()
		defer t.Unlock()
		if i := played(); i >= 0 {
			ways[i].first = first
			t.scenarios["win"] = matches[i]
			return ways[i], true
		}
		return assignment{}, false
	}
	try := func(w assignment) *kit.Answer {
		m := t.newMatch(plan{})
		ways, matches = append(ways, w), append(matches, m)
		aside := t.Aside()
		a := aside.Send(t.request(w, t.announcement(m)))
		if len(ways) == 1 {
			first = aside.Evidence
		}
		if len(ways) == 1 || !a.Refused && a.Err == nil {
			t.Until(t.assignmentDelay(a), func() bool { return played() >= 0 })
		}
		return a
	}
	for _, name := range t.assignmentNames() {
		a := try(assignment{name: name})
		if w, ok := result(); ok {
			return w
		}
		if a.Refused && strings.Contains(strings.ToLower(a.Reason), "sender") {
			try(assignment{name: name, sender: otherManager})
		}
		if w, ok := result(); ok {
			return w
		}
	}
	t.Until(t.patience(), func() bool { return played() >= 0 })
	w, _ := result()
	w.first = first
	return w
}

// assignmentDelay is how long a match is waited for before the next way is tried.
// A slower referee is noticed later: every way has a match of its own.
func (t T) assignmentDelay(a *kit.Answer) time.Duration {
	if t.Registered() && a.Taken() && protocol.Type(a.Message.Text("message_type")) == protocol.TypeRoundAnnouncement.Answer() {
		return t.T.Session.Timeout
	}
	return min(t.T.Session.Timeout/5, time.Second)
}

// assignmentNames returns the ways to assign a match: first the announcement, then
// what the registration names, then all others.
func (t T) assignmentNames() []string {
	names := dialect.AssignmentNames()
	if all := t.Attempts(); len(all) > 0 {
		meta := jsontext.Value(fmt.Sprintf(`{"referee_meta":%s}`, all[0].Message.Shown("referee_meta")))
		if own := dialect.AssignmentNameIn(meta); own != "" {
			names = append([]string{own}, slices.DeleteFunc(names, func(name string) bool { return name == own })...)
		}
	}
	return append([]string{""}, names...)
}

func announcedCheck() kit.Check {
	return matchCheck("round.announced", kit.Should, "A referee plays the matches of ROUND_ANNOUNCEMENT, and needs no other message for them (league.v2, flow).",
		"Handle ROUND_ANNOUNCEMENT: play the matches whose referee_id is your own.", func(t T) {
			w := t.assignment()
			if w.name == "" && w.sender == "" {
				return
			}
			t.T.Evidence = append(t.T.Evidence, w.first...)
			if w.name == "" {
				t.Fail("it plays only when the manager signs as %s", w.sender)
			}
			t.Fail("after ROUND_ANNOUNCEMENT it plays nothing; it plays after %s", w.name)
		})
}
