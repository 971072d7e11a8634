// Package workers plays leagues in worker processes, so that a script can neither
// end, nor starve, nor block the program that runs the experiment.
//
// A Driver plays leagues in the worker processes of a plugins.Pool, to which the scripts of
// its field belong (plugins.Config.Workers); each serves Tasks. It gets the plan with the
// code of the field once and plays blocks of leagues by package arena.
//
// A worker ends when a script exceeds its memory, when a call ignores its interrupt,
// or when somebody kills it. The pool then starts another. It plays the leagues in which the
// other may have been with every script in a process of its own (package isolate): there
// the script at fault shows itself and loses its league, and all others get the records
// they always get. From then on that script runs in a process of its own. So records
// depend neither on the number of workers nor on the death of any.
package workers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

const (
	// unitMatches is the number of matches that are worth an answer of their own.
	unitMatches = 256
	// requestMatches is the number of matches that are worth a request.
	requestMatches = 2048
	// warnings is the number of ended workers that are no script's fault and that the
	// log shows to people.
	warnings = 3
)

// Driver plays the leagues of a plan in worker processes. It is safe for concurrent
// use.
type Driver struct {
	pool     *plugins.Pool
	distinct []strategies.Factory // of the field
	unit     int
	block    int

	mu      sync.Mutex
	request openRequest
	version int // of request, from 1
	ended   int // workers, by nobody's fault
	usage   []plugins.Usage
}

var _ experiments.Driver = (*Driver)(nil)

// NewDriver returns the driver of a plan; factories are by field index. It returns
// nil if the field has no script of a pool, or a strategy that no worker could make:
// such fields are played in this process.
func NewDriver(plan results.Plan, factories []strategies.Factory) (*Driver, error) {
	d := &Driver{version: 1}
	var batchers bool
	at := make(map[strategies.Factory]int)
	for _, f := range factories {
		i, known := at[f]
		if !known {
			s := strategy{Builtin: f.Info().Name}
			if place, ok := plugins.PlaceOf(f); ok {
				s = strategy{Place: &place}
			} else if !builtin.Own(f) {
				return nil, nil
			}
			if s.script() == nil {
				batchers = batchers || s.Place != nil
			} else if d.pool = s.Place.Config.Workers; d.pool == nil {
				return nil, nil
			}
			i = len(d.distinct)
			at[f], d.distinct, d.request.Strategies = i, append(d.distinct, f), append(d.request.Strategies, s)
		}
		d.request.Players = append(d.request.Players, i)
	}
	if d.pool == nil {
		return nil, nil
	}
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	matches := plan.Legs * len(plan.Field) * (len(plan.Field) - 1) / 2
	if d.unit = max(1, unitMatches/matches); batchers {
		d.unit = arena.Lockstep(true, false)
	}
	d.block = d.unit * max(1, min(requestMatches/matches, experiments.Checkpoint)/d.unit)
	d.request.Plan, d.request.Unit = plan, d.unit
	if d.request.Histories = d.histories(); d.request.Histories > mostHistories {
		return nil, fmt.Errorf("a league of %d players and %d legs needs about %.1f GiB for the histories of its %d scripts, and %w",
			len(plan.Field), plan.Legs, float64(d.request.Histories)/(1<<30), d.scripts(), ErrMemory)
	}
	d.usage = make([]plugins.Usage, len(d.distinct))
	return d, nil
}

// Block implements experiments.Driver: the leagues of one request.
func (d *Driver) Block() int { return d.block }

// Usage returns what the processes of plugins and isolated scripts have used, and the
// calls of scripts that share a process, by field index. They count when their worker is closed.
func (d *Driver) Usage() []plugins.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]plugins.Usage, len(d.request.Players))
	for f, i := range d.request.Players {
		all[f] = sum(d.usage[i], plugins.UsageOf(d.distinct[i]))
	}
	return all
}

func sum(a, b plugins.Usage) plugins.Usage {
	if b.Process != "" {
		a.Process, a.Memory = b.Process, b.Memory
	}
	a.CPU += b.CPU
	a.Busy += b.Busy
	a.Peak = max(a.Peak, b.Peak)
	a.Starts += b.Starts
	a.Failed += b.Failed
	a.Aside = a.Aside || b.Aside
	return a
}

// NewWorker implements experiments.Driver. The worker's process starts with its first
// leagues.
func (d *Driver) NewWorker(ctx context.Context) (experiments.Worker, error) {
	decoder, err := chunk.NewDecoder(d.request.Plan)
	return &worker{driver: d, decoder: decoder}, err
}

// worker is a process with the plan open.
type worker struct {
	driver  *Driver
	process *plugins.Worker // nil until it is needed, and after its death
	version int             // of the request that it has open; 0 for none, isolated for that
	decoder *chunk.Decoder
}

// isolated is the version of a request with every script in a process of its own.
const isolated = -1

