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
// its matches go to others. They are called with m.mu held, except Invited.

// quietAfter is how long a referee that has shown nothing yet may be silent about the
// matches that it has acknowledged before that is said.
const quietAfter = 20 * time.Second

// maxRevivals is how often a referee that cannot be made to conduct is tried again
// because it has registered again.
const maxRevivals = 3

// foreign reports whether a contact is a referee of another program, in a league
// that takes such.
func (m *Manager) foreign(c *contact) bool {
	return m.cfg.Mode == protocol.Tolerant && c.Role == protocol.RoleReferee && !c.Keyed
}

// unproven reports whether a contact is a referee of another program that has shown
// nothing of its matches, in a league that assigns them in one form only, and that this
// has not been said.
func (m *Manager) unproven(c *contact) bool {
	return m.cfg.Mode == protocol.Strict && !c.Keyed && !c.conducts && !c.quiet
}

// sayQuiet says that an unproven referee is silent about its matches, which have the
// rest of their time.
func (m *Manager) sayQuiet(c *contact) {
	c.quiet = true
	m.emitOf(c.Member, Event{Kind: RefereeQuiet, Matches: m.owed(c),
		Error: fmt.Sprintf("nothing after %v; a match may take %v", c.patience, m.cfg.MatchDeadline.Round(time.Second))})
	m.arm(c, m.cfg.MatchDeadline-c.patience)
}

// owed returns the ids of the matches of the round that a referee has not reported.
func (m *Manager) owed(c *contact) (matches []string) {
	for _, p := range m.state.Owed(c.Member) {
		matches = append(matches, p.ID)
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
	p, known := m.state.Find(match)
	if !known || m.state.Referee(p) == nil || m.state.Done(p) {
		return
	}
	if c := m.contacts[m.state.Referee(p).ID]; (m.foreign(c) || m.unproven(c)) && !c.conducts {
		c.conducts = true
		m.arm(c, m.cfg.MatchDeadline)
	}
}

// refuses notes that a referee has refused its matches.
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
		m.outdateContact(c)
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
// form. After the last it is given up for good.
func (m *Manager) tryNextForm(c *contact, why string) {
	if c.forms < len(protocol.AssignmentNames()) {
		c.forms++
		c.peer.TryNextAssignment()
		m.outdateContact(c)
		return
	}
	c.unable, c.dead = true, true
	m.changes++
	m.cfg.Log.Error("a referee cannot be made to conduct its matches", "referee", c.ID, "name", c.Name, "reason", why)
	m.emitOf(c.Member, Event{Kind: RefereeUnable, Matches: m.owed(c), Error: why})
	m.wakeDriver()
}

// revive gives a referee that has registered again another chance.
func (m *Manager) revive(c *contact) {
	if c.unable && c.revivals < maxRevivals {
		c.revivals++
		c.unable, c.forms = false, 0
	}
}
