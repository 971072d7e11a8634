package plugins

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/strategies"
)

// supervisor starts the process of a plugin when it is needed, and again when it
// has failed, but not for ever.
type supervisor struct {
	config Config
	turn   chan struct{} // held by whoever looks after the process
	trial  sync.RWMutex  // held for writing by whoever must be alone in the process

	mu          sync.Mutex
	process     *process // nil until it is started
	quarantined error    // it is not started any more
	failed      int      // how often it has, by its own fault
	starts      int
	users       int // factories that are not closed
	spent       time.Duration
	peak        uint64 // bytes
}

// get returns a process that is of use, if need be after a start.
func (k *supervisor) get(ctx context.Context) (*process, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	p, aside := k.process, k.quarantined
	k.mu.Unlock()
	if aside != nil {
		return nil, aside
	}
	if p != nil {
		if p.reason() == nil {
			return p, nil
		}
		k.reap(p)
	}
	return k.restart(ctx)
}

// reap takes down a process that is out of use.
func (k *supervisor) reap(p *process) {
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
func (k *supervisor) restart(ctx context.Context) (*process, error) {
	for {
		if err := k.quarantine(nil); err != nil {
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
		if aside := k.quarantine(err); aside != nil {
			return nil, aside
		}
	}
}

// quarantine gives the plugin up if it has failed too often.
func (k *supervisor) quarantine(last error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.quarantined != nil || k.failed <= k.config.Restarts {
		return k.quarantined
	}
	k.quarantined = fmt.Errorf("%w: plugin %s has failed %d times, after %d restarts", strategies.ErrQuarantined, k.config.Name, k.failed, k.failed-1)
	if last != nil {
		k.quarantined = fmt.Errorf("%w, the last time: %w", k.quarantined, last)
	}
	k.config.Log.Error("the plugin is put aside", "plugin", k.config.Name, "failed", k.failed)
	return k.quarantined
}

// pause waits before a restart, the longer the more there were.
func (k *supervisor) pause(ctx context.Context) error {
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
func (k *supervisor) leave() {
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
	k.quarantined = errEnded
	k.mu.Unlock()
	if p != nil {
		k.reap(p)
	}
}

// Usage is what the processes of a plugin, or of an isolated script, have taken
// and how they have fared.
type Usage struct {
	// Process is what messages call the plugin; strategies of one plugin share it.
	Process string
	// CPU is the processor time of all of them so far, of the one that is
	// running as it has last told, which it does with every answer.
	CPU time.Duration
	// Peak is the most memory that any of them was seen to have resident, in
	// bytes. A process that dies by itself is not looked at again. 0 if none was
	// seen, or the system does not tell.
	Peak uint64
	// Memory is the cap on what a worker takes up for its script, in bytes; 0
	// for a plugin, which has none.
	Memory uint64
	// Starts is how often a process was started, Failed how often one has
	// failed by its own fault.
	Starts, Failed int
	// Aside says that it has failed too often and is not started any more.
	Aside bool
}

// Metered is a factory that knows what its processes have taken. The factories
// that Open returns do. Usage may be called at any time, by anybody.
type Metered interface{ Usage() Usage }

var _ Metered = (*factory)(nil)

// Usage implements Metered.
func (f *factory) Usage() Usage { return f.supervisor.usage() }

func (k *supervisor) usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := Usage{
		Process: k.config.Name, CPU: k.spent, Peak: k.peak, Memory: k.config.Memory,
		Starts: k.starts, Failed: k.failed, Aside: k.quarantined != nil && k.quarantined != errEnded,
	}
	if p := k.process; p != nil {
		u.CPU += p.spent()
		u.Peak = max(u.Peak, p.child.peak())
		if p.blamed() { // and nobody has had need of another since
			u.Failed++
		}
	}
	return u
}

// spent returns the processor time of a process, as it has last told while it
// runs.
func (p *process) spent() time.Duration {
	select {
	case <-p.child.done:
		return time.Duration(p.child.cpu()) * time.Microsecond
	default:
		return time.Duration(p.cpu.Load()) * time.Microsecond
	}
}

// peak returns the most memory that a running process has had resident.
func (c *child) peak() uint64 {
	c.mu.Lock()
	p := c.system
	c.mu.Unlock()
	if p == nil {
		return 0
	}
	select {
	case <-c.done: // its number may be somebody else's by now
		return 0
	default:
		return peakOf(p.Pid)
	}
}

// peakOf returns the most memory that a process has had resident, in bytes. The
// figure that the system gives at the end of a process will not do: it counts
// what the parent had when it started the process. Where there is no /proc it
// returns 0.
func peakOf(pid int) uint64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(status), "\nVmHWM:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); !found || err != nil {
		return 0
	}
	return kib << 10
}
