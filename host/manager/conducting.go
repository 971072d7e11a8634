package manager

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// The functions of this file bring a foreign referee to conduct its matches. How it
// wants to be assigned them is not known beforehand, and many acknowledge whatever
// they are sent. So it gets them in one form after the other, until it shows that
// it conducts: by a report, or by an invitation to a player of this process. The
// next form follows a refusal at once, and an acknowledgement after the time in
// which players are invited. A referee that has had every form gets no more, and
// its matches go to others.

// quietAfter is how long a referee that has shown nothing yet may be silent about the
// matches that it has acknowledged before that is said.
const quietAfter = 20 * time.Second

// maxRevivals is how often a referee that cannot be made to conduct is tried again
// because it has registered again.
const maxRevivals = 3

// foreign reports whether a contact is a referee of another program, in a league
// that takes such. It is called with m.mu held.
func (m *Manager) foreign(c *contact) bool {
	return m.cfg.Mode == protocol.Tolerant && c.member.role == protocol.RoleReferee && !c.member.reg.Keyed
}

// unproven reports whether a contact is a referee of another program that has shown
// nothing of its matches, in a league that assigns them in one form only, and that this
// has not been said. It is called with m.mu held.
func (m *Manager) unproven(c *contact) bool {
	return m.cfg.Mode == protocol.Strict && !c.member.reg.Keyed && !c.conducts && !c.quiet
}

// sayQuiet says that an unproven referee is silent about its matches, which have the
// rest of their time. It is called with m.mu held.
func (m *Manager) sayQuiet(c *contact) {
	c.quiet = true
	m.emit(Event{Kind: RefereeQuiet, Agent: c.member.id, Role: c.member.role, Name: c.member.reg.Name, Matches: m.owed(c),
		Error: fmt.Sprintf("nothing after %v; a match may take %v", c.patience, m.cfg.MatchDeadline.Round(time.Second))})
	m.arm(c, m.cfg.MatchDeadline-c.patience)
}

// owed returns the ids of the matches of the round that a referee has not reported. It
// is called with m.mu held.
func (m *Manager) owed(c *contact) (matches []string) {
	for _, p := range m.state.schedule.Round(m.state.round()) {
		if now := &m.state.matches[p.Index]; now.referee == c.member && !now.outcome.over() {
			matches = append(matches, p.ID)
		}
	}
	return matches
}

// reportTime is how long a referee has until its next report.
func (m *Manager) reportTime(c *contact) time.Duration {
	switch {
	case m.unproven(c):
		return min(quietAfter, m.cfg.MatchDeadline)
	case !m.foreign(c) || c.conducts:
		return m.cfg.MatchDeadline
	case c.forms == 0:
		return min(2*m.cfg.JoinTimeout, m.cfg.MatchDeadline)
	}
	return min(m.cfg.JoinTimeout, m.cfg.MatchDeadline)
}

// Invited notes that a player of this process was invited to a match: its
// referee conducts it.
func (m *Manager) Invited(match string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.schedule == nil {
		return
	}
	p, known := m.state.schedule.Find(match)
	if !known || m.state.matches[p.Index].referee == nil || m.state.matches[p.Index].outcome.over() {
		return
	}
	if c := m.contacts[m.state.matches[p.Index].referee.id]; (m.foreign(c) || m.unproven(c)) && !c.conducts {
		c.conducts = true
		m.arm(c, m.cfg.MatchDeadline)
	}
}

// refuses notes that a referee has refused its matches. It is called with m.mu
// held.
func (m *Manager) refuses(c *contact, err error) {
	if wire.UnknownMethod(err) && c.forms == 0 {
		c.forms = len(protocol.AssignmentNames()) // the caller has tried all of them
	}
	switch {
	case !m.foreign(c):
		m.giveUp(c)
		c.refusals++
	case aboutSender(err) && !c.peer.Speaks().Has(dialect.TraitManagerID):
		c.peer.Learn(c.peer.Speaks().With(dialect.TraitManagerID))
		c.stale = true
		m.wakeDriver()
	default:
		m.tryNextForm(c, fmt.Sprintf("it refuses its matches: %v", err))
	}
}

// aboutSender reports whether a refusal blames the sender of the message, who may
// be known by another name.
func aboutSender(err error) bool {
	refusal, is := errors.AsType[*dialect.Refusal](err)
	return is && strings.Contains(strings.ToLower(refusal.Message), "sender")
}

// tryNextForm has a referee that does not conduct assigned its matches in the next
// form. After the last it is given up for good. It is called with m.mu held.
func (m *Manager) tryNextForm(c *contact, why string) {
	if c.forms < len(protocol.AssignmentNames()) {
		c.forms++
		c.peer.TryNextAssignment()
		c.stale = true
		m.wakeDriver()
		return
	}
	c.unable, c.dead = true, true
	m.changes++
	m.cfg.Log.Error("a referee cannot be made to conduct its matches", "referee", c.member.id, "name", c.member.reg.Name, "reason", why)
	m.emit(Event{Kind: RefereeUnable, Agent: c.member.id, Role: c.member.role, Name: c.member.reg.Name, Matches: m.owed(c), Error: why})
	m.wakeDriver()
}

// assignedPartly notes that a referee has taken some of its matches and refused
// the next. It gets the others as soon as it has made more than that number of
// reports.
func (m *Manager) assignedPartly(c *contact, reports int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.partly = c.reports == reports; !c.partly {
		c.stale = true
		m.wakeDriver()
	}
}

// revive gives a referee that has registered again another chance. It is called
// with m.mu held.
func (m *Manager) revive(c *contact) {
	if c.unable && c.revivals < maxRevivals {
		c.revivals++
		c.unable, c.forms = false, 0
	}
}
