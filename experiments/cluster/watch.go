package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	stalled   = 10 * time.Second // without right records, after which the screen says so
	stallNote = 20 * time.Second // from one such line to the next
	mostNotes = 5                // of one kind
	mostTold  = 1024
)

// say prints a note when mu is unlocked, and only the first of a kind. The caller holds mu.
func (c *Coordinator) say(kind, format string, args ...any) {
	c.notes[kind]++
	switch n := c.notes[kind]; {
	case n <= mostNotes:
		c.outbox = append(c.outbox, fmt.Sprintf(format, args...))
	case n == mostNotes+1:
		c.outbox = append(c.outbox, "more notes like the last are left out")
	}
}

// once prints a note that is printed once, as long as there are few such. The caller holds mu.
func (c *Coordinator) once(key, kind, format string, args ...any) {
	if c.told[key] {
		return
	}
	if len(c.told) < mostTold {
		c.told[key] = true
	}
	c.say(kind, format, args...)
}

// unlock unlocks mu and prints the notes.
func (c *Coordinator) unlock() {
	notes := c.outbox
	c.outbox = nil
	c.mu.Unlock()
	for _, text := range notes {
		c.link.config.Note("%s", text)
	}
}

// note is say for callers that do not hold mu.
func (c *Coordinator) note(kind, format string, args ...any) {
	c.mu.Lock()
	defer c.unlock()
	c.say(kind, format, args...)
}

// listen starts to hear workers.
func (c *Coordinator) listen() error {
	subscribe := func(s *nats.Subscription, err error) error {
		if err == nil {
			c.subs = append(c.subs, s)
		}
		return err
	}
	asked, ping, err := c.link.pings()
	for _, err := range []error{
		subscribe(c.link.conn.Subscribe(c.link.subject("records", c.job.Run), c.arrive)),
		subscribe(c.link.conn.Subscribe(c.link.subject("worker", "*"), c.meet)),
		subscribe(ping, err),
	} {
		if err != nil {
			return err
		}
	}
	watching, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.watcher.Go(func() { c.watch(watching, asked) })
	c.watcher.Go(func() { c.guard(watching) })
	c.announce()
	c.link.ping() // so that workers say who they are
	return nil
}

// announce tells workers of the run.
func (c *Coordinator) announce() {
	c.Status()
	c.link.tell(c.key, c.announcement(), "run", c.job.Run)
}

// meet hears of a worker.
func (c *Coordinator) meet(msg *nats.Msg) {
	p, ok := hearPresence(msg)
	c.mu.Lock()
	defer c.unlock()
	if !ok {
		var other Presence
		if _, err := parse(msg, &other); err == nil && other.Protocol != Protocol && other.Protocol > 0 {
			c.say("version", "a worker speaks version %d of the cluster's protocol, and this experiment version %d; play with one version on all machines", other.Protocol, Protocol)
		}
		return
	}
	m := c.members[p.ID]
	if m == nil {
		if m = c.join(p.ID); m == nil {
			return
		}
	}
	if p.Seq <= m.Seq {
		return // somebody repeats what it said before
	}
	m.Presence = p
	if why := p.Refuses[c.job.Run]; why != "" && c.aside[p.ID] == "" {
		c.once("refuses "+p.ID+why, "refuses", "worker %s cannot play this run: %s", nameOf(m, p.ID), why)
		c.refused = true
	}
	for part, o := range m.has {
		h := o.given[p.ID]
		switch {
		case h == nil || slices.Contains(p.Chunks, part):
			if h != nil {
				h.missed = 0
			}
		case p.Leaves:
			c.take(o, p.ID)
		case p.Heard.Sub(h.since) > c.link.config.AckWait:
			if h.missed++; h.missed > 1 { // it was lost on the way, or the worker has dropped it
				o.blamed[p.ID] = true
				c.take(o, p.ID)
			}
		}
	}
	if p.Leaves {
		delete(c.members, p.ID)
	}
	m.Presence = p.only(c.job.Run, func(part string) bool { return m.has[part] != nil })
	c.dispatch(p.Heard)
}

// join adds a worker. Where there are too many, one that has delivered nothing goes. The
// caller holds mu.
func (c *Coordinator) join(id string) *member {
	if len(c.members) >= mostMet {
		for other, m := range c.members {
			if m.delivered == 0 && len(m.has) == 0 {
				delete(c.members, other)
				break
			}
		}
	}
	if len(c.members) >= mostMet {
		return nil
	}
	m := &member{has: make(map[string]*owed), trial: make(map[string]bool)}
	c.members[id] = m
	for _, o := range c.owed { // it was not gone
		o.trials = slices.DeleteFunc(o.trials, func(t trial) bool { return t.silent && t.worker == id })
	}
	return m
}

// watch announces the run and gives chunks that are late to others, until ctx is done.
func (c *Coordinator) watch(ctx context.Context, asked <-chan struct{}) {
	tick := time.NewTicker(min(max(c.link.config.AckWait/8, 10*time.Millisecond), 250*time.Millisecond))
	defer tick.Stop()
	var announced, noted time.Time
	back := c.link.reconnection()
	for {
		select {
		case <-ctx.Done():
			return
		case <-back:
			back = c.link.reconnection()
			c.restart()
			c.announce()
			c.link.ping()
		case <-asked:
			c.announce()
			pause(ctx, pingGap)
		case now := <-tick.C:
			if c.link.conn.IsConnected() {
				c.look(now)
			}
			if now.Sub(announced) >= min(announceEvery, c.link.config.AckWait) {
				announced = now
				c.announce()
			}
			if text := c.stall(now); text != "" && now.Sub(noted) >= stallNote {
				noted = now
				c.link.config.Note("%s", text)
			}
		}
	}
}

