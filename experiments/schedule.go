package experiments

import (
	"context"
	"fmt"
)

// over reports whether the run needs no further league.
func (r *run) over() bool { return r.stopped || r.prefix.Leagues() == r.total }

// schedule keeps workers busy and records what they return until the run is
// over, ctx is done or something fails.
func (r *run) schedule(ctx context.Context) error {
	for !r.over() {
		r.dispatch()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c := <-r.done:
			err := r.accept(c)
			if err != nil && ctx.Err() != nil && !r.broken {
				return context.Cause(ctx)
			}
			if err != nil {
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
		c.first, c.leagues, c.from = r.next, c.leagues[:n], 0
		r.next += n
		r.send(c)
	}
}

// send has the leagues of a chunk played that are not recorded, under the set
// of players put aside that now holds. After the workers have stopped it drops
// them.
func (r *run) send(c *chunk) {
	if r.closed {
		return
	}
	c.played, c.err = c.from, nil
	c.barred, c.version = r.prefix.barred, len(r.prefix.quarantined)
	r.todo <- c
}

// stale reports whether the set of players put aside has changed since c was
// sent. Then none of its leagues counts: all that are not recorded come after
// the checkpoint that changed it.
func (r *run) stale(c *chunk) bool { return c.version != len(r.prefix.quarantined) }

// accept takes back a chunk and records what is ready.
func (r *run) accept(c *chunk) error {
	if c.err == nil && r.stale(c) {
		r.send(c)
		return nil
	}
	r.keep(c)
	if c.err != nil {
		return c.err
	}
	return r.record()
}

// keep holds the complete leagues of a chunk until their turn comes.
func (r *run) keep(c *chunk) {
	if c.from < c.played && !r.stale(c) {
		r.ready[c.first+c.from] = c
	}
}

// record hands on all leagues whose turn has come.
func (r *run) record() error {
	first := r.prefix.Leagues()
	for c := r.ready[first]; c != nil && !r.over(); c = r.ready[r.prefix.Leagues()] {
		delete(r.ready, c.first+c.from)
		for c.from < c.played && !r.stale(c) && !r.over() {
			if err := r.recordOne(c); err != nil {
				r.broken = true
				return err
			}
		}
		switch {
		case c.from == len(c.leagues):
			r.free = append(r.free, c)
		case r.stale(c):
			r.send(c)
		}
		if r.stale(c) {
			r.resendReady()
		}
	}
	if r.prefix.Leagues() == first {
		return nil
	}
	if err := flush(r.sink); err != nil {
		r.broken = true
		return fmt.Errorf("record leagues up to %d: %w", r.prefix.Leagues()-1, err)
	}
	return nil
}

// recordOne hands on one league.
func (r *run) recordOne(c *chunk) error {
	l := &c.leagues[c.from]
	if want := c.first + c.from; l.Index != want {
		return fmt.Errorf("record league %d: its worker calls it league %d", want, l.Index)
	}
	if err := r.prefix.check(l); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	r.prefix.annotate(l)
	if err := r.sink.Append(l); err != nil {
		return fmt.Errorf("record league %d: %w", l.Index, err)
	}
	if err := r.prefix.Add(l); err != nil {
		return fmt.Errorf("record league %d: %w", l.Index, err)
	}
	c.from++
	r.stopped = r.asksToStop()
	return nil
}

// resendReady has all leagues played again that were ready too early.
func (r *run) resendReady() {
	for first, c := range r.ready {
		delete(r.ready, first)
		r.send(c)
	}
}

// asksToStop asks Stop if this is the time to.
func (r *run) asksToStop() bool {
	n := r.prefix.Leagues()
	return r.stop != nil && n > 0 && n%r.every == 0 && r.stop(n)
}

// drain records what was complete when the workers were stopped because of
// err, and returns the error of the run: none if nothing was missing.
func (r *run) drain(err error) error {
	for len(r.done) > 0 {
		r.keep(<-r.done)
	}
	if rerr := r.record(); rerr != nil {
		return rerr
	}
	if r.over() {
		return nil
	}
	return err
}
