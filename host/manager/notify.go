package manager

import (
	"context"
	"errors"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// notification is a message on its way to one agent. Each agent gets its notifications
// one after another. An agent that cannot be reached has at most one notification of
// each type waiting: a newer one takes the place of the older.
type notification struct {
	to   *contact
	kind protocol.Type
	// write makes a new message for each attempt, with m.mu held. Without a
	// message there is nothing to say any more.
	write   func(c *contact) protocol.Message
	fanout  *fanout
	counted bool // fanout has counted it
}

// fanout counts the first attempts at a message that goes to many.
type fanout struct {
	open          int
	acked         int
	missing       []string
	done          func() // is called when open is 0
	notifications []*notification
}

// count counts a notification, once. It is called with m.mu held.
func (n *notification) count(acked bool) {
	if n.counted {
		return
	}
	n.counted = true
	f := n.fanout
	if acked {
		f.acked++
	} else {
		f.missing = append(f.missing, n.to.ID)
	}
	if f.open--; f.open == 0 {
		f.done()
	}
}

// send puts a message to many agents on its way. It is called with m.mu held.
func (m *Manager) send(kind protocol.Type, to []*contact, write func(c *contact) protocol.Message) *fanout {
	f := &fanout{done: m.wakeDriver}
	for _, c := range to {
		if !c.notifies(kind) {
			continue
		}
		n := &notification{to: c, kind: kind, write: write, fanout: f}
		f.open++
		f.notifications = append(f.notifications, n)
		m.enqueue(c, n)
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
		if replaces(old) {
			old.count(false)
			return true
		}
		return false
	})
	if c.current != nil && replaces(c.current) {
		c.supersede()
	}
	if c.life == league.Suspended {
		n.count(false)
	}
	if m.ctx.Err() != nil {
		return // and nobody waits
	}
	c.queue = append(c.queue, n)
	if c.running {
		return
	}
	c.running = true
	m.busy++
	if c.wake != nil {
		c.wake <- struct{}{} // the goroutine is idle
		return
	}
	// The goroutine stays for the next notification, as a new one would have to grow its
	// stack first.
	c.wake = make(chan struct{}, 1)
	m.background.Go(func() {
		for {
			for pending, more := m.next(c); more; pending, more = m.next(c) {
				m.try(pending, c, c.current)
				m.deliverEvents()
			}
			select {
			case <-c.wake:
			case <-m.ctx.Done():
				return
			}
		}
	})
}

// next takes the next notification from an agent's queue, if there is one. Its context ends when
// no further attempt at it is to be made.
func (m *Manager) next(c *contact) (pending context.Context, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(c.queue) > 0 && m.ctx.Err() == nil {
		c.current, c.queue = c.queue[0], c.queue[1:]
		pending, c.supersede = context.WithCancel(m.ctx)
		return pending, true
	}
	c.queue, c.current, c.running = nil, nil, false
	if m.busy--; m.busy == 0 {
		m.wakeDriver()
	}
	return nil, false
}

// try sends a notification until it is delivered, superseded or given up.
func (m *Manager) try(pending context.Context, c *contact, n *notification) {
	defer c.supersede()
	attempts, again, last := 0, false, false
	err := agent.Try(pending, agent.RetryPolicy{
		Backoff:   m.cfg.Backoff,
		Retryable: func(error) bool { return again && !last },
		OnFailure: func(a agent.Attempt) { last = a.Last },
	}, func(context.Context) (err error) { // an attempt that is under way goes on
		attempts++
		again, last, err = m.attempt(c, n)
		m.deliverEvents()
		return err
	})
	if again && last {
		m.cfg.Log.Warn("notification abandoned", "agent", c.ID, "message", string(n.kind), "attempts", attempts, "error", err)
		m.lost(c, n, err)
	}
}

// attempt makes one attempt at a notification, and reports whether there may be another
// one, because of err, unless this was the last.
func (m *Manager) attempt(c *contact, n *notification) (again, last bool, err error) {
	m.mu.Lock()
	limit := m.cfg.Timeout
	if c.Status != "" { // it may hang, and the manager's end waits for it
		limit /= 10
	}
	ctx, cancel := context.WithTimeout(m.ctx, limit)
	defer cancel()
	c.abort = cancel
	last = (c.gone || c.Status != "") && n.kind == protocol.TypeLeagueCompleted
	peer, message, reports := c.peer, n.write(c), c.reports
	if message == nil || !c.notifies(n.kind) {
		n.count(true)
		m.mu.Unlock()
		return false, last, nil
	}
	m.mu.Unlock()
	answer, err := m.cfg.Caller.Call(ctx, peer, message)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // the manager ends, or the player is taken out
		return false, last, err
	case errors.Is(err, wire.ErrPartly):
		// The referee gets the others as soon as it has made another report.
		c.partly, err = c.reports == reports, nil
		if !c.partly {
			m.outdateContact(c)
		}
	case err == nil && m.cfg.Mode == protocol.Strict && answer.Head().Flaw != nil:
		err = answer.Head().Flaw
	}
	acked := err == nil && m.acknowledges(c, answer)
	if acked {
		m.noteVerdict(c, message, answer)
	}
	n.count(acked)
	return m.attempted(c, n.kind, err), last, err
}

// attempted notes how an attempt ended, and reports whether another
// one may be made. It is called with m.mu held.
func (m *Manager) attempted(c *contact, kind protocol.Type, err error) bool {
	assigns := kind == protocol.TypeRoundAnnouncement && c.Load > 0
	refused := assigns && err != nil && !wire.Retryable(err) && !early(err) && (!harmless(err) || m.foreign(c))
	switch {
	case !reached(err):
		m.suspend(c, err)
	case refused && c.dead:
		m.setLife(c, league.Active) // it is there, and stays given up
	default:
		m.alive(c)
	}
	if reached(err) && kind == protocol.TypeLeagueCompleted {
		m.setLife(c, league.Shutdown)
	}
	switch {
	case refused && reached(err):
		m.cfg.Log.Warn("a referee refuses its matches", "referee", c.ID, "error", err)
		m.refuses(c, err)
		return false
	case err == nil || harmless(err):
		if assigns {
			m.arm(c, m.reportTime(c))
		}
		return false
	case wire.Retryable(err) || kind == protocol.TypeRoundAnnouncement && early(err):
		return true
	}
	m.declined.Note(m.cfg.Log, "agent refuses a notification", c.ID, string(kind), err)
	if assigns {
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
		if id != "" && id != c.ID {
			m.cfg.Log.Warn("acknowledgement names another agent", "agent", c.ID, "named", id)
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
	c.gone = !reached(err) && c.Role == protocol.RolePlayer
	switch {
	case n.kind != protocol.TypeRoundAnnouncement || c.Load == 0:
	case reached(err):
		m.refuses(c, err)
	default:
		m.giveUp(c)
	}
}

// reached reports whether an agent was there, whatever it answered.
func reached(err error) bool {
	_, refused := errors.AsType[*dialect.Refusal](err)
	_, bad := errors.AsType[*protocol.Error](err)
	return err == nil || refused || bad
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
