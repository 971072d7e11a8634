package manager

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// started reports whether the league has begun by itself.
func (t T) started() bool {
	announced := func() bool { return t.wasSent(announcement, protocol.TypeGameInvitation) }
	if t.Until(t.shortDelay(), announced) { // it may just be about to begin
		return true
	}
	a := t.ask(protocol.QueryStatus)
	status := a.Message.Object("data").Text("status")
	begins := !a.Refused && (status == protocol.LeagueRunning || status == protocol.LeagueScheduling)
	return begins && t.Until(t.Session.Patience(), announced)
}

// leaguePlayed has the league played the first time. It does not
// matter whether the manager leaves in the meantime: the checks read the record.
func (t T) leaguePlayed() {
	if t.playing == nil {
		t.peers.playing = t.Aside()
		playLeague(T{t.playing, t.peers})
	}
}

// played returns the rounds of the league. It skips the check if that did not begin.
func (t T) played() []*round {
	t.leaguePlayed()
	if len(t.rounds) == 0 {
		t.Skip("the league did not begin: %s", t.whyStopped())
	}
	return t.rounds
}

// whyStopped says why the league did not end, or which check says so.
func (t T) whyStopped() string {
	if t.Session.Selected("manager.round.given") {
		return "see manager.round.given"
	}
	return t.stopped
}

// complete skips the check if the league did not end.
func (t T) complete() {
	t.played()
	if t.stopped != "" {
		t.Skip("the league did not end: %s", t.whyStopped())
	}
}

// probe sends a message of the league, and records the answer.
func (t T) probe(name string, m protocol.Message) *kit.Answer {
	return t.probeBy(name, func() kit.Request { return kit.Request{Message: m} })
}

// probeBy is probe for a message in a form of its own. If making it skips, the probe says why.
func (t T) probeBy(name string, request func() kit.Request) *kit.Answer {
	a := new(kit.Answer)
	why, _ := t.Catch(func() { a = t.Send(request()) })
	if t.closed && errors.Is(a.Err, jsonrpc.ErrConnect) {
		why = "the manager left when its league was complete"
	}
	t.answers[name], t.missing[name] = a, why
	return a
}

const begunByItself = "the league began by itself after the last registration"

// recorded returns the answer to a probe, and adds it to the evidence. It skips
// the check if the probe was not made.
func (t T) recorded(name string) *kit.Answer {
	t.leaguePlayed()
	a, why := t.answers[name], t.missing[name]
	switch {
	case why != "":
		t.Skip("%s", why)
	case a != nil:
	case t.selfStarted && strings.HasPrefix(name, "start"):
		t.Skip(begunByItself)
	case t.conducts():
		t.Skip(conductsMatches)
	case t.stopped != "":
		t.Skip("the league did not get that far: %s", t.whyStopped())
	default:
		t.Skip("the league has too few matches for that; use more players (--players)")
	}
	t.Exhibit(a)
	return a
}

func (t T) failOn(m *message, format string, args ...any) {
	t.Show(&m.Message)
	t.Fail("%s to %s: %s", m.Type, m.To, fmt.Sprintf(format, args...))
}

// messagesOf returns the messages of some types, or without any all, in the order in
// which they arrived. It skips the check if there are none.
func (t T) messagesOf(types ...protocol.Type) []*message {
	t.played()
	t.Lock()
	all := slices.DeleteFunc(slices.Clone(t.log), func(m *message) bool {
		return m.to == nil || len(types) > 0 && !slices.Contains(types, m.Type)
	})
	t.Unlock()
	if len(all) == 0 {
		t.Skip("no %s was sent", append(types, "message")[0])
	}
	return all
}

// about returns the message of a type that an agent was sent about a round: the first announcement,
// or the last of another type that ends the round; nil without one.
func (t T) about(to *member, typ protocol.Type, r *round) (found *message) {
	t.Lock()
	defer t.Unlock()
	for _, m := range t.log {
		switch {
		case m.to != to, typ == announcement && m.round != r.number:
		case m.Type == typ && (typ == announcement || typ == theEnd):
			return m
		case m.Type == theEnd && typ != announcement:
			return found // what follows is for manager.end.last to find
		case m.Type == typ && m.arrival > r.last && m.arrival <= r.closed:
			found = m
		}
	}
	return found
}

func probeName(kind string, n int) string { return fmt.Sprintf("%s.%d", kind, n) }
