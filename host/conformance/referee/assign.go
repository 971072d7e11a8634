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
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// assignment is how the referee is assigned its matches.
type assignment struct {
	match  *match // that it was tried with
	plays  bool   // it plays what it is assigned
	name   string // of the message that assigns one match; empty for ROUND_ANNOUNCEMENT
	sender string // instead of the protocol's
	first  []kit.Evidence
}

// otherManager is how some managers sign; some referees know no other name.
const otherManager = "league_manager:LM01"

// request assigns a match in one way.
func (t *T) request(w assignment, a *protocol.RoundAnnouncement) kit.Request {
	a.Sender = cmp.Or(w.sender, a.Sender)
	r := kit.Request{Message: a}
	if w.name != "" {
		r.Wrap = func(d *dialect.Dialect) (jsonrpc.Message, error) {
			calls, err := d.AssignmentCalls(w.name, a)
			if err != nil {
				return jsonrpc.Message{}, err
			}
			return calls[0], nil
		}
	}
	return r
}

// assigning returns the request that assigns matches in the way that the referee
// takes; if it takes them one by one, only the first.
func (t *T) assigning(matches ...*match) kit.Request {
	return t.request(t.assignment(), t.announcement(matches...))
}

// assign assigns matches in the way that the referee takes, and returns the last answer.
func (t *T) assign(matches ...*match) (last *kit.Answer) {
	if t.assignment().name == "" {
		return t.Send(t.assigning(matches...))
	}
	for _, m := range matches {
		last = t.Send(t.assigning(m))
	}
	return last
}

// assignment finds out once how the referee is assigned matches.
func (t *T) assignment() assignment {
	t.tries.Do(func() { t.way = with(t.Aside()).findAssignment() })
	return t.way
}

// findAssignment announces a match, and assigns others in every other known way until one is played.
func (t *T) findAssignment() (found assignment) {
	var tried []assignment
	var first []kit.Evidence
	begun := func(within time.Duration) bool {
		return t.Until(within, func() bool {
			if i := slices.IndexFunc(tried, func(w assignment) bool { return len(w.match.sent) > 0 }); i >= 0 {
				found, t.scenarios["win"] = tried[i], tried[i].match
				found.plays = true
			}
			found.first = first
			return found.plays
		})
	}
	try := func(w assignment) (a *kit.Answer) {
		w.match = t.newMatch(plan{})
		tried = append(tried, w)
		aside := t.Aside()
		a = aside.Send(t.request(w, t.announcement(w.match)))
		if len(tried) == 1 {
			first = aside.Evidence
		}
		if len(tried) == 1 || !a.Refused && a.Err == nil {
			begun(t.assignmentDelay(a))
		}
		return a
	}
	for _, name := range t.assignmentNames() {
		a := try(assignment{name: name})
		if !begun(0) && name == "" && (a.UnknownMessage() || a.Plain) { // other ids, wrappings and tools
			m := t.newMatch(plan{})
			t.Aside().Find(t.announcement(m))
			tried = append(tried, assignment{name: t.T.Session.Peer().AssignedBy(), match: m})
			begun(t.assignmentDelay(a))
		}
		if !begun(0) && a.Refused && strings.Contains(strings.ToLower(a.Reason), "sender") {
			try(assignment{name: name, sender: otherManager})
		}
		if begun(0) {
			return found
		}
	}
	begun(t.patience())
	return found
}

// assignmentDelay is how long a match is waited for before the next way is tried.
// A slower referee is noticed later: every way has a match of its own.
func (t *T) assignmentDelay(a *kit.Answer) time.Duration {
	if t.Registered() && a.Taken() && protocol.Type(a.Message.Text("message_type")) == protocol.TypeRoundAnnouncement.Answer() {
		return t.T.Session.Timeout
	}
	return min(t.T.Session.Timeout/5, time.Second)
}

// assignmentNames returns the ways to assign a match: first the announcement, then
// what the registration names, then all others.
func (t *T) assignmentNames() []string {
	names := protocol.AssignmentNames()
	if all := t.Attempts(); len(all) > 0 {
		meta := jsontext.Value(fmt.Sprintf(`{"referee_meta":%s}`, all[0].Message.Shown("referee_meta")))
		if own := dialect.AssignmentNameIn(meta); own != "" {
			names = append([]string{own}, slices.DeleteFunc(names, func(name string) bool { return name == own })...)
		}
	}
	return append([]string{""}, names...)
}
