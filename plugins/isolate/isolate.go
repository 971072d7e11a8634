// Package isolate runs scripts in worker processes, so that a script cannot hang,
// crash or starve the host.
//
// The two sides are
//
//	isolate.Serve(catalog.Formats())                         // the worker's main
//	formats := isolate.Formats(catalog.Formats(), isolate.Config{
//		Worker: []string{exe, "worker"},                     // the command of a worker
//	})
//	catalog.Load(ctx, catalog.Config{Formats: formats})     // on the host
//
// The isolated formats load scripts like the formats they wrap, but every script
// runs in a process of its own. The worker receives the source over the plugin
// protocol and opens no files. The limits of the runtime apply inside it;
// outside, the host limits the worker's memory and kills it when a call does not
// return.
//
// When a worker dies, the host rebuilds its seats one by one by repeating their
// calls, and only seats that kill the worker again lose their league. A worker
// that dies too often is quarantined for the rest of the run.
//
// A Loader bounds the time and the memory that loading a file takes.
//
// The worker limits its memory before it sees the script; see package subprocess.
package isolate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// DefaultMemory is the memory limit of a script in its worker, in bytes, on top
// of the program itself (about 30 MiB). An experiment has up to a few hundred
// seats of a script open at a time.
const DefaultMemory = budget.Memory

// DefaultRestarts is the number of restarts of a worker in a run.
const DefaultRestarts = 100

// Config is the settings of workers.
type Config struct {
	// Worker is the command of a process that calls Serve: a path and its
	// arguments.
	Worker []string
	// Memory is the memory limit of a script, in bytes; default DefaultMemory,
	// at least 64 MiB.
	Memory uint64
	// Restarts is the number of restarts of a worker; default DefaultRestarts.
	Restarts int
	// StartTimeout is the time limit for a worker to start and load its script;
	// default 20 s.
	StartTimeout time.Duration
	// Log receives the standard error of workers; nil discards it. Prints of
	// scripts go to the log of their seat.
	Log *slog.Logger
	// Env adds "KEY=value" entries to the environment of workers.
	Env []string
	// Describe, if not nil, describes a script, see Loader. Its worker then starts when
	// it is first needed.
	Describe func(context.Context, plugins.Script) (strategies.Info, error)
}

// leastMemory is the step in which Go's heap grows.
const leastMemory = 64 << 20

// Formats wraps formats so that scripts load into worker processes. The workers
// must serve the same formats.
func Formats(formats []catalog.Format, o Config) []catalog.Format {
	o.Memory = max(cmp.Or(o.Memory, DefaultMemory), leastMemory)
	o.Restarts = cmp.Or(o.Restarts, DefaultRestarts)
	isolated := make([]catalog.Format, len(formats))
	for i, f := range formats {
		kind := f.Kind
		isolated[i] = f
		isolated[i].Load = func(ctx context.Context, name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
			return o.open(ctx, plugins.Script{Name: name, Path: path, Kind: kind, Source: source, Limits: limits.OrDefaults()})
		}
	}
	return isolated
}

func (o *Config) open(ctx context.Context, s plugins.Script) (strategies.Factory, error) {
	var known []strategies.Info
	if o.Describe != nil {
		info, err := o.Describe(ctx, s)
		if err != nil {
			return nil, err
		}
		known = []strategies.Info{info}
	}
	all, err := plugins.Open(ctx, plugins.Config{
		Command: o.Worker, Name: s.Name, Source: s.Path, Script: &s, Strategies: known, Memory: o.Memory,
		CallTime: s.Limits.Time, StartTimeout: o.StartTimeout,
		// A script that kills its worker does so every time: a pause does not
		// help and delays the others.
		Replay: true, Restarts: o.Restarts, Backoff: -1,
		Env: o.Env, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Serve is the main function of a worker: it serves the script that the host
// sends and returns when the host is done.
func Serve(formats []catalog.Format) {
	plugins.ServeScript(func(s plugins.Script, memory uint64) (strategies.Factory, error) {
		if _, err := subprocess.LimitMemory(memory); err != nil {
			return nil, fmt.Errorf("limit the worker's memory: %w", err)
		}
		if memory > 0 {
			tune(memory)
		}
		return Load(context.Background(), formats, s) // the host kills this process
	})
}

// Load compiles a script in this process.
func Load(ctx context.Context, formats []catalog.Format, s plugins.Script) (strategies.Factory, error) {
	ext := strings.ToLower(filepath.Ext(s.Path))
	for _, f := range formats {
		if f.Ext == ext {
			return f.Load(ctx, s.Name, s.Path, s.Source, s.Limits)
		}
	}
	return nil, fmt.Errorf("this worker has no language for files that end in %q", ext)
}

// tune makes the garbage collector work before the process reaches its memory
// limit, and tolerate much garbage below it, since script machines live shortly.
// It leaves half the processors to the host and other workers: idle threads that
// look for work cost a tenth of the time.
func tune(memory uint64) {
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(int64(memory - memory/4))
}
