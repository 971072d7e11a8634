package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/strategylab/strategylab/experiments/chunk"
)

// assignment gives a worker a chunk, or says that it gets no more.
type assignment struct {
	Run     string
	Seq     int64  // grows with each assignment of a run
	Part    string // name of the chunk
	Request chunk.Request
	Again   bool   // somebody had it before
	Aside   string // why the worker gets no more; empty otherwise
}

// report is what a worker says about a chunk; records follow it.
type report struct {
	Part         string
	First, Count int     // leagues of the records
	Took         float64 // seconds of playing
	Error        string  // why the worker could not play it; there are no records then
}

// owed is a chunk that stays owed until right records of it arrive from a worker that was
// given it. All but request, final and except is guarded by the coordinator.
type owed struct {
	request chunk.Request // its quarantine is that of the last name
	final   bool          // it is not rescued
	except  string        // the worker that must not play it, empty for none
	part    string        // its name
	given   map[string]*hold
	blamed  map[string]bool // all workers that ever had it, and whether they failed to deliver
	trials  []trial
	after   time.Time // it is given to nobody before
	queued  bool      // it is in Coordinator.waiting
	inbox   chan arrival
	unread  map[string]int // reports in inbox, by worker
}

// hold is a chunk in the hands of a worker.
type hold struct {
	since, due time.Time
	missed     int // messages of the worker in a row that do not name the chunk
}

// trial is an attempt at a chunk that has failed.
type trial struct {
	worker, why string
	silent      bool // the worker was not heard any more; it may be heard again
}

// arrival is what a call of Play hears of a chunk.
type arrival struct {
	message  *nats.Msg // a report
	poisoned bool      // it has failed too often
	alone    bool      // nobody is there who may play it
}

// member is a worker as the coordinator knows it.
type member struct {
	Presence
	has       map[string]*owed
	delivered int             // chunks since it last failed to deliver one
	strikes   int             // chunks in a row that it did not deliver and another did
	struck    time.Time       // the last of them
	trial     map[string]bool // chunks that it had when it had delivered none
}

// window is the number of chunks that a worker may have: two for each core, but more than
// one only for those that deliver.
func (m *member) window() int { return min(2*m.Cores, 1+2*m.delivered) }

const (
	mostStrikes = 5
	mostTrials  = 8       // chunks of which a late answer is recognized
	mostUnread  = 16      // reports of one worker on a chunk
	mostAside   = 1 << 14 // workers that are remembered as put aside without having played
)

// owe has workers play a chunk.
func (c *Coordinator) owe(o *owed) {
	c.mu.Lock()
	defer c.unlock()
	c.enter(o)
	c.dispatch(time.Now())
}

// enter puts a chunk into the queue under a new name. The caller holds mu.
func (c *Coordinator) enter(o *owed) {
	c.release(o)
	o.request.Quarantined = c.withPoison(o.request.Quarantined, o.request.First)
	c.serial++
	o.part = fmt.Sprintf("%s-%d", c.key.id[:8], c.serial)
	o.given, o.blamed, o.unread, o.trials, o.after = make(map[string]*hold), make(map[string]bool), make(map[string]int), nil, time.Time{}
	c.owed[o.part] = o
	c.wait(o)
}

// forget ends the wait for a chunk.
func (c *Coordinator) forget(o *owed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(o)
}

// release takes a chunk from everybody. The caller holds mu.
func (c *Coordinator) release(o *owed) {
	if c.owed[o.part] != o {
		return
	}
	delete(c.owed, o.part)
	for id := range o.given {
		if m := c.members[id]; m != nil {
			delete(m.has, o.part)
		}
	}
	if o.queued {
		o.queued = false
		c.waiting = slices.DeleteFunc(c.waiting, func(x *owed) bool { return x == o })
	}
}

// wait queues a chunk for a worker, those with the earliest leagues first. The caller
// holds mu.
func (c *Coordinator) wait(o *owed) {
	if o.queued {
		return
	}
	o.queued = true
	at, _ := slices.BinarySearchFunc(c.waiting, o.request.First, func(x *owed, first int) int { return cmp.Compare(x.request.First, first) })
	c.waiting = slices.Insert(c.waiting, at, o)
}

// plays reports whether a worker can be given chunks. The caller holds mu.
func (c *Coordinator) plays(m *member) bool {
	return c.aside[m.ID] == "" && m.Refuses[c.job.Run] == "" && slices.Contains(m.Plays, c.job.Run)
}

// alive reports whether a worker was heard lately.
func (c *Coordinator) alive(m *member, now time.Time) bool {
	return m != nil && now.Sub(m.Heard) <= c.link.config.AckWait
}

