package isolate

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
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

// Options say how workers are run.
type Options struct {
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
func Formats(formats []catalog.Format, o Options) []catalog.Format {
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
func (o *Options) open(s plugins.Script) (strategies.Factory, error) {
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
