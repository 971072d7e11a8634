package manager

import (
	"context"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// notification is a notification on its way to one agent. Each agent gets its letters
// one after another. An agent that cannot be reached has at most one letter of
// each type waiting: a newer one takes the place of the older.
type notification struct {
	kind protocol.Type
	// write makes a new message for each attempt, with m.mu held. Without a
	// message there is nothing to say any more.
	write        func(c *contact) protocol.Message
	fanout       *fanout
	counted      bool          // tally has counted it
	superseded   chan struct{} // closed when a newer letter has taken its place
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
func (l *notification) count(id string, acked bool) {
	if l.counted {
		return
	}
	l.counted = true
	t := l.fanout
	if acked {
		t.acked++
	} else {
		t.missing = append(t.missing, id)
	}
	if t.open--; t.open == 0 {
		close(t.done)
	}
}

// supersede says that no further attempt at the letter is to be made. It is
// called with m.mu held.
func (l *notification) supersede() {
	if !l.isSuperseded {
		l.isSuperseded = true
		close(l.superseded)
	}
}

// send puts a message to many agents on its way. It is called with m.mu held.
func (m *Manager) send(kind protocol.Type, to []*contact, build func(c *contact) protocol.Message) *fanout {
	t := &fanout{open: len(to) + 1, done: make(chan struct{}), notifications: make([]*notification, len(to)), ids: make([]string, len(to))}
	for i, c := range to {
		l := &notification{kind: kind, write: build, fanout: t, superseded: make(chan struct{})}
		t.notifications[i], t.ids[i] = l, c.member.id
		m.enqueue(c, l)
	}
	if t.open--; t.open == 0 {
		close(t.done)
	}
	return t
}

// enqueue puts a letter into an agent's queue. It is called with m.mu held.
func (m *Manager) enqueue(c *contact, l *notification) {
	c.queue = slices.DeleteFunc(c.queue, func(old *notification) bool {
		if old.kind != l.kind {
			return false
		}
		old.count(c.member.id, false)
		return true
	})
	if c.current != nil && c.current.kind == l.kind {
		c.current.supersede()
	}
	if c.life == LifeSuspended || m.stopped {
		l.count(c.member.id, false)
	}
	if m.stopped {
		return
	}
	c.queue = append(c.queue, l)
	if !c.running {
		c.running = true
		m.busy++
		m.startDelivery(c)
	}
}

// startDelivery has an agent's queue delivered. The goroutine that does so stays for the next
// letter, as a new goroutine would have to grow its stack first. It is called
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
func (m *Manager) wait(ctx context.Context, t *fanout) {
	timer := time.NewTimer(m.cfg.Timeout)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// close ends a fanout and reports it. It is called with m.mu held.
func (m *Manager) close(kind protocol.Type, round int, t *fanout) {
	for i, l := range t.notifications {
		l.count(t.ids[i], false)
	}
	slices.Sort(t.missing)
	m.emit(Event{Kind: Notified, Message: kind, Round: round, Acked: t.acked, Missing: t.missing})
}

// deliver empties an agent's queue.
func (m *Manager) deliver(c *contact) {
	for {
		m.mu.Lock()
		if len(c.queue) == 0 || m.stopped {
			for _, l := range c.queue {
				l.count(c.member.id, false)
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
		l := c.current
		m.mu.Unlock()
		m.try(c, l)
		m.deliverEvents()
	}
}

// try sends a notification until it is delivered or given up.
func (m *Manager) try(c *contact, l *notification) {
	for retry := 1; ; retry++ {
		m.mu.Lock()
		peer, message := c.peer, l.write(c)
		m.mu.Unlock()
		if message == nil {
			m.spare(c, l)
			return
		}
		ctx, cancel := context.WithTimeout(m.ctx, m.cfg.Timeout)
		answer, err := m.cfg.Caller.Call(ctx, peer, message)
		cancel()
		again := m.attempted(c, l, answer, err)
		m.deliverEvents()
		delay, more := agent.Delay(m.cfg.Backoff, retry, err)
		if again && more && pause(m.ctx, l, delay) {
			continue
		}
		if again && !more {
			m.cfg.Log.Warn("a notification is given up",
				"agent", c.member.id, "message", string(l.kind), "attempts", retry, "error", err)
			m.lost(c, l)
		}
		return
	}
}

// attempted notes how an attempt ended, and reports whether another
// one may be made.
func (m *Manager) attempted(c *contact, l *notification, answer protocol.Message, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		l.count(c.member.id, false)
		return false
	}
	if reached(err) {
		m.alive(c)
	} else {
		m.suspend(c, err)
	}
	if reached(err) && l.kind == protocol.TypeLeagueCompleted {
		m.setLife(c, LifeShutdown)
	}
	announcement := l.kind == protocol.TypeRoundAnnouncement
	l.count(c.member.id, err == nil && m.acknowledges(c, answer))
	switch {
	case err == nil || harmless(err):
		if announcement && c.member.load > 0 {
			m.arm(c, m.cfg.MatchDeadline)
		}
		return false
	case wire.Retryable(err) || announcement && early(err):
		return true
	}
	m.cfg.Log.Warn("an agent refuses a message", "agent", c.member.id, "message", string(l.kind), "error", err)
	if announcement && c.member.load > 0 {
		m.giveUp(c)
	}
	return false
}

// acknowledges reports whether an answer is the agent's own acknowledgement.
func (m *Manager) acknowledges(c *contact, answer protocol.Message) bool {
	ack, ok := answer.(*protocol.Ack)
	if !ok {
		return false
	}
	for _, id := range []string{ack.PlayerID, ack.RefereeID} {
		if id != "" && id != c.member.id {
			m.cfg.Log.Warn("an acknowledgement names another agent", "agent", c.member.id, "named", id)
			return false
		}
	}
	return true
}

// spare counts a notification that had nothing to say any more.
func (m *Manager) spare(c *contact, l *notification) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.count(c.member.id, true)
}

// lost notes that a notification was given up after its last attempt.
func (m *Manager) lost(c *contact, l *notification) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.kind == protocol.TypeRoundAnnouncement && c.member.load > 0 {
		m.giveUp(c)
	}
}
