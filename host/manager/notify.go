package manager

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// notification is a message on its way to one agent. Each agent gets its notifications
// one after another. An agent that cannot be reached has at most one notification of
// each type waiting: a newer one takes the place of the older.
type notification struct {
	kind protocol.Type
	// write makes a new message for each attempt, with m.mu held. Without a
	// message there is nothing to say any more.
	write        func(c *contact) protocol.Message
	fanout       *fanout
	counted      bool          // fanout has counted it
	superseded   chan struct{} // closed when a newer notification has taken its place
	isSuperseded bool
}

// fanout counts the first attempts at a message that goes to many.
type fanout struct {
	open          int
	acked         int
	missing       []string
	done          chan struct{} // closed when open is 0
	notifications []*notification
	ids           []string // of the agents that get the notifications
}

// count counts a notification, once. It is called with m.mu held.
func (n *notification) count(id string, acked bool) {
	if n.counted {
		return
	}
	n.counted = true
	f := n.fanout
	if acked {
		f.acked++
	} else {
		f.missing = append(f.missing, id)
	}
	if f.open--; f.open == 0 {
		close(f.done)
	}
}

// supersede says that no further attempt at the notification is to be made. It is
// called with m.mu held.
func (n *notification) supersede() {
	if !n.isSuperseded {
		n.isSuperseded = true
		close(n.superseded)
	}
}

// send puts a message to many agents on its way. It is called with m.mu held.
func (m *Manager) send(kind protocol.Type, to []*contact, build func(c *contact) protocol.Message) *fanout {
	if out := func(c *contact) bool { return !notifies(c, kind) }; slices.ContainsFunc(to, out) {
		to = slices.DeleteFunc(slices.Clone(to), out)
	}
	f := &fanout{open: len(to) + 1, done: make(chan struct{}), notifications: make([]*notification, len(to)), ids: make([]string, len(to))}
	for i, c := range to {
		n := &notification{kind: kind, write: build, fanout: f, superseded: make(chan struct{})}
		f.notifications[i], f.ids[i] = n, c.member.id
		m.enqueue(c, n)
	}
	if f.open--; f.open == 0 {
		close(f.done)
	}
	return f
}

// enqueue puts a notification into an agent's queue. It is called with m.mu held.
func (m *Manager) enqueue(c *contact, n *notification) {
	// The end of the league is all that a player that is gone still needs, and the
	// manager waits for it.
	replaces := func(old *notification) bool {
		return old.kind == n.kind || c.gone && n.kind == protocol.TypeLeagueCompleted
	}
	c.queue = slices.DeleteFunc(c.queue, func(old *notification) bool {
		if !replaces(old) {
			return false
		}
		old.count(c.member.id, false)
		return true
	})
	if c.current != nil && replaces(c.current) {
		c.current.supersede()
	}
	if c.life == LifeSuspended || m.stopped {
		n.count(c.member.id, false)
	}
	if m.stopped {
		return
	}
	c.queue = append(c.queue, n)
	if !c.running {
		c.running = true
		m.busy++
		m.startDelivery(c)
	}
}

// startDelivery has an agent's queue delivered. The goroutine that does so stays for the next
// notification, as a new goroutine would have to grow its stack first. It is called
// with m.mu held.
func (m *Manager) startDelivery(c *contact) {
	if c.wake != nil {
		c.wake <- struct{}{} // the goroutine is idle
		return
	}
	c.wake = make(chan struct{}, 1)
	m.background.Go(func() {
		for {
			m.deliver(c)
			select {
			case <-c.wake:
			case <-m.ctx.Done():
				return
			}
		}
	})
}

// wait returns when everybody has had an attempt at the message, or is not
// waited for, or the time is up.
func (m *Manager) wait(f *fanout) {
	timer := time.NewTimer(m.cfg.Timeout)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-m.ctx.Done():
	}
}

// close ends a fanout and reports it. It is called with m.mu held.
func (m *Manager) close(kind protocol.Type, round int, f *fanout) {
	for i, n := range f.notifications {
		n.count(f.ids[i], false)
	}
	slices.Sort(f.missing)
	m.emit(Event{Kind: Notified, Message: kind, Round: round, Acked: f.acked, Missing: f.missing})
}

// deliver empties an agent's queue.
func (m *Manager) deliver(c *contact) {
	for {
		m.mu.Lock()
		if len(c.queue) == 0 || m.stopped {
			for _, n := range c.queue {
				n.count(c.member.id, false)
			}
			c.queue, c.current, c.running = nil, nil, false
			if m.busy--; m.busy == 0 {
				m.wakeDriver()
			}
			m.mu.Unlock()
			return
		}
		c.current = c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		n := c.current
		m.mu.Unlock()
		m.try(c, n)
		m.deliverEvents()
	}
}

