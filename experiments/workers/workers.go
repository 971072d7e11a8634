// Package workers plays leagues in worker processes, so that a script can neither
// end, nor starve, nor block the program that runs the experiment.
//
// A Pool starts worker processes, which run this program with the command whose
// main function is Serve. Its Formats load scripts for its Driver. That plays leagues: every worker gets the plan with the
// code of the field once, plays blocks of leagues like package arena does in one
// process, and returns each record as soon as it is played.
//
// # Failures
//
// A worker ends when a script exceeds its memory, when a call ignores its interrupt,
// or when somebody kills it. The pool then starts another. The leagues in which the
// worker may have been are played by this process with every script in a process of
// its own (package isolate): there the script at fault shows itself and loses its
// league, and all others get the records they always get. A script that has ended
// workers in two leagues runs in a process of its own from then on. So records
// depend neither on the number of workers nor on the death of any.
//
// How the processes are started, spoken to and ended is a matter of package plugins.
package workers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Config is the settings of a pool.
type Config struct {
	// Command is the command of a process that calls Serve: a path and its arguments.
	Command []string
	// Isolated is how a script runs in a process of its own. With Describe, that process
	// starts when it is needed. The pool does not limit restarts by default.
	Isolated isolate.Config
	// Env adds "KEY=value" entries to the environment of workers.
	Env []string
	// Log receives why workers ended early; nil discards it.
	Log *slog.Logger
}

// Pool is a number of worker processes. It is safe for concurrent use. Its processes
// start when they are needed; one that has no work waits for more until Close.
type Pool struct {
	config Config

	mu     sync.Mutex
	idle   []*plugins.Worker
	closed bool
}

// NewPool returns a pool without processes.
func NewPool(c Config) *Pool {
	nowhere := slog.New(slog.DiscardHandler)
	c.Log, c.Isolated.Log = cmp.Or(c.Log, nowhere), cmp.Or(c.Isolated.Log, nowhere)
	return &Pool{config: c}
}

// Close ends the processes that wait for work. Close every factory and every worker
// before.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		w.Close() // it has nothing to lose
	}
	return nil
}

// take returns a process for one user at a time, started if none waits.
func (p *Pool) take(ctx context.Context) (*plugins.Worker, error) {
	p.mu.Lock()
	closed := p.closed
	if n := len(p.idle); n > 0 && !closed {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	if closed {
		return nil, errors.New("start worker: the pool is closed")
	}
	return plugins.StartWorker(ctx, plugins.Config{
		Command: p.config.Command, Name: "league worker", Log: p.config.Log, StartTimeout: p.config.Isolated.StartTimeout,
		Env: append([]string{"TMPDIR=" + os.TempDir()}, p.config.Env...), // of its own plugins
	})
}

// give returns a process after its use. One that is dead is dropped.
func (p *Pool) give(w *plugins.Worker) {
	p.mu.Lock()
	keep := !p.closed && !w.Dead()
	if keep {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	if !keep {
		w.Close()
	}
}

// Do runs a task of Serve in a worker process, and calls each with its answers as they
// come; input and answers are JSON. If the worker ends meanwhile, or each fails, the error
// is a *plugins.DeathError.
func (p *Pool) Do(ctx context.Context, task string, input any, each func(answer []byte) error) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("task %s: %w", task, err)
	}
	w, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(w)
	return w.Do(ctx, task, body, each)
}

// Formats returns script formats whose factories belong to the pool: Driver plays
// them in workers; a caller that makes their seats directly gets a process for each
// script. The workers must serve the same formats.
func (p *Pool) Formats(formats []catalog.Format) []catalog.Format {
	isolated := p.config.Isolated
	// A limit for the whole run would depend on which process played which league.
	isolated.Restarts = cmp.Or(isolated.Restarts, math.MaxInt32)
	all := isolate.Formats(formats, isolated)
	for i := range all {
		open := all[i].Load
		all[i].Load = func(ctx context.Context, name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
			f, err := open(ctx, name, path, source, limits)
			if err != nil {
				return nil, err
			}
			return &pooled{f.(isolatedFactory), p}, nil
		}
	}
	return all
}

// isolatedFactory is what package isolate makes.
type isolatedFactory interface {
	strategies.Batcher
	plugins.Metered
}

// pooled is a script of a pool. Its own seats are in a process of the script's own.
type pooled struct {
	isolatedFactory
	pool *Pool
}

// ScriptOf returns the script of a pool's factory and the pool, or nil if the factory
// is another.
func ScriptOf(f strategies.Factory) (*plugins.Script, *Pool) {
	s, ok := f.(*pooled)
	if !ok {
		return nil, nil
	}
	place, _ := plugins.PlaceOf(s.isolatedFactory)
	return place.Config.Script, s.pool
}
