package workers

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
)

// This file is about fields of hundreds of scripts: what memory a league of them needs, and
// how the one is found that ends a worker, without a process for each.

// What a script keeps, in bytes, about: its machine, and each outcome in its histories.
const (
	seatMemory    = 64 << 10
	outcomeMemory = 2560
)

// A worker has room for histories of smallHistories beside what a script may take up;
// those of larger fields it gets in addition, up to mostHistories in all workers
// together.
const (
	smallHistories = 64 << 20
	mostHistories  = 3 << 30
)

// ErrMemory is wrapped by errors on fields whose leagues need more memory than workers may
// have.
var ErrMemory = fmt.Errorf("a worker may have %d GiB", mostHistories>>30)

// scripts returns the number of players that are scripts of the pool.
func (d *Driver) scripts() (n int) {
	for _, i := range d.request.Players {
		if d.request.Strategies[i].script() != nil {
			n++
		}
	}
	return n
}

// histories returns the memory that a worker needs for the histories of scripts, 0 in
// small fields.
func (d *Driver) histories() uint64 {
	matches := d.request.Plan.Legs * (len(d.request.Plan.Field) - 1)
	need := uint64(d.scripts()) * uint64(d.unit) * uint64(seatMemory+matches*outcomeMemory)
	if need <= smallHistories {
		return 0
	}
	return need
}

// Most returns how many of a number of workers there may be at once: their histories share
// what memory there is.
func (d *Driver) Most(workers int) int {
	if d.request.Histories == 0 {
		return workers
	}
	return max(1, min(workers, int(mostHistories/d.request.Histories)))
}

// mostAlone is the number of strategies up to which each may get a process of its own.
const mostAlone = 32

// large reports whether there are too many scripts for a process each.
func (d *Driver) large() bool { return len(d.distinct) > mostAlone }

// mostUnexplained is how often a worker may die in a part of a run for no reason that is
// found: somebody may kill workers.
const mostUnexplained = 5

// isolateCulprit finds a script that ends a worker in a league, and gives it a process of
// its own: the last one of the fewest with which, in the order of the field, the worker ends.
// Several may end it only together. It reports false if the worker does not end again.
func (w *worker) isolateCulprit(ctx context.Context, league int, quarantined []bool, reason error) (found bool, err error) {
	d := w.driver
	var suspects []int
	d.mu.Lock()
	for i, s := range d.request.Strategies {
		if s.script() != nil && !s.Alone {
			suspects = append(suspects, i)
		}
	}
	d.mu.Unlock()
	at := sort.Search(len(suspects), func(i int) (ends bool) {
		if err == nil {
			ends, err = w.ends(ctx, league, suspects[:i+1], quarantined)
		}
		return ends
	})
	if err != nil {
		return false, err
	}
	culprits := suspects[at:min(at+1, len(suspects))]
	d.blame(league, culprits, reason)
	return len(culprits) > 0, nil
}

// ends reports whether a worker dies in a league in which of the scripts in its process
// only some play.
func (w *worker) ends(ctx context.Context, league int, play []int, quarantined []bool) (bool, error) {
	d := w.driver
	out := slices.Clone(quarantined)
	d.mu.Lock()
	for field, i := range d.request.Players {
		if d.request.Strategies[i].script() != nil && !slices.Contains(play, i) {
			out[field] = true
		}
	}
	d.mu.Unlock()
	_, err := w.play(ctx, league, make([]results.League, 1), out, false)
	if plugins.Died(err) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}