// restart gives all chunks again, because the broker has lost what was on its way, and
// nobody was heard.
func (c *Coordinator) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, m := range c.members {
		m.Heard = now
		clear(m.has)
	}
	for _, o := range c.owed {
		clear(o.given)
		c.wait(o)
	}
}

// look finds workers that are gone, and chunks that are late.
func (c *Coordinator) look(now time.Time) {
	c.mu.Lock()
	defer c.unlock()
	silent := false
	for id, m := range c.members {
		d := now.Sub(m.Heard)
		silent = silent || d > c.link.config.AckWait/2
		if d <= max(2*c.link.config.AckWait, announceEvery) {
			continue
		}
		for part, o := range m.has {
			if slices.Contains(m.Playing, part) {
				c.fail(o, trial{id, fmt.Sprintf("%s: last heard %v ago", nameOf(m, id), d.Round(time.Second)), true})
			} else {
				c.take(o, id)
			}
		}
		delete(c.members, id)
	}
	for _, o := range c.owed {
		c.lookAt(o, now)
	}
	c.dispatch(now)
	if silent {
		c.link.ping()
	}
}

// lookAt queues a chunk that nobody plays in time. The caller holds mu.
func (c *Coordinator) lookAt(o *owed, now time.Time) {
	if len(o.trials) >= MaxDeliver {
		notify(o, arrival{poisoned: true}) // it may have been lost in a flood
	}
	if o.except != "" && !c.hasOther(o.except) {
		notify(o, arrival{alone: true})
	}
	for id, h := range o.given {
		m := c.members[id]
		if c.alive(m, now) && now.Before(h.due) {
			return
		}
		if c.alive(m, now) {
			c.say("late", "leagues %d to %d are late: worker %s has had them for %v; another gets them as well", o.request.First,
				o.request.First+o.request.Count-1, nameOf(m, id), now.Sub(h.since).Round(time.Second/10))
			h.due = h.due.Add(h.due.Sub(h.since)) // and a third later
			o.blamed[id], m.delivered = true, 0
		}
	}
	c.wait(o)
}

// hasOther reports whether another worker than one can play the run. The caller holds mu.
func (c *Coordinator) hasOther(id string) bool {
	for _, m := range c.members {
		if m.ID != id && c.plays(m) {
			return true
		}
	}
	return false
}

// stall says that nothing has arrived for a while, and why; empty otherwise.
func (c *Coordinator) stall(now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.owed) == 0 || now.Sub(c.heard) < stalled {
		return ""
	}
	text := fmt.Sprintf("nothing has arrived for %v", now.Sub(c.heard).Round(time.Second))
	play, held := 0, 0
	for _, m := range c.members {
		if c.plays(m) {
			play++
		}
		held += min(len(m.has), 1)
	}
	switch {
	case !c.link.conn.IsConnected():
		return text + ": there is no connection to the broker; waiting for it"
	case play == 0 && len(c.members) == 0:
		return text + ": no worker is there; start one"
	case play == 0:
		return fmt.Sprintf("%s: none of %d workers can play this run; start another", text, len(c.members))
	}
	return fmt.Sprintf("%s: %d workers can play this run, and %d of them have chunks; those that are late go to others", text, play, held)
}

// guard keeps what the broker must have for new workers and for --resume, until ctx is
// done: anybody may delete it, and brokers lose disks.
func (c *Coordinator) guard(ctx context.Context) {
	var renewed time.Time
	for pause(ctx, announceEvery) {
		c.mu.Lock()
		refused := c.refused
		c.refused = false
		c.mu.Unlock()
		overwrite := refused && time.Since(renewed) > stalled
		if overwrite {
			renewed = time.Now()
		}
		if !c.link.conn.IsConnected() {
			continue
		}
		switch missing, err := c.store(ctx, overwrite); {
		case ctx.Err() != nil:
		case err != nil:
			c.unkept(err)
		case missing:
			c.note("stored", "the broker has lost plan, scripts or name of the run; they are stored again")
		}
	}
}

// unkept says that the broker does not keep what new workers need.
func (c *Coordinator) unkept(err error) {
	c.note("store", "the broker does not keep plan and scripts of the run, which new workers need (%s); if its disk is full, give it room: they are stored as soon as that is possible",
		plain(strings.TrimSpace(err.Error()), 2*mostText))
}

// Record notes who has played a league, before it is recorded.
func (c *Coordinator) Record(league int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Leagues = league + 1
	s, begins := c.spans[league]
	if !begins {
		return nil // as the league before
	}
	delete(c.spans, league)
	return c.config.Ledger.add(s)
}

// LastStatus returns the state of the run as it was last asked for.
func (c *Coordinator) LastStatus() RunStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Status returns the state of the run.
func (c *Coordinator) Status() RunStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Waiting, c.status.InFlight, c.status.Rate = len(c.waiting), len(c.owed)-len(c.waiting), 0
	for _, m := range c.members {
		if c.plays(m) {
			c.status.Rate += m.Rate
		}
	}
	return c.status
}
