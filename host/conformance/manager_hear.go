package conformance

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// told is a message of the manager to one of the agents.
type told struct {
	*trace.Exchange
	to      *member
	id      string // that it has
	kind    protocol.Type
	message fields   // without its wrapping
	matches []fields // of an announcement, or of a match that is handed out alone
	alone   bool     // it hands a match out alone
	round   int      // that it names; 0 without
	n       int      // how many of its kind and round have come to the agent, with it
	spoilt  bool     // it was not taken
	settled bool     // it was answered
	order   int      // of what was heard and answered, by all agents: when it came
	after   int      // and when it was answered
}

// maxTold bounds how many messages of a manager are kept.
const maxTold = 20_000

// hear takes down a message of the manager and answers it.
func (s *managerSide) hear(to *member, in *trace.Exchange) Said {
	m := &told{Exchange: in, to: to, kind: in.Type, message: object(in.Raw).inner(), n: 1}
	m.round = roundOf(m.message["round_id"])
	if req, _, err := opened(in.Raw); err == nil && req.Type == protocol.TypeRoundAnnouncement {
		m.kind, m.matches, m.alone = req.Type, list(object(json.RawMessage(req.Raw))["matches"]), req.HandedOut()
		m.round = req.Header.RoundID.Number()
	}
	s.mu.Lock()
	s.note(m)
	act := s.trouble(m)
	m.spoilt = act != nil && m.kind == protocol.TypeRoundAnnouncement && m.round == s.troubled()
	s.notify()
	s.mu.Unlock()
	said := Said{}
	if act != nil {
		said = act(m)
	} else {
		said = acknowledges(m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order++
	m.after, m.settled = s.order, true
	s.notify()
	return said
}

// note writes a message down, and what matches it gives to a referee. The lock
// is held.
func (s *managerSide) note(m *told) {
	s.order++
	m.order, m.id = s.order, m.to.id
	if len(s.heard) == maxTold {
		return
	}
	for _, other := range s.heard {
		if other.to == m.to && other.kind == m.kind && other.round == m.round {
			m.n++
		}
	}
	s.heard = append(s.heard, m)
	if m.to.role != protocol.RoleReferee {
		return
	}
	for _, f := range m.matches {
		id := f.text("match_id")
		if id == "" || !m.alone && f.text("referee_id") != m.id && f.text("referee_endpoint") != m.to.station.url {
			continue
		}
		if g := s.fixture(id); g != nil {
			g.referee = m.to // it has gone to another one
			continue
		}
		s.given = append(s.given, &fixture{
			id: id, round: m.round, referee: m.to, by: m, players: [2]string{f.text("player_A_id"), f.text("player_B_id")},
		})
	}
}

// named returns the agent that has an id, or nil.
func (s *managerSide) named(id string) *member {
	for _, m := range s.members {
		if m.id == id && id != "" {
			return m
		}
	}
	return nil
}

// acknowledges answers by the book.
func acknowledges(m *told) Said {
	about, _ := protocol.Describe(m.kind)
	ack, ok := protocol.New(about.Answer).(*protocol.Ack)
	if !ok {
		return inKind(m.Raw, nil)
	}
	ack.Sender, ack.Status = protocol.Sender(m.to.role, m.id), protocol.StatusAcknowledged
	if m.to.role == protocol.RolePlayer {
		ack.PlayerID = m.id
	} else {
		ack.RefereeID = m.id
	}
	return inKind(m.Raw, ack)
}

// list reads a member that is a list of objects.
func list(raw json.RawMessage) []fields {
	var all []fields
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// roundOf reads a round: a number, or a text that ends in one. It is 0 for
// anything else.
func roundOf(raw json.RawMessage) int {
	text := strings.Trim(string(raw), `"`)
	n, err := strconv.Atoi(text[strings.LastIndexByte(text, '_')+1:])
	if err != nil {
		return 0
	}
	return n
}

// The ways in which a player does not take the announcement of the round of
// troubles, the first time that it is told.
const (
	playerBusy   = 0 // answers HTTP 503
	playerBroken = 1 // breaks the connection off
	playerSilent = 2 // answers nothing
	playerSlow   = 3 // takes a moment, in the first round
)

// trouble returns what an agent does with a message in place of the
// acknowledgement, or nil. The lock is held.
func (s *managerSide) trouble(m *told) func(*told) Said {
	if m.n > 1 {
		return nil
	}
	switch {
	case m.kind == protocol.TypeLeagueCompleted && m.to == s.members[len(s.members)-1]:
		return func(m *told) Said {
			s.until(3*s.aMoment(), func() bool { return s.parting || s.closing })
			return acknowledges(m)
		}
	case m.kind != protocol.TypeRoundAnnouncement:
		return nil
	case m.round == 1 && m.to == s.players()[playerSlow]:
		return func(m *told) Said {
			s.until(s.aMoment(), func() bool { return s.handedOut(1) > 0 })
			return acknowledges(m)
		}
	case m.round != s.troubled():
		return nil
	case m.to == s.players()[playerBusy] && s.c.makes(toldWhenBusy):
		return func(m *told) Said { return busy(m.Raw) }
	case m.to == s.players()[playerBroken] && s.c.makes(toldWhenBroken):
		return func(*told) Said { return Said{Hangup: true} }
	case m.to == s.players()[playerSilent] && s.c.makes(toldDespiteSilence):
		return func(m *told) Said {
			// It is let off if the manager would wait for it longer than anybody
			// waits for the check.
			s.mu.Lock()
			s.holding++
			s.mu.Unlock()
			s.until(s.patience(), func() bool { return s.handedOut(m.round) > 0 || s.closing })
			s.mu.Lock()
			s.holding--
			s.mu.Unlock()
			return Said{Hangup: true}
		}
	}
	return nil
}

// handedOut returns how many matches of a round, or with 0 of all, referees have
// been given. The lock is held.
func (s *managerSide) handedOut(round int) int {
	n := 0
	for _, m := range s.given {
		if m.round == round || round == 0 {
			n++
		}
	}
	return n
}

// aMoment is how long an agent takes that is a little slow, which is less than any
// manager waits, and how long is waited for what is not to come.
func (s *managerSide) aMoment() time.Duration {
	return min(s.c.opts.Timeout/20, 250*time.Millisecond)
}

// patience is how long is waited for what the manager has to do of its own
// accord, after a pause that the protocol allows it.
func (s *managerSide) patience() time.Duration { return s.c.opts.Timeout + longestPause }
