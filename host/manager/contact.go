package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// contact is what the manager knows of an agent beyond its registration: how to reach it, whether
// it answers, what is on its way to it. Nothing of it outlives the process. It is guarded by
// Manager.mu, with which the functions of this file are called.
type contact struct {
	*league.Member
	peer  *wire.Peer
	token string // by which the manager makes itself known to it
	life  league.Life

	queue     []*notification
	current   *notification      // being sent, or waiting for its next attempt
	supersede context.CancelFunc // has no further attempt at the current one made
	abort     context.CancelFunc // ends the latest attempt
	running   bool               // the queue is being delivered
	wake      chan struct{}      // wakes the goroutine that delivers it; nil before there is one

	proved bool // it has shown its token
	gone   bool // of a player: every attempt at a notification has failed, and it was not heard of since
	stale  bool // what it knows of the current round is outdated

	// The rest is for referees only.
	dead     bool          // it cannot be reached or does not report: its matches go to others
	unable   bool          // it was assigned its matches in every form, and conducts none
	partly   bool          // it has taken some of its matches, and not yet the others
	reports  int           // that it has made
	conducts bool          // it has shown that it conducts what it is assigned
	quiet    bool          // it was said that it has shown nothing
	forms    int           // in which it was assigned its matches, after the first
	refusals int           // of its matches, by one of ours
	revivals int           // how often it was tried again after all
	late     bool          // its deadline has passed and the driver has not looked yet
	deadline *time.Timer   // for its next report
	armed    time.Time     // when the deadline was set
	patience time.Duration // and to how long
}

// updateContact makes or renews the contact of an agent that has registered.
func (m *Manager) updateContact(a *league.Member) *contact {
	c := m.contacts[a.ID]
	if c == nil {
		c = &contact{life: league.Init}
		m.contacts[a.ID] = c
	}
	speaks := named(a.Dialect)
	if c.peer == nil || c.peer.URL != a.Endpoint || c.peer.Dialect.Name != speaks.Name {
		c.peer = wire.NewPeer(a.Endpoint, speaks)
	}
	c.Member, c.token = a, a.Key.ManagerToken(m.cfg.LeagueID)
	return c
}

// named returns the dialect of a name, which may have traits.
func named(name string) *dialect.Dialect {
	if d, err := dialect.Named(name); err == nil {
		return d
	}
	return dialect.Contracts
}

// outdateContact has an agent notified of the current round again.
func (m *Manager) outdateContact(c *contact) {
	c.stale = true
	m.wakeDriver()
}

// setLife changes an agent's state.
func (m *Manager) setLife(c *contact, life league.Life) {
	if c.life == life || c.life == league.Shutdown {
		return
	}
	c.life = life
	m.changes++
	m.emitOf(c.Member, Event{Kind: AgentState, State: life})
}

// alive notes that an agent was heard of.
func (m *Manager) alive(c *contact) {
	m.setLife(c, league.Active)
	c.gone = false
	if c.dead && !c.unable {
		c.dead = false
		m.changes++
		c.stale = c.stale || c.Load > 0
		m.wakeDriver()
	}
}

// suspend notes that an agent could not be reached. Nobody waits for what
// it still has in its queue.
func (m *Manager) suspend(c *contact, err error) {
	if c.life != league.Suspended { // events say so, and a warning if the last attempt fails
		m.cfg.Log.Info("agent not reachable", "agent", c.ID, "name", c.Name, "url", c.peer.URL, "error", err)
	}
	m.setLife(c, league.Suspended)
	for _, n := range c.queue {
		n.count(false)
	}
}

// cutOff drops whatever is on its way to a player that is out.
func (m *Manager) cutOff(c *contact) {
	for _, n := range c.queue {
		n.count(false)
	}
	c.queue = nil
	if c.current == nil {
		return
	}
	c.current.count(false)
	c.supersede()
	if c.abort != nil {
		c.abort()
	}
}

