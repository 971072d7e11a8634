package experiments

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/strategylab/strategylab/host/results"
)

// over reports whether the run needs no further league.
func (r *run) over() bool { return r.stopped || r.prefix.Leagues() == r.total }

// schedule keeps workers busy and records their leagues until the run is over,
// fails, or ctx is done.
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

// dispatch puts the next leagues into free chunks. Chunks end at multiples of
// their size, also after a resumption. Before the early checkpoints they are small
// enough for every worker to have one, end there, and wait for its decision: a player
// that always uses up its time would do so in vain. Later ones are not worth splitting
// a large block of leagues, or waiting.
func (r *run) dispatch() {
	for len(r.free) > 0 && r.next < r.total {
		size, end, parallel := r.size, r.total, r.workers
		if r.elastic != nil {
			var ok bool
			if size, parallel, ok = r.stretch(); !ok {
				return
			}
		}
		if previous, checkpoint := r.prefix.checkpoints(r.next); checkpoint-previous < Checkpoint {
			if r.prefix.Leagues() < previous {
				return
			}
			size, end = max(1, min(size, (checkpoint-previous)/parallel)), min(end, checkpoint)
		}
		n := min(size-r.next%size, end-r.next)
		c := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		if cap(c.leagues) < n {
			c.leagues = make([]results.League, size)
		}
		c.first, c.leagues, c.from = r.next, c.leagues[:n], 0
		r.next += n
		r.send(c)
	}
}

// send queues the unrecorded leagues of a chunk, with the current quarantine. After
// the workers have stopped it drops them.
func (r *run) send(c *chunk) {
	if r.closed {
		return
	}
	c.played, c.err = c.from, nil
	c.quarantined, c.version = r.prefix.quarantined, r.version.Load()
	r.todo <- c
}

// stale reports whether the quarantine has changed since c was sent. Then none of
// its unrecorded leagues counts: all come after the checkpoint that changed it. It
// is safe for concurrent use.
func (r *run) stale(c *chunk) bool { return c.version != r.version.Load() }

// accept receives a played chunk and records the leagues that are ready.
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

// keep holds the complete leagues of a chunk until their turn.
func (r *run) keep(c *chunk) {
	if c.from < c.played && !r.stale(c) {
		r.ready[c.first+c.from] = c
	}
}

// record passes on all leagues whose turn has come.
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

func (r *run) recordOne(c *chunk) error {
	l := &c.leagues[c.from]
	if want := c.first + c.from; l.Index != want {
		return fmt.Errorf("record league %d: worker returned league %d", want, l.Index)
	}
	if err := r.prefix.check(l); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	r.prefix.decideByTime(l)
	r.prefix.annotate(l)
	if err := r.sink.Append(l); err != nil {
		return fmt.Errorf("record league %d: %w", l.Index, err)
	}
	if err := r.prefix.Add(l); err != nil {
		return fmt.Errorf("record league %d: %w", l.Index, err)
	}
	r.version.Store(int64(len(r.prefix.quarantineOrder)))
	c.from++
	r.stopped = r.asksToStop()
	return nil
}

func (r *run) resendReady() {
	for first, c := range r.ready {
		delete(r.ready, first)
		r.send(c)
	}
}

// asksToStop reports whether Stop ends the run now.
func (r *run) asksToStop() bool {
	n := r.prefix.Leagues()
	return r.stop != nil && n > 0 && n%r.every == 0 && r.stop(n)
}

// drain records the leagues that were complete when err stopped the workers. It
// returns the error of the run, or nil if no league is missing.
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

// Elastic is an optional extension of Driver, for one whose workers come and go while a
// run plays. Config.Workers is then the largest number of chunks in progress.
type Elastic interface {
	Driver
	// Next returns how large the next chunk should be, with this many leagues left, and
	// how many chunks should be in progress. Both are at least 1; Run never plays more
	// than Block leagues in a chunk. Only the goroutine of Run calls it.
	Next(left int) (leagues, chunks int)
}

// elasticMemory bounds the leagues, in bytes, that are played before an earlier one is:
// one chunk may take long, when its worker dies.
const elasticMemory = 256 << 20

// LeagueBytes returns the memory of a league that was played, roughly.
func LeagueBytes(players, legs int) int {
	const league, seat = 80, 8
	return league + seat*players + matchBytes*legs*players*(players-1)/2
}

// stretch returns the size of the next chunk and the number of chunks that should be in
// progress; false if that many are, or if too many leagues wait for an earlier one. Sizes
// are powers of two, because chunks end at multiples of their size.
func (r *run) stretch() (size, parallel int, ok bool) {
	size, parallel = r.elastic.Next(r.total - r.next)
	inProgress := cap(r.todo) - len(r.free) - len(r.ready)
	if inProgress >= max(1, parallel) || r.next-r.prefix.Leagues() > r.ahead {
		return 0, 0, false
	}
	size = max(1, min(size, r.size))
	return 1 << (bits.Len(uint(size)) - 1), max(1, parallel), true
}