// dispatch gives waiting chunks to workers. The caller holds mu.
func (c *Coordinator) dispatch(now time.Time) {
	proven := false
	for _, m := range c.members {
		proven = proven || m.delivered > 0 && c.plays(m) && c.alive(m, now)
	}
	left := c.waiting[:0]
	for _, o := range c.waiting {
		m := c.pick(o, now, proven)
		if m != nil {
			c.give(o, m, now)
		}
		// A chunk of a worker that has delivered nothing yet goes to one that has, as well:
		// nobody waits for a newcomer.
		if o.queued = m == nil || proven && m.delivered == 0; o.queued {
			left = append(left, o)
		}
	}
	clear(c.waiting[len(left):])
	c.waiting = left
}

// pick returns who plays a chunk next, or nil. The caller holds mu.
func (c *Coordinator) pick(o *owed, now time.Time, proven bool) (best *member) {
	if now.Before(o.after) {
		return nil
	}
	copied := false // somebody has it who may yet deliver
	for id, h := range o.given {
		copied = copied || c.alive(c.members[id], now) && now.Before(h.due)
	}
	order := func(m *member) int64 {
		load := int64(len(m.has) * 64 / m.Cores)
		if s := c.shares[m.ID]; len(o.trials) > 0 && s != nil {
			load -= int64(s.Leagues) << 16 // others who say that it cannot be played have delivered less
		}
		if slices.ContainsFunc(o.trials, func(t trial) bool { return t.worker == m.ID }) {
			load += 1 << 60
		}
		if m.delivered == 0 && !copied {
			load -= 1 << 10 // a newcomer gets its one chunk at once
		}
		return load
	}
	for id, m := range c.members {
		switch {
		case !c.plays(m), !c.alive(m, now), id == o.except, o.given[id] != nil, len(m.has) >= m.window(), copied && m.delivered == 0:
		case m.delivered == 0 && proven && len(o.blamed) > 0: // it has waited long enough
		case best == nil || order(m) < order(best):
			best = m
		}
	}
	return best
}

// give gives a chunk to a worker. The caller holds mu.
func (c *Coordinator) give(o *owed, m *member, now time.Time) {
	again := len(o.blamed) > 0
	if again {
		c.status.Redelivered++
	}
	patience := c.patience(o.request.Count) << min(len(o.blamed), 6)
	o.given[m.ID] = &hold{since: now, due: now.Add(patience)}
	o.blamed[m.ID] = false
	m.has[o.part] = o
	if m.delivered == 0 {
		if len(m.trial) >= mostTrials {
			clear(m.trial)
		}
		m.trial[o.part] = true
	}
	c.send(m.ID, assignment{Run: c.job.Run, Part: o.part, Request: o.request, Again: again})
}

// post publishes an assignment. The caller holds mu, so that they stay in order.
func (c *Coordinator) post(worker string, a assignment) {
	a.Seq = c.key.seq.Add(1)
	c.link.tell(c.key, a, "work", worker)
}

// patience is how long a worker may have a chunk of this many leagues before another gets
// it, too: what such chunks take, several times. The caller holds mu.
func (c *Coordinator) patience(leagues int) time.Duration {
	if c.took <= 0 {
		return 2 * c.link.config.AckWait
	}
	const queued, slower = 3, 4
	return c.link.config.AckWait + time.Duration(queued*slower*c.took*float64(leagues)*float64(time.Second))
}

// accept counts a chunk whose records are right, unless it has another name by now.
func (c *Coordinator) accept(o *owed, part, worker string, took float64) bool {
	c.mu.Lock()
	defer c.unlock()
	if c.owed[part] != o {
		return false
	}
	now := time.Now()
	c.heard = now
	for id, failed := range o.blamed {
		h := o.given[id]
		if id != worker && (failed || h != nil && now.After(h.due) && c.alive(c.members[id], now)) {
			c.strike(id, o, now)
		}
	}
	h := o.given[worker]
	c.release(o)
	for i := range o.request.Count {
		delete(c.spans, o.request.First+i)
	}
	c.spans[o.request.First] = span{o.request.First, worker, nameOf(c.members[worker], worker)}
	if m := c.members[worker]; m != nil {
		m.delivered, m.strikes = m.delivered+1, 0
	}
	c.credit(worker, o.request.Count, took, h, now)
	c.dispatch(now)
	return true
}