// Play implements experiments.Worker. The leagues in which the process may have died are
// played with isolated scripts. If there are too many of them for a process each, it finds
// the league, and in that the scripts that end the process, and gives these processes of
// their own.
func (w *worker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	d := w.driver
	var reason error                                          // of the last death
	for at, suspect, unexplained := 0, 0, 0; at < len(out); { // leagues before suspect may end the process
		to, alone := len(out), at < suspect && !d.large()
		switch {
		case alone:
			to = suspect
		case at < suspect:
			to = at + 1
		}
		played, err := w.play(ctx, first+at, out[at:to], quarantined, alone)
		if at += played; err == nil && alone {
			err = w.blameIsolated(ctx, first+suspect-1, reason)
		}
		if err == nil {
			continue
		}
		if !plugins.Died(err) {
			return err
		}
		found := false
		reason = err
		switch {
		case at >= suspect && !(d.large() && d.unit == 1):
			suspect, found = min(at+d.unit, len(out)), true
		case d.large():
			if found, err = w.isolateCulprit(ctx, first+at, quarantined, reason); err != nil {
				return err
			}
		}
		if !found {
			unexplained++
		}
		if unexplained > mostUnexplained {
			return fmt.Errorf("league %d of this field ends its worker, and no script does so alone: %w; play fewer of them at once", first+at, reason)
		}
	}
	return nil
}

// play has the process play leagues, perhaps with every script in a process of its own, and
// returns how many it has played. A process that dies is forgotten.
func (w *worker) play(ctx context.Context, first int, out []results.League, quarantined []bool, alone bool) (played int, err error) {
	defer func() {
		if plugins.Died(err) {
			w.process = nil
		}
	}()
	if err := w.open(ctx, alone); err != nil {
		return 0, err
	}
	input, err := json.Marshal(chunk.Request{First: first, Count: len(out), Quarantined: quarantined})
	if err != nil {
		return 0, err
	}
	err = w.process.Do(ctx, taskPlay, input, func(records []byte) error {
		unit := out[played:min(played+w.driver.unit, len(out))]
		if err := w.decoder.Decode(records, first+played, unit); err != nil {
			return err
		}
		played += len(unit)
		return nil
	})
	if err == nil && played < len(out) {
		err = fmt.Errorf("worker played %d of %d leagues", played, len(out))
	}
	return played, err
}

// open makes sure that a process has the plan open, with the scripts isolated that
// have to be, or all of them.
func (w *worker) open(ctx context.Context, alone bool) error {
	d := w.driver
	d.mu.Lock()
	request, version := d.request, d.version
	d.mu.Unlock()
	if alone {
		request.Strategies, version = slices.Clone(request.Strategies), isolated
		for i := range request.Strategies {
			request.Strategies[i].Alone = true
		}
	}
	if w.process == nil {
		p, err := d.pool.Take(ctx)
		if err != nil {
			return err
		}
		w.process, w.version = p, 0
	}
	if w.version == version {
		return nil
	}
	if w.version != 0 {
		if _, err := w.closeField(ctx); err != nil {
			return err
		}
	}
	w.version = 0
	input, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if err := w.process.Do(ctx, taskOpen, input, nil); err != nil {
		return err
	}
	w.version = version
	return nil
}

// blameIsolated closes the field after leagues with isolated scripts, the last of which is
// named, and finds out which script has ended a worker there.
func (w *worker) blameIsolated(ctx context.Context, league int, reason error) error {
	used, err := w.closeField(ctx)
	if err != nil {
		return err
	}
	var culprits []int
	for i, u := range used {
		if u.Failed > 0 {
			culprits = append(culprits, i)
		}
	}
	w.driver.blame(league, culprits, reason)
	return nil
}

// blame gives the scripts that have ended a worker a process of their own in every worker.
// The log says once who has; somebody who kills workers must not fill it either.
func (d *Driver) blame(league int, culprits []int, reason error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.Clone(d.request.Strategies) // others send the old one
	var names []string
	for _, i := range culprits {
		if list[i].script() != nil && !list[i].Alone {
			names = append(names, d.distinct[i].Info().Name)
			list[i].Alone = true
		}
	}
	level := slog.LevelWarn
	if names != nil {
		d.request.Strategies = list
		d.version++
	} else if d.ended++; d.ended > warnings {
		level = slog.LevelDebug
	}
	d.pool.Log().Log(context.Background(), level, "worker ended; played on with isolated scripts",
		"league", league, "reason", reason, "by", strings.Join(names, ", "))
}

// closeField has the process close its field, and adds and returns what the processes of
// that have used, by strategy.
func (w *worker) closeField(ctx context.Context) (used []plugins.Usage, err error) {
	w.version = 0
	err = w.process.Do(ctx, taskClose, []byte("{}"), func(body []byte) error {
		if err := json.Unmarshal(body, &used); err != nil || len(used) != len(w.driver.distinct) {
			return fmt.Errorf("unexpected usage %q", body)
		}
		return nil
	})
	d := w.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, u := range used {
		d.usage[i] = sum(d.usage[i], u)
	}
	return used, err
}

// Close implements experiments.Worker. The process returns to the pool.
func (w *worker) Close() error {
	if w.process != nil {
		if w.version != 0 && !w.process.Dead() {
			_, _ = w.closeField(context.Background()) // a process that dies now has nothing to tell
		}
		w.driver.pool.Give(w.process)
		w.process = nil
	}
	return nil
}