// notifies reports whether an agent gets messages of a type: a player that is out
// hears only of the end, if it is there.
func (c *contact) notifies(kind protocol.Type) bool {
	return c.Status == "" || kind == protocol.TypeLeagueCompleted && c.life == league.Active
}

// giveUp gives a referee up until it is heard of, so that its matches go to another. Where there is
// no other, it is tried again after a while, which is twice as long each time that it has refused.
func (m *Manager) giveUp(c *contact) {
	c.dead = true
	m.changes++
	m.arm(c, (m.cfg.Timeout+m.cfg.Backoff.Most)<<min(c.refusals, 10))
	m.wakeDriver()
}

// arm sets the time until a referee that owes reports is looked at.
func (m *Manager) arm(c *contact, d time.Duration) {
	if m.ctx.Err() != nil {
		return
	}
	c.armed, c.patience = time.Now(), d
	if c.deadline == nil {
		c.deadline = time.AfterFunc(d, func() { m.overdue(c) })
		return
	}
	c.deadline.Reset(d)
}

// overdue is called, without m.mu, when a referee's deadline has passed.
func (m *Manager) overdue(c *contact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() == nil && c.Load > 0 && time.Since(c.armed) >= c.patience {
		c.late = true
		m.wakeDriver()
	}
}

// The functions of this file bring a foreign referee to conduct its matches. How it wants to be
// assigned them is not known beforehand, and many acknowledge whatever they are sent. So it gets
// them in one form after the other, until it shows that it conducts: by a report, or by an
// invitation to a player of this process. The next form follows a refusal at once, and an
// acknowledgement after the time in which players are invited. A referee that has had every form
// gets no more, and its matches go to others. They are called with m.mu held, except Invited.

// quietAfter is how long a referee that has shown nothing yet may be silent about the
// matches that it has acknowledged before that is said.
const quietAfter = 20 * time.Second

// maxRevivals is how often a referee that cannot be made to conduct is tried again
// because it has registered again.
const maxRevivals = 3

// foreign reports whether a contact is a referee of another program, in a league that takes such.
func (m *Manager) foreign(c *contact) bool {
	return m.cfg.Mode == protocol.Tolerant && c.Role == protocol.RoleReferee && !c.Keyed
}

// unproven reports whether a contact is a referee of another program that has shown nothing of its
// matches, in a league that assigns them in one form only, and that this has not been said.
func (m *Manager) unproven(c *contact) bool {
	return m.cfg.Mode == protocol.Strict && !c.Keyed && !c.conducts && !c.quiet
}

// sayQuiet says that an unproven referee is silent about its matches, which have the
// rest of their time.
func (m *Manager) sayQuiet(c *contact) {
	c.quiet = true
	m.emitOf(c.Member, Event{Kind: RefereeQuiet, Matches: m.state.Owed(c.Member),
		Error: fmt.Sprintf("nothing after %v; a match may take %v", c.patience, m.cfg.MatchDeadline.Round(time.Second))})
	m.arm(c, m.cfg.MatchDeadline-c.patience)
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

// Invited notes that a player of this process was invited to a match: its referee conducts it.
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
		c.forms = len(protocol.AssignmentNames) // the caller has tried all of them
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
	if c.forms < len(protocol.AssignmentNames) {
		c.forms++
		c.peer.TryNextAssignment()
		m.outdateContact(c)
		return
	}
	c.unable, c.dead = true, true
	m.changes++
	m.cfg.Log.Error("a referee cannot be made to conduct its matches", "referee", c.ID, "name", c.Name, "reason", why)
	m.emitOf(c.Member, Event{Kind: RefereeUnable, Matches: m.state.Owed(c.Member), Error: why})
	m.wakeDriver()
}

// revive gives a referee that has registered again another chance.
func (m *Manager) revive(c *contact) {
	if c.unable && c.revivals < maxRevivals {
		c.revivals++
		c.unable, c.forms = false, 0
	}
}
