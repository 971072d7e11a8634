package manager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// started reports whether the league has begun by itself.
func (t T) started() bool {
	announced := func() bool { return t.wasSent(announcement, protocol.TypeGameInvitation) }
	if t.Until(t.shortDelay(), announced) { // it may just be about to begin
		return true
	}
	status := ""
	if a := t.ask(protocol.QueryStatus); !a.Refused {
		status = a.Message.Object("data").Text("status")
	}
	if status != protocol.LeagueRunning && status != protocol.LeagueScheduling {
		return false
	}
	return t.Until(t.session.Patience(), announced)
}

// leaguePlayed returns the league, and has it played the first time. It does not
// matter whether the manager leaves in the meantime: the checks read the record.
func (t T) leaguePlayed() *league {
	if t.playing == nil {
		t.peers.playing = t.Aside()
		playLeague(T{t.playing, t.peers})
	}
	return t.league
}

// played returns the league. It skips the check if the league did not begin.
func (t T) played() *league {
	l := t.leaguePlayed()
	if len(l.rounds) == 0 {
		t.Skip("the league did not begin: %s", t.whyStopped())
	}
	return l
}

// whyStopped says why the league did not end, or which check says so.
func (t T) whyStopped() string {
	if t.session.Selected(assignsMatches) {
		return "see " + assignsMatches
	}
	return t.league.stopped
}

// complete returns the league. It skips the check if the league did not end.
func (t T) complete() *league {
	l := t.played()
	if l.stopped != "" {
		t.Skip("the league did not end: %s", t.whyStopped())
	}
	return l
}

// probe sends a message of the league, and records the answer.
func (t T) probe(name string, m protocol.Message) *kit.Answer {
	return t.probeBy(name, func() kit.Request { return kit.Request{Message: m} })
}

// probeBy is probe for a message in a form of its own. If making it skips, the probe says why.
func (t T) probeBy(name string, request func() kit.Request) *kit.Answer {
	made := &probe{answer: new(kit.Answer)}
	t.Evidence = nil
	if why, ended := t.Catch(func() { made.answer = t.Send(request()) }); ended {
		made.missing = why
	}
	if t.league.closed && made.answer.Err != nil && t.Unreachable() {
		made.missing = "the manager left when its league was complete"
	}
	made.evidence = slices.Clone(t.Evidence)
	t.league.probes[name] = made
	t.league.timed = append(t.league.timed, made)
	return made.answer
}

const begunByItself = "the league began by itself after the last registration"

// recorded returns the answer to a probe, and adds it to the evidence. It skips
// the check if the probe was not made.
func (t T) recorded(name string) *kit.Answer {
	l := t.leaguePlayed()
	made := l.probes[name]
	switch {
	case made != nil && made.missing != "":
		t.Skip("%s", made.missing)
	case made != nil:
	case l.selfStarted && strings.HasPrefix(name, "start"):
		t.Skip(begunByItself)
	case t.conducts():
		t.Skip(conductsMatches)
	case l.stopped != "":
		t.Skip("the league did not get that far: %s", t.whyStopped())
	default:
		t.Skip("the league has too few matches for that; use more players (--players)")
	}
	t.blame(made)
	return made.answer
}

// blame adds the exchange of a probe to the evidence, if it was made.
func (t T) blame(made *probe) {
	if made != nil {
		for _, e := range made.evidence {
			t.Keep(e)
		}
	}
}

func (t T) show(m *message) {
	route := "the manager"
	switch {
	case m.to != nil:
		route += " to " + m.to.called()
	case m.Match != "":
		route = "the referee of " + m.Match
	}
	t.Show(route, m.Raw)
}

func (t T) failOn(m *message, format string, args ...any) {
	t.show(m)
	t.Fail("%s to %s: %s", m.Type, m.to.called(), fmt.Sprintf(format, args...))
}

// messagesOf returns the messages of some types, or without any all, in the order in
// which they arrived. It skips the check if there are none.
func (t T) messagesOf(types ...protocol.Type) []*message {
	t.played()
	t.Lock()
	all := slices.DeleteFunc(slices.Clone(t.messages), func(m *message) bool {
		return len(types) > 0 && !slices.Contains(types, m.Type)
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
	for _, m := range t.messages {
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
