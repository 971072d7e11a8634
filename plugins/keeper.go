package plugins

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// keeper starts the process of a plugin when it is needed, and again when it
// has failed, but not for ever.
type keeper struct {
	config Config
	turn   chan struct{} // held by whoever looks after the process
	trial  sync.RWMutex  // held for writing by whoever must be alone in the process

	mu      sync.Mutex
	process *process // nil until it is started
	aside   error    // it is not started any more
	failed  int      // how often it has, by its own fault
	starts  int
	users   int // factories that are not closed
	spent   time.Duration
	peak    uint64 // bytes
}

// get returns a process that is of use, if need be after a start.
func (k *keeper) get(ctx context.Context) (*process, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	p, aside := k.process, k.aside
	k.mu.Unlock()
	if aside != nil {
		return nil, aside
	}
	if p != nil {
		if p.reason() == nil {
			return p, nil
		}
		k.bury(p)
	}
	return k.restart(ctx)
}

// bury takes down a process that is out of use.
func (k *keeper) bury(p *process) {
	peak := p.child.peak()
	p.stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process = nil
	k.spent += p.spent()
	k.peak = max(k.peak, peak)
	if p.blamed() {
		k.failed++
		k.config.Log.Warn("the plugin has failed", "plugin", k.config.Name, "times", k.failed, "why", p.reason())
	}
}

// restart starts the process, after the pause that it has earned.
func (k *keeper) restart(ctx context.Context) (*process, error) {
	for {
		if err := k.putAside(nil); err != nil {
			return nil, err
		}
		if err := k.pause(ctx); err != nil {
			return nil, err
		}
		p, err := start(ctx, &k.config)
		k.mu.Lock()
		if err == nil {
			k.process = p
			k.starts++
			k.mu.Unlock()
			return p, nil
		}
		k.failed++
		k.mu.Unlock()
		if ctx.Err() != nil {
			return nil, err
		}
		if aside := k.putAside(err); aside != nil {
			return nil, aside
		}
	}
}

// putAside gives the plugin up if it has failed too often.
func (k *keeper) putAside(last error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.aside != nil || k.failed <= k.config.Restarts {
		return k.aside
	}
	k.aside = fmt.Errorf("%w: plugin %s has failed %d times, after %d restarts", strategies.ErrPutAside, k.config.Name, k.failed, k.failed-1)
	if last != nil {
		k.aside = fmt.Errorf("%w, the last time: %w", k.aside, last)
	}
	k.config.Log.Error("the plugin is put aside", "plugin", k.config.Name, "failed", k.failed)
	return k.aside
}

// pause waits before a restart, the longer the more there were.
func (k *keeper) pause(ctx context.Context) error {
	k.mu.Lock()
	failed := k.failed
	k.mu.Unlock()
	if failed == 0 || k.config.Backoff < 0 {
		return nil
	}
	timer := time.NewTimer(k.config.Backoff << min(failed-1, 6))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave is told of every factory that is closed. The last one ends the process.
func (k *keeper) leave() {
	k.mu.Lock()
	k.users--
	last := k.users == 0
	k.mu.Unlock()
	if !last {
		return
	}
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	k.mu.Lock()
	p := k.process
	k.aside = errEnded
	k.mu.Unlock()
	if p != nil {
		k.bury(p)
	}
}