// try sends a notification until it is delivered or given up.
func (m *Manager) try(c *contact, n *notification) {
	for retry := 1; ; retry++ {
		m.mu.Lock()
		limit := m.cfg.Timeout
		if c.member.status != "" { // it may hang, and the manager's end waits for it
			limit /= 10
		}
		ctx, cancel := context.WithTimeout(m.ctx, limit)
		peer, message, reports := c.peer, n.write(c), c.reports
		once := (c.gone || c.member.status != "") && n.kind == protocol.TypeLeagueCompleted
		c.abort = cancel
		if message == nil || !notifies(c, n.kind) {
			message = nil
			n.count(c.member.id, true)
		}
		m.mu.Unlock()
		if message == nil {
			cancel()
			return
		}
		answer, err := m.cfg.Caller.Call(ctx, peer, message)
		aborted := errors.Is(ctx.Err(), context.Canceled) && m.ctx.Err() == nil
		cancel()
		if aborted {
			return // the player is taken out
		}
		if err == nil && m.cfg.Mode == protocol.Strict && answer.Head().Flaw != nil {
			err = answer.Head().Flaw
		}
		if errors.Is(err, wire.ErrPartly) {
			m.assignedPartly(c, reports)
			err = nil
		}
		if err == nil {
			m.noteVerdict(c, message, answer)
		}
		again := m.attempted(c, n, answer, err)
		m.deliverEvents()
		delay, more := agent.Delay(m.cfg.Backoff, retry, err)
		if again && more && !once && pause(m.ctx, n, delay) {
			continue
		}
		if again && (!more || once) {
			m.cfg.Log.Warn("notification abandoned",
				"agent", c.member.id, "message", string(n.kind), "attempts", retry, "error", err)
			m.lost(c, n, err)
		}
		return
	}
}

// attempted notes how an attempt ended, and reports whether another
// one may be made.
func (m *Manager) attempted(c *contact, n *notification, answer protocol.Message, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		n.count(c.member.id, false)
		return false
	}
	announcement := n.kind == protocol.TypeRoundAnnouncement
	refused := announcement && c.member.load > 0 && err != nil && !wire.Retryable(err) && !early(err) && (!harmless(err) || m.foreign(c))
	switch {
	case !reached(err):
		m.suspend(c, err)
	case refused && c.dead:
		m.setLife(c, LifeActive) // it is there, and stays given up
	default:
		m.alive(c)
	}
	if reached(err) && n.kind == protocol.TypeLeagueCompleted {
		m.setLife(c, LifeShutdown)
	}
	n.count(c.member.id, err == nil && m.acknowledges(c, answer))
	switch {
	case refused && reached(err):
		m.cfg.Log.Warn("a referee refuses its matches", "referee", c.member.id, "error", err)
		m.refuses(c, err)
		return false
	case err == nil || harmless(err):
		if announcement && c.member.load > 0 {
			m.arm(c, m.reportTime(c))
		}
		return false
	case wire.Retryable(err) || announcement && early(err):
		return true
	}
	m.declined.Note(m.cfg.Log, "agent refuses a notification", c.member.id, string(n.kind), err)
	if announcement && c.member.load > 0 {
		m.giveUp(c)
	}
	return false
}

// acknowledges reports whether an answer is the agent's own acknowledgement. That
// it came back from the agent's endpoint is enough for a tolerant manager.
func (m *Manager) acknowledges(c *contact, answer protocol.Message) bool {
	ack, ok := answer.(*protocol.Ack)
	if !ok || m.cfg.Mode == protocol.Tolerant {
		return ok
	}
	for _, id := range []string{ack.PlayerID, ack.RefereeID} {
		if id != "" && id != c.member.id {
			m.cfg.Log.Warn("acknowledgement names another agent", "agent", c.member.id, "named", id)
			return false
		}
	}
	return true
}

// lost notes that a notification was given up after its last attempt.
func (m *Manager) lost(c *contact, n *notification, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// A referee stays until it hears of the end.
	c.gone = !reached(err) && c.member.role == protocol.RolePlayer
	switch {
	case n.kind != protocol.TypeRoundAnnouncement || c.member.load == 0:
	case reached(err):
		m.refuses(c, err)
	default:
		m.giveUp(c)
	}
}
