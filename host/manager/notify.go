package manager

import (
	"context"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// letter is a notification on its way to one agent. Each agent gets its letters
// one after another. An agent that cannot be reached has at most one letter of
// each type waiting: a newer one takes the place of the older.
type letter struct {
	kind protocol.Type
	// build writes the message anew for each attempt, with m.mu held. Without a
	// message there is nothing to say any more.
	build    func(c *contact) protocol.Message
	tally    *tally
	settled  bool          // tally has counted it
	outdated chan struct{} // closed when a newer letter has taken its place
	replaced bool
}

// tally counts the first attempts at a message that goes to many.
type tally struct {
	open    int
	acked   int
	missing []string
	done    chan struct{} // closed when open is 0
	letters []*letter
	ids     []string // whom letters go to
}

// settle counts a letter, once. It is called with m.mu held.
func (l *letter) settle(id string, acked bool) {
	if l.settled {
		return
	}
	l.settled = true
	t := l.tally
	if acked {
		t.acked++
	} else {
		t.missing = append(t.missing, id)
	}
	if t.open--; t.open == 0 {
		close(t.done)
	}
}

// replace says that no further attempt at the letter is to be made. It is
// called with m.mu held.
func (l *letter) replace() {
	if !l.replaced {
		l.replaced = true
		close(l.outdated)
	}
}

// send puts a message to many agents on its way. It is called with m.mu held.
func (m *Manager) send(kind protocol.Type, to []*contact, build func(c *contact) protocol.Message) *tally {
	t := &tally{open: len(to) + 1, done: make(chan struct{}), letters: make([]*letter, len(to)), ids: make([]string, len(to))}
	for i, c := range to {
		l := &letter{kind: kind, build: build, tally: t, outdated: make(chan struct{})}
		t.letters[i], t.ids[i] = l, c.agent.id
		m.post(c, l)
	}
	if t.open--; t.open == 0 {
		close(t.done)
	}
	return t
}

// post puts a letter into an agent's queue. It is called with m.mu held.
func (m *Manager) post(c *contact, l *letter) {
	c.queue = slices.DeleteFunc(c.queue, func(old *letter) bool {
		if old.kind != l.kind {
			return false
		}
		old.settle(c.agent.id, false)
		return true
	})
	if c.current != nil && c.current.kind == l.kind {
		c.current.replace()
	}
	if c.life == LifeSuspended || m.stopped {
		l.settle(c.agent.id, false)
	}
	if m.stopped {
		return
	}
	c.queue = append(c.queue, l)
	if !c.running {
		c.running = true
		m.busy++
		m.employ(c)
	}
}

// employ has an agent's queue delivered. Whoever does it stays for the next
// letter, as a new goroutine would have to grow its stack first. It is called
// with m.mu held.
func (m *Manager) employ(c *contact) {
	if c.courier != nil {
		c.courier <- struct{}{} // who delivers is idle
		return
	}
	c.courier = make(chan struct{}, 1)
	m.background.Go(func() {
		for {
			m.deliver(c)
			select {
			case <-c.courier:
			case <-m.ctx.Done():
				return
			}
		}
	})
}

// wait returns when everybody has had an attempt at the message, or is not
// waited for, or the time is up.
func (m *Manager) wait(ctx context.Context, t *tally) {
	timer := time.NewTimer(m.cfg.Timeout)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// close ends a tally and tells of it. It is called with m.mu held.
func (m *Manager) close(kind protocol.Type, round int, t *tally) {
	for i, l := range t.letters {
		l.settle(t.ids[i], false)
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
				l.settle(c.agent.id, false)
			}
			c.queue, c.current, c.running = nil, nil, false
			if m.busy--; m.busy == 0 {
				m.poke()
			}
			m.mu.Unlock()
			return
		}
		c.current = c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		l := c.current
		m.mu.Unlock()
		m.try(c, l)
		m.tell()
	}
}

// try makes attempts at a letter until it is delivered or given up.
func (m *Manager) try(c *contact, l *letter) {
	for retry := 1; ; retry++ {
		m.mu.Lock()
		peer, message := c.peer, l.build(c)
		m.mu.Unlock()
		if message == nil {
			m.spare(c, l)
			return
		}
		ctx, cancel := context.WithTimeout(m.ctx, m.cfg.Timeout)
		answer, err := m.cfg.Caller.Call(ctx, peer, message)
		cancel()
		again := m.attempted(c, l, answer, err)
		m.tell()
		delay, more := agent.Delay(m.cfg.Backoff, retry, err)
		if again && more && pause(m.ctx, l, delay) {
			continue
		}
		if again && !more {
			m.cfg.Log.Warn("an agent was not told, and will not be tried again",
				"agent", c.agent.id, "message", string(l.kind), "attempts", retry, "error", err)
			m.lost(c, l)
		}
		return
	}
}

// attempted takes note of how an attempt ended, and reports whether another
// one may be made.
func (m *Manager) attempted(c *contact, l *letter, answer protocol.Message, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		l.settle(c.agent.id, false)
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
	l.settle(c.agent.id, err == nil && m.acknowledges(c, answer))
	switch {
	case err == nil || harmless(err):
		if announcement && c.agent.load > 0 {
			m.arm(c, m.cfg.MatchDeadline)
		}
		return false
	case wire.Retryable(err) || announcement && early(err):
		return true
	}
	m.cfg.Log.Warn("an agent refuses a message", "agent", c.agent.id, "message", string(l.kind), "error", err)
	if announcement && c.agent.load > 0 {
		m.bury(c)
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
		if id != "" && id != c.agent.id {
			m.cfg.Log.Warn("an acknowledgement names another agent", "agent", c.agent.id, "named", id)
			return false
		}
	}
	return true
}

// spare takes note that a letter had nothing to say when its turn came.
func (m *Manager) spare(c *contact, l *letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.settle(c.agent.id, true)
}

// lost takes note that a letter was given up after its last attempt.
func (m *Manager) lost(c *contact, l *letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.kind == protocol.TypeRoundAnnouncement && c.agent.load > 0 {
		m.bury(c)
	}
}
