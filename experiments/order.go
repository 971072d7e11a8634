package experiments

import (
	"context"
	"fmt"
)

// schedule keeps workers busy and records what they return until the plan is
// played, ctx is done, Stop says so, or something fails. Only a failure is an
// error.
func (r *run) schedule(ctx context.Context) error {
	for r.prefix.Leagues() < r.total && !r.stopped {
		r.dispatch()
		select {
		case <-ctx.Done():
			return nil
		case c := <-r.done:
			if c.err != nil {
				r.keep(c)
				if ctx.Err() != nil {
					return nil
				}
				return c.err
			}
			r.keep(c)
			if err := r.record(); err != nil {
				return err
			}
		}
	}
	return nil
}

// dispatch gives the next leagues to whoever is free. Chunks end at multiples
// of their size, so that they do so after a resumption as well.
func (r *run) dispatch() {
	for len(r.free) > 0 && r.next < r.total {
		c := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		n := min(r.size-r.next%r.size, r.total-r.next)
		c.first, c.leagues = r.next, c.leagues[:n]
		c.from = 0
		r.next += n
		r.send(c)
	}
}

// send has the leagues of a chunk played that are not recorded, under the set
// of players that now holds.
func (r *run) send(c *chunk) {
	c.played, c.err = c.from, nil
	c.barred, c.version = r.prefix.barred, len(r.prefix.quarantined)
	r.todo <- c
}

// keep holds a chunk that came back until its turn comes. If the players put
// aside have changed since it was sent, none of its leagues counts: all of them
// come after the checkpoint that changed it.
func (r *run) keep(c *chunk) {
	switch {
	case c.leagues == nil: // a worker that did not start
	case c.version != len(r.prefix.quarantined) && c.err == nil:
		r.send(c)
	case c.version == len(r.prefix.quarantined):
		r.ready[c.first+c.from] = c
	}
}

// record hands on the leagues whose turn has come.
func (r *run) record() error {
	any := false
	for c := r.ready[r.prefix.Leagues()]; c != nil && !r.stopped; c = r.ready[r.prefix.Leagues()] {
		delete(r.ready, r.prefix.Leagues())
		if c.from == c.played {
			break // interrupted before its next league
		}
		for changed := false; c.from < c.played && !changed && !r.stopped; {
			var err error
			if changed, err = r.recordOne(c); err != nil {
				return err
			}
			any = true
		}
		r.release(c)
	}
	if any {
		return flush(r.sink)
	}
	return nil
}

// release finds the next use for a chunk some of whose leagues were recorded.
func (r *run) release(c *chunk) {
	switch {
	case c.from == len(c.leagues):
		c.leagues = c.leagues[:cap(c.leagues)]
		r.free = append(r.free, c)
	case c.err != nil || r.stopped:
	case c.version != len(r.prefix.quarantined):
		r.send(c)
		for first, other := range r.ready {
			delete(r.ready, first)
			r.send(other)
		}
	default:
		r.ready[c.first+c.from] = c
	}
}

// recordOne hands on one league and reports whether that changed who is put
// aside.
func (r *run) recordOne(c *chunk) (changed bool, err error) {
	l := &c.leagues[c.from]
	if want := c.first + c.from; l.Index != want {
		return false, fmt.Errorf("record league %d: its worker calls it league %d", want, l.Index)
	}
	r.prefix.annotate(l)
	if err := r.sink.Append(l); err != nil {
		return false, fmt.Errorf("record league %d: %w", l.Index, err)
	}
	if err := r.prefix.Add(l); err != nil {
		return false, fmt.Errorf("record league %d: %w", l.Index, err)
	}
	c.from++
	if r.prefix.Leagues()%Checkpoint == 0 {
		changed = c.version != len(r.prefix.quarantined)
		r.stopped = r.asksToStop()
	}
	return changed, nil
}

// asksToStop asks Stop if this is the time to.
func (r *run) asksToStop() bool {
	n := r.prefix.Leagues()
	return r.stop != nil && n > 0 && n%Checkpoint == 0 && r.stop(n)
}

// drain records what was complete when the workers stopped.
func (r *run) drain(err error) error {
	for len(r.done) > 0 {
		if c := <-r.done; !r.stopped {
			r.keepComplete(c)
		}
	}
	if err == nil && !r.stopped {
		err = r.record()
	}
	return err
}
