// Package isolate runs scripts in worker processes, which they cannot hang,
// crash or starve the host from.
//
// The two sides are
//
//	isolate.Serve(catalog.Formats())                         // all that the worker's main does
//	formats := isolate.Formats(catalog.Formats(), isolate.Config{
//		Worker: []string{exe, "worker"},                     // what starts such a worker
//	})
//	catalog.Load(ctx, catalog.Config{Formats: formats})     // on the host
//
// The formats on the host load like the ones they are made of, and their
// factories differ only in where they play: every script has a process of its
// own, which is handed the source over the plugin protocol and opens no files.
// Inside it the guards of the runtime hold as ever. Outside of them stand the
// worker's bounds: how much memory the process may take up, and how long a call
// may last before the process is killed.
//
// When a worker dies, its seats are rebuilt one by one by giving them their
// calls once more, and only those lose their league in which it dies again.
// A worker that dies too often is put aside for the rest of the run.
//
// # Memory
//
// On Linux the cap is RLIMIT_DATA, which the worker sets for itself before it
// sees the script: the kernel refuses what goes beyond, and the worker dies.
// Elsewhere the worker looks at its own size every few milliseconds and ends
// itself; what a script can allocate in that time goes over the cap.
package isolate

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// DefaultMemory is what the machines of a script may take up in its worker, in
// bytes, on top of the program itself (some 30 MiB). An experiment has up to a
// few hundred of them open at a time.
const DefaultMemory = 192 << 20

// DefaultRestarts is how often a worker is started again after its script has
// killed it, in a run.
const DefaultRestarts = 100

// Config say how workers are run.
type Config struct {
	// Worker is the command that starts a process which calls Serve: a path
	// and its arguments.
	Worker []string
	// Memory is what one worker may take up for its script, in bytes; default
	// DefaultMemory, at least 64 MiB.
	Memory uint64
	// Restarts is how often a worker is started again; default
	// DefaultRestarts.
	Restarts int
	// StartTimeout is how long a worker may take to start and to load its
	// script; default 20 s.
	StartTimeout time.Duration
	// Log receives what workers write to their standard error; nil discards
	// it. What scripts print goes to the log of their seat.
	Log *slog.Logger
}

// leastMemory is the least that makes sense: Go's heap grows in steps of that
// size.
const leastMemory = 64 << 20

// Formats returns formats that load scripts into worker processes. The worker
// has to know the formats they are made of.
func Formats(formats []catalog.Format, o Config) []catalog.Format {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Memory = max(o.Memory, leastMemory)
	if o.Restarts == 0 {
		o.Restarts = DefaultRestarts
	}
	isolated := make([]catalog.Format, len(formats))
	for i, f := range formats {
		kind := f.Kind
		isolated[i] = f
		isolated[i].Load = func(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
			return o.open(plugins.Script{Name: name, Path: path, Kind: kind, Source: source, Limits: limits.OrDefaults()})
		}
	}
	return isolated
}

// open starts a worker for a script.
func (o *Config) open(s plugins.Script) (strategies.Factory, error) {
	all, err := plugins.Open(context.Background(), plugins.Config{
		Command: o.Worker, Name: s.Name, Source: s.Path, Script: &s, Memory: o.Memory,
		// The worker is this very program, over a socket nobody else can reach.
		NoTLS:    true,
		CallTime: s.Limits.Time, StartTimeout: o.StartTimeout,
		// A script that kills its worker does so every time: a pause would not
		// help it, and hold up the others.
		Replay: true, Restarts: o.Restarts, Backoff: -1,
		Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Serve is what a worker's main does: it plays the script that the host hands
// over, and returns when the host is done with it.
func Serve(formats []catalog.Format) {
	plugins.ServeScript(func(name, path string, source []byte, limits budget.Limits, memory uint64) (strategies.Factory, error) {
		if err := limitMemory(memory); err != nil {
			return nil, fmt.Errorf("limit the worker's memory: %w", err)
		}
		ext := strings.ToLower(filepath.Ext(path))
		for _, f := range formats {
			if f.Ext == ext {
				return f.Load(name, path, source, limits)
			}
		}
		return nil, fmt.Errorf("this worker has no language for files that end in %q", ext)
	})
}

// tune has the collector work rather than let the process grow up to its cap.
// Up to the limit it lets most be garbage, since short-lived machines are. Half
// the processors are left to the host and to other workers: threads that look
// for work in all of them at once take a tenth of the time.
func tune(memory uint64) {
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(int64(memory - memory/4))
}
