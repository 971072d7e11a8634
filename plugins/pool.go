package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Pool is a number of workers. It is safe for concurrent use. Its processes start when
// they are needed.
type Pool struct {
	config Config
	rest   time.Duration // after which workers without work end; 0 for never

	mu      sync.Mutex
	idle    []*Worker
	resting *time.Timer // ends them
	closed  bool
}

// NewPool returns a pool without processes. A worker that has no work waits for more until
// Close; unless rest is 0, at most for that time.
func NewPool(c Config, rest time.Duration) *Pool {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Pool{config: c, rest: rest}
}

// Log returns the log of the pool.
func (p *Pool) Log() *slog.Logger { return p.config.Log }

// Take returns a worker for one user at a time, started if none waits. The caller gives it
// back.
func (p *Pool) Take(ctx context.Context) (*Worker, error) {
	p.mu.Lock()
	closed := p.closed
	if p.resting != nil {
		p.resting.Stop()
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	if closed {
		return nil, errors.New("start worker: the pool is closed")
	}
	return startWorker(ctx, p.config)
}

// Give returns a worker after its use. One that is dead is dropped.
func (p *Pool) Give(w *Worker) {
	p.mu.Lock()
	keep := !p.closed && !w.Dead()
	if keep {
		p.idle = append(p.idle, w)
		if p.rest > 0 {
			p.resting = time.AfterFunc(p.rest, func() { p.end(false) })
		}
	}
	p.mu.Unlock()
	if !keep {
		w.Close()
	}
}

// Do has a worker carry out a task, and calls each with its outputs as they come; the
// input becomes JSON. The error is the one of Worker.Do.
func (p *Pool) Do(ctx context.Context, task string, input any, each func(output []byte) error) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("task %s: %w", task, err)
	}
	w, err := p.Take(ctx)
	if err != nil {
		return err
	}
	defer p.Give(w)
	return w.Do(ctx, task, body, each)
}

// Close ends the processes that wait for work; the others end when they are given back.
func (p *Pool) Close() error {
	p.end(true)
	return nil
}

// end ends the processes that wait for work, which have nothing to lose.
func (p *Pool) end(closing bool) {
	p.mu.Lock()
	p.closed = p.closed || closing
	if p.resting != nil {
		p.resting.Stop()
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		w.Close()
	}
}
