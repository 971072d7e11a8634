package plugins

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// supervisor starts the process of a plugin when it is needed and restarts it
// after failures, up to a limit.
type supervisor struct {
	config Config
	turn   chan struct{} // held while the process is started or stopped
	trial  sync.RWMutex  // held for writing by a step that must be alone in the process
	users  atomic.Int32  // factories that are not closed

	mu          sync.Mutex // of who reads without the turn, and of who writes
	process     *process   // nil until it is started
	quarantined error      // why it is not restarted; nil while it is
	failed      int        // failures of the plugin itself
	stuck       int        // of them, calls that ignored their interrupt
	starts      int
	spent       time.Duration
	peak        uint64 // bytes
}

// get returns a working process, starting it if necessary.
func (k *supervisor) get(ctx context.Context) (*process, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if k.quarantined != nil || k.process != nil && k.process.failure() == nil {
		return k.process, k.quarantined
	}
	if k.process != nil {
		k.reap(k.process)
	}
	return k.restart(ctx)
}

// reap stops a failed process and adds up what it used.
func (k *supervisor) reap(p *process) {
	peak := peakOf(p.child.pid())
	p.stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.process = nil
	k.spent += p.spent()
	k.peak = max(k.peak, peak)
	if why := p.failure(); why != errStopped { // which follows any other
		k.failed++
		if why == errStuck {
			k.stuck++
		}
		level := slog.LevelDebug
		if k.failed&(k.failed-1) == 0 && !k.config.Quiet { // the first, second, fourth, ...: it may do so in every match
			level = slog.LevelWarn
		}
		what := "plugin"
		if k.config.Script != nil {
			what = "script"
		}
		k.config.Log.Log(context.Background(), level, what+" failed", what, k.config.Name, "failures", k.failed, "reason", why)
	}
}

// mostStarts is the number of starts in a row that may fail.
const mostStarts = 100

// restart starts the process, after a backoff if it has failed.
func (k *supervisor) restart(ctx context.Context) (*process, error) {
	var last error
	for attempt := 0; ; attempt++ {
		if err := k.quarantine(last, attempt == mostStarts); err != nil {
			return nil, err
		}
		if err := k.pause(ctx); err != nil {
			return nil, err
		}
		p, err := start(ctx, k.halved())
		k.mu.Lock()
		if err == nil {
			k.process = p
			k.starts++
		} else {
			k.failed++
		}
		k.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			return p, err
		}
		last = err
	}
}

// halved returns the configuration of the next process. It continues the halving of the
// time limit that the calls of the processes before have begun.
func (k *supervisor) halved() *Config {
	if k.stuck == 0 || k.config.Script == nil {
		return &k.config
	}
	config, script := k.config, *k.config.Script
	script.Limits.Time = budget.Halved(script.Limits.OrDefaults().Time, k.stuck)
	config.Script = &script
	return &config
}

// quarantine ends the restarts if the plugin has failed too often, or does not start.
func (k *supervisor) quarantine(last error, hopeless bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed <= k.config.Restarts && !hopeless {
		return nil
	}
	k.quarantined = fmt.Errorf("%w: plugin %s failed %d times, after %d restarts", strategies.ErrQuarantined, k.config.Name, k.failed, k.failed-1)
	if last != nil {
		k.quarantined = fmt.Errorf("%w; last failure: %w", k.quarantined, last)
	}
	k.config.Log.Error("plugin quarantined", "plugin", k.config.Name, "failures", k.failed)
	return k.quarantined
}

// pause waits before a restart; the wait doubles with each failure.
func (k *supervisor) pause(ctx context.Context) error {
	if k.failed == 0 || k.config.Backoff < 0 {
		return nil
	}
	select {
	case <-time.After(k.config.Backoff << min(k.failed-1, 6)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave counts a closed factory. The last one ends the process.
func (k *supervisor) leave() {
	if k.users.Add(-1) > 0 {
		return
	}
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	k.mu.Lock()
	k.quarantined = errEnded
	k.mu.Unlock()
	if k.process != nil {
		k.reap(k.process)
	}
}

// Usage is what the processes of a plugin or of an isolated script have used.
type Usage struct {
	// Process is the plugin's name in messages; its strategies share it.
	Process string
	// CPU is the processor time of all processes.
	CPU time.Duration
	// Busy is the processor time of the calls of a script that shares its process.
	Busy time.Duration
	// Peak is the largest resident memory seen in any process, in bytes; 0 if
	// unknown. The last memory of a process that dies by itself is not seen.
	Peak uint64
	// Memory is the memory limit of a worker's script, in bytes; 0 for a plugin.
	Memory uint64
	// Starts counts the processes that were started, Failed those that failed
	// by their own fault.
	Starts, Failed int
	// Aside reports that the plugin is quarantined.
	Aside bool
}

// UsageOf returns what the processes of a factory have used, if Open returned it, and the
// calls of a script in this process. It is safe for concurrent use.
func UsageOf(f strategies.Factory) (u Usage) {
	if b, ok := f.(strategies.Busy); ok {
		u.Busy = b.Busy()
	}
	own, ok := f.(*factory)
	if !ok {
		return u
	}
	k := own.supervisor
	k.mu.Lock()
	defer k.mu.Unlock()
	u = Usage{
		Process: k.config.Name, CPU: k.spent, Peak: k.peak, Memory: k.config.Memory,
		Starts: k.starts, Failed: k.failed, Aside: k.quarantined != nil && k.quarantined != errEnded,
	}
	if p := k.process; p != nil {
		u.CPU += p.spent()
		u.Peak = max(u.Peak, peakOf(p.child.pid()))
		if why := p.failure(); why != nil && why != errStopped { // and has not been reaped yet
			u.Failed++
		}
	}
	return u
}

// spent returns the processor time of a process; while it runs, as it last
// reported.
func (p *process) spent() time.Duration {
	if p.child.pid() == 0 && p.child.cmd.ProcessState != nil {
		return p.child.cmd.ProcessState.UserTime() + p.child.cmd.ProcessState.SystemTime()
	}
	return time.Duration(p.cpu.Load()) * time.Microsecond
}

// peakOf returns the largest resident memory of a process, in bytes, or 0 if it is
// unknown, as on systems without /proc. The figure that the system returns at the end of a
// process does not do: it includes the memory of the parent at the start.
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