// strike counts that a worker has not delivered a chunk that another has. One that never
// does is put aside. The caller holds mu.
func (c *Coordinator) strike(id string, o *owed, now time.Time) {
	m := c.members[id]
	if m == nil || o.given[id] != nil && o.given[id].since.Before(m.struck) {
		return // chunks that it had at the same time count once
	}
	m.delivered, m.struck = 0, now
	if m.strikes++; m.strikes >= mostStrikes {
		c.exclude(id, fmt.Sprintf("it took %d chunks in a row and delivered none of them, and others did", mostStrikes))
	}
}

// exclude gives a worker no more chunks. The caller holds mu.
func (c *Coordinator) exclude(id, why string) {
	if c.aside[id] != "" {
		return
	}
	m := c.members[id]
	c.say("aside", "worker %s is put aside: %s", nameOf(m, id), why)
	if c.shares[id] != nil || len(c.shares) < mostMet {
		c.share(id).Aside = why
	}
	for other := range c.aside { // ids cost nothing
		if len(c.aside) >= mostAside && c.shares[other] == nil {
			delete(c.aside, other)
			break
		}
	}
	c.aside[id] = why
	c.send(id, assignment{Run: c.job.Run, Aside: why})
	if m == nil {
		return
	}
	for _, o := range m.has {
		delete(o.given, id)
		c.wait(o)
	}
	clear(m.has)
}

// share returns what a worker has played. The caller holds mu.
func (c *Coordinator) share(id string) *Share {
	s := c.shares[id]
	if s == nil {
		s = &Share{Worker: nameOf(c.members[id], id)}
		c.shares[id] = s
	}
	if m := c.members[id]; m != nil {
		s.Cores, s.Version = m.Cores, m.Version
	}
	return s
}

// credit counts leagues of a worker that were accepted, and learns how long a league
// takes. The worker says so, within what it can have been. The caller holds mu.
func (c *Coordinator) credit(worker string, count int, took float64, h *hold, now time.Time) {
	if h != nil && took > 0 {
		const queued, change = 64, 4
		elapsed := now.Sub(h.since).Seconds()
		seconds := min(max(took, elapsed/queued), elapsed) / float64(count)
		if c.took == 0 {
			c.took = seconds
		}
		c.took += (min(max(seconds, c.took/change), c.took*change) - c.took) / 4
	}
	s := c.share(worker)
	s.Chunks, s.Leagues = s.Chunks+1, s.Leagues+count
}

func nameOf(m *member, id string) string {
	if m == nil || m.Name == "" {
		return id
	}
	return m.Name + " (" + id + ")"
}

// arrive hands a report to the call of Play that waits for it.
func (c *Coordinator) arrive(m *nats.Msg) {
	var r report
	id := senderOf(m)
	if _, err := parse(m, &r); err != nil {
		return
	}
	c.mu.Lock()
	o, w := c.owed[r.Part], c.members[id]
	late := o == nil && w != nil && w.trial[r.Part] && r.Error == ""
	had := false
	if o != nil {
		_, had = o.blamed[id]
		had = had && c.aside[id] == "" && o.unread[id] < mostUnread
	}
	c.mu.Unlock()
	if !late && !had {
		return
	}
	if !verified(m) {
		c.note("forged", "somebody sends records in the name of a worker, with a wrong signature; they are dropped")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if late { // a newcomer that was slower than another has delivered all the same
		delete(w.trial, r.Part)
		w.delivered = max(w.delivered, 1)
		return
	}
	select {
	case o.inbox <- arrival{message: m}:
		o.unread[id]++
	default: // a flood: what is lost in it is given again
	}
}

// notify tells the call of Play that waits for a chunk what has happened to it.
func notify(o *owed, a arrival) {
	select {
	case o.inbox <- a:
	default: // look tells it again
	}
}

// fail counts that a worker could not play a chunk. The caller holds mu.
func (c *Coordinator) fail(o *owed, t trial) {
	o.trials = append(o.trials, t)
	if !t.silent {
		o.blamed[t.worker] = true
	}
	c.take(o, t.worker)
	o.after = time.Now().Add(c.link.config.AckWait / 5)
	if len(o.trials) >= MaxDeliver {
		notify(o, arrival{poisoned: true})
	}
}

// take takes a chunk from a worker. The caller holds mu.
func (c *Coordinator) take(o *owed, id string) {
	delete(o.given, id)
	if m := c.members[id]; m != nil {
		delete(m.has, o.part)
	}
	c.wait(o)
}

// Workers returns the workers that were heard of lately, by name.
func (c *Coordinator) Workers() []Presence {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Presence
	for m := range maps.Values(c.members) {
		list = append(list, m.Presence)
	}
	slices.SortFunc(list, func(a, b Presence) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}
