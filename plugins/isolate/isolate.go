// Package isolate runs scripts in worker processes, so that a script cannot hang,
// crash or starve the host.
//
// Serve is the main function of a worker. Formats, on the host, load scripts like those
// they wrap, but every script runs in a process of its own. The worker receives the source
// over the plugin protocol and opens no files. The limits of the runtime apply inside it;
// outside, the host limits the worker's memory, kills it when a call does not return, and
// repeats the calls of its seats when it has died (package plugins).
//
// A Loader bounds the time and the memory that loading a file takes. The same worker
// also carries out tasks, such as those with which package workers plays leagues.
package isolate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// defaultRestarts is the number of restarts of a worker in a run.
const defaultRestarts = 100

// Formats wraps formats so that scripts load into worker processes, which must serve the
// same formats. c has the command of a process that calls Serve; its memory limit is
// budget.Memory by default, on top of the program itself, and it is restarted at most 100
// times, or without a limit if c.Workers may play instead: then such a limit would depend on
// which process played which league. A loader, if not nil, describes scripts; their workers then
// start when they are first needed.
func Formats(formats []catalog.Format, c plugins.Config, loader *Loader) []catalog.Format {
	c.Memory = cmp.Or(c.Memory, budget.Memory)
	if c.Workers != nil {
		c.Restarts = cmp.Or(c.Restarts, math.MaxInt32)
	}
	c.Restarts = cmp.Or(c.Restarts, defaultRestarts)
	// A script that kills its worker does so every time: a pause does not help and delays
	// the others.
	c.Backoff = -1
	return wrapped(formats, func(ctx context.Context, _ catalog.Format, s plugins.Script) (strategies.Factory, error) {
		c := c
		c.Name, c.Source, c.Script, c.CallTime = s.Name, s.Path, &s, s.Limits.Time
		if loader != nil {
			info, err := loader.Describe(ctx, s, c.Log)
			if err != nil {
				return nil, err
			}
			c.Strategies = []strategies.Info{info}
		}
		all, err := plugins.Open(ctx, c)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	})
}

// wrapped returns formats that load scripts by load.
func wrapped(formats []catalog.Format, load func(context.Context, catalog.Format, plugins.Script) (strategies.Factory, error)) []catalog.Format {
	formats = slices.Clone(formats)
	for i, f := range formats {
		formats[i].Load = func(ctx context.Context, name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
			return load(ctx, f, plugins.Script{Name: name, Path: path, Kind: f.Kind, Source: source, Limits: limits.OrDefaults()})
		}
	}
	return formats
}

// ServerConfig is the settings of a worker process.
type ServerConfig struct {
	Formats []catalog.Format // script languages
	Memory  uint64           // limit in bytes, beside the program itself; 0 means none
	Large   uint64           // bytes of heap that large pages back where leagues are played, within Memory
	Tasks   map[string]Task
}

// Task is a function that plugins.Pool.Do runs in a worker. It answers with reply, as
// often as it likes.
type Task func(ctx context.Context, p *Process, input []byte, reply func(output []byte) error) error

// JSON returns a task whose input and answers are JSON.
func JSON[Input any](run func(ctx context.Context, p *Process, input Input, reply func(answer any) error) error) Task {
	return func(ctx context.Context, p *Process, input []byte, reply func([]byte) error) error {
		var in Input
		if err := json.Unmarshal(input, &in); err != nil {
			return err
		}
		return run(ctx, p, in, func(answer any) error {
			output, err := json.Marshal(answer)
			if err != nil {
				return err
			}
			return reply(output)
		})
	}
}

// Serve is the main function of a worker process. It serves the host that has started
// the process until that is done. The caller should then end the process at once.
func Serve(c ServerConfig) error {
	p := &Process{config: c}
	if err := p.limit.Reset(c.Memory); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	// One processor is enough: there is a worker for each. New memory costs more than collecting.
	p.processors = runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	if c.Memory > 0 {
		debug.SetMemoryLimit(int64(c.Memory / 2))
	}
	plugins.ServeTasks(func(log *slog.Logger, stuck chan<- struct{}) plugins.Tasks {
		p.Log, p.stuck = log, stuck
		return p
	})
	return nil
}

// Process is a worker process, as its tasks see it.
type Process struct {
	Log *slog.Logger // of the host

	config     ServerConfig
	limit      subprocess.MemoryLimit
	processors int             // that there were
	stuck      chan<- struct{} // receives when a call cannot be stopped
	extended   sync.Once
}

// Load compiles a script in this process. Unless memory is 0, the script has the process
// to itself, whose memory limit that becomes, in bytes.
func (p *Process) Load(s plugins.Script, memory uint64) (strategies.Factory, error) {
	if memory > 0 {
		if err := p.limit.Reset(memory); err != nil {
			return nil, fmt.Errorf("limit the worker's memory: %w", err)
		}
		// The collector works before the process reaches its limit. Half the processors are
		// for the host and other workers: idle threads that look for work cost a tenth of
		// the time.
		runtime.GOMAXPROCS(max(1, p.processors/2))
		debug.SetGCPercent(800)
		debug.SetMemoryLimit(int64(memory - memory/4))
	}
	s.Limits.Stuck = p.stuck
	ext := strings.ToLower(filepath.Ext(s.Path))
	for _, f := range p.config.Formats {
		if f.Ext == ext {
			return f.Load(context.Background(), s.Name, s.Path, s.Source, s.Limits) // the host ends this process
		}
	}
	return nil, fmt.Errorf("this worker has no language for files that end in %q", ext)
}

// Extend gives the process more memory than its configuration says, in bytes; 0 takes it
// back.
func (p *Process) Extend(memory uint64) error {
	if p.config.Memory == 0 {
		return nil
	}
	// Twice, as the collector lets a heap grow before it is done.
	if err := p.limit.Set(p.config.Memory + 2*memory); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	debug.SetMemoryLimit(int64(p.config.Memory/8*5 + memory))
	p.extended.Do(func() { // leagues are played: script machines live shortly, and the heap may grow
		debug.SetGCPercent(1600)
		subprocess.LargePages(p.config.Large)
	})
	return nil
}

// Do implements plugins.Tasks.
func (p *Process) Do(ctx context.Context, task string, input []byte, reply func([]byte) error) error {
	if run := p.config.Tasks[task]; run != nil {
		return run(ctx, p, input, reply)
	}
	return fmt.Errorf("unknown task %q", task)
}
