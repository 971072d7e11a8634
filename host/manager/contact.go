package manager

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// AgentLife is how far an agent's life has come, as the manager sees it.
type AgentLife string

// The states of league.v2. An agent registers (from Init to Registered), is
// Active once it has answered or asked anything, is Suspended while it cannot
// be reached (it is scheduled and tried all the same, but no longer waited
// for), and is shut down when the league is over. After a restart of
// the manager it is Registered until it is heard of. A player that the organiser has
// taken out is shown as Withdrawn or Suspended, whether or not it answers.
const (
	LifeInit       AgentLife = "INIT"
	LifeRegistered AgentLife = "REGISTERED"
	LifeActive     AgentLife = "ACTIVE"
	LifeSuspended  AgentLife = "SUSPENDED"
	LifeShutdown   AgentLife = "SHUTDOWN"
	LifeWithdrawn  AgentLife = "WITHDRAWN"
)

// contact is what the manager knows of an agent beyond its registration: how to
// reach it, whether it answers, what is on its way to it. Nothing of it
// outlives the process. It is guarded by Manager.mu.
type contact struct {
	member *member
	peer   *wire.Peer
	token  string // by which the manager makes itself known to it
	life   AgentLife

	queue   []*notification
	current *notification      // being sent, or waiting for its next attempt
	abort   context.CancelFunc // ends the latest attempt
	running bool               // the queue is being delivered
	wake    chan struct{}      // wakes the goroutine that delivers it; nil before there is one

	proved bool // it has shown its token
	gone   bool // of a player: every attempt at a notification has failed, and it was not heard of since

	// The rest is for referees only, but for stale.
	stale    bool          // what it knows of the current round is outdated
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

// updateContact makes or renews the contact of an agent that has registered. It is
// called with m.mu held.
func (m *Manager) updateContact(a *member) *contact {
	c := m.contacts[a.id]
	if c == nil {
		c = &contact{life: LifeInit}
		m.contacts[a.id] = c
	}
	dialect := m.dialect(a.reg.Dialect)
	if c.peer == nil || c.peer.URL != a.reg.Endpoint || c.peer.Dialect.Name != dialect.Name {
		c.peer = wire.NewPeer(a.reg.Endpoint, dialect)
	}
	c.member, c.token = a, a.verifier.ManagerToken(m.cfg.LeagueID)
	return c
}

// dialect returns the dialect of a name, which may have traits.
func (m *Manager) dialect(name string) *dialect.Dialect {
	if i := slices.IndexFunc(m.cfg.Dialects, func(d *dialect.Dialect) bool { return d.Name == name }); i >= 0 {
		return m.cfg.Dialects[i]
	}
	if d, err := dialect.Named(name); err == nil {
		return d
	}
	return m.cfg.Dialects[0]
}

// setLife changes an agent's state. It is called with m.mu held.
func (m *Manager) setLife(c *contact, life AgentLife) {
	if c.life == life || c.life == LifeShutdown {
		return
	}
	c.life = life
	m.changes++
	m.emit(Event{Kind: AgentState, Agent: c.member.id, Role: c.member.role, Name: c.member.reg.Name, State: life})
}

// alive notes that an agent was heard of. It is called with m.mu held.
func (m *Manager) alive(c *contact) {
	m.setLife(c, LifeActive)
	c.gone = false
	if c.dead && !c.unable {
		c.dead = false
		m.changes++
		c.stale = c.stale || c.member.load > 0
		m.wakeDriver()
	}
}

// suspend notes that an agent could not be reached. Nobody waits for what
// it still has in its queue. It is called with m.mu held.
func (m *Manager) suspend(c *contact, err error) {
	if c.life != LifeSuspended { // events say so, and a warning if the last attempt fails
		m.cfg.Log.Info("agent not reachable", "agent", c.member.id, "name", c.member.reg.Name, "url", c.peer.URL, "error", err)
	}
	m.setLife(c, LifeSuspended)
	for _, l := range c.queue {
		l.count(c.member.id, false)
	}
}

// giveUp gives a referee up until it is heard of, so that its matches go to
// another. Where there is no other, it is tried again after a while, which is
// twice as long each time that it has refused. It is called with m.mu held.
func (m *Manager) giveUp(c *contact) {
	c.dead = true
	m.changes++
	m.arm(c, (m.cfg.Timeout+m.cfg.Backoff.Most)<<min(c.refusals, 10))
	m.wakeDriver()
}

// arm sets the time until a referee that owes reports is looked at. It is
// called with m.mu held.
func (m *Manager) arm(c *contact, d time.Duration) {
	if m.stopped {
		return
	}
	c.armed, c.patience = time.Now(), d
	if c.deadline == nil {
		c.deadline = time.AfterFunc(d, func() { m.overdue(c) })
		return
	}
	c.deadline.Reset(d)
}

// overdue is called when a referee's deadline has passed.
func (m *Manager) overdue(c *contact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || c.member.load == 0 || time.Since(c.armed) < c.patience {
		return
	}
	c.late = true
	m.wakeDriver()
}

// reached reports whether an agent was there, whatever it answered.
func reached(err error) bool {
	if err == nil {
		return true
	}
	_, refused := errors.AsType[*dialect.Refusal](err)
	_, bad := errors.AsType[*protocol.Error](err)
	return refused || bad
}

// harmless reports whether an error answers a notification as well as an
// acknowledgement does: the agent has no use for messages of the kind.
func harmless(err error) bool {
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	return ok && refusal.RPC == protocol.RPCMethodNotFound
}

// early reports whether an agent refuses a message as one does that has not
// read the answer to its registration yet.
func early(err error) bool {
	switch wire.CodeOf(err) {
	case protocol.CodeTokenMissing, protocol.CodeTokenInvalid, protocol.CodePlayerNotRegistered:
		return true
	}
	return false
}

// pause waits before the next attempt at a notification. It returns false if there
// is to be none.
func pause(ctx context.Context, l *notification, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.superseded:
		return false
	case <-ctx.Done():
		return false
	}
}
