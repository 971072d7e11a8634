package isolate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	// loadTime is the processor time for parsing, compiling and describing a script by
	// default. Scripts take milliseconds, the largest modules seconds.
	loadTime = 5 * time.Second
	// slowTime is the time after which a log says what is loaded.
	slowTime = 2 * time.Second
	// idleTime is the time after which a process without work ends.
	idleTime = time.Second
	// mostKnown bounds the number of remembered descriptions.
	mostKnown = 4096
)

// Loader parses, compiles and describes scripts in a process of its own, one at a time,
// within limits of processor time and memory. What it has accepted takes no more than
// that wherever it is loaded, so it may be loaded where it plays. A file that exceeds a
// limit is refused and takes the process with it; the next file gets another. The
// Loader remembers what it found out about a source until Close.
//
// It is safe for concurrent use. Its process starts when it is needed, and ends when
// nothing has been loaded for a second.
type Loader struct {
	time  time.Duration // for a script
	pool  *plugins.Pool
	turn  chan struct{} // held by the user of what follows
	known map[source]description
}

// source is what a description depends on.
type source struct {
	name, path string
	sum        [sha256.Size]byte
	limits     budget.Limits
}

// description is what is known of a source: how it describes itself, or why it does not
// load.
type description struct {
	info strategies.Info
	err  *strategies.Error
}

// NewLoader returns a loader, which starts no process yet. c has the command of a process
// that calls Serve, which limits its memory itself. limit is the processor time for a script,
// 5 s for 0; a module of WebAssembly, which is compiled, has twice that. The caller
// closes the loader.
func NewLoader(c plugins.Config, limit time.Duration) *Loader {
	c.Name = "loader"
	return &Loader{time: cmp.Or(limit, loadTime), pool: plugins.NewPool(c, idleTime), turn: make(chan struct{}, 1), known: make(map[source]description)}
}

// Formats returns formats that load what the loader accepts as the given formats do, and
// nothing else. log, which may be nil, receives which files take long.
func (l *Loader) Formats(formats []catalog.Format, log *slog.Logger) []catalog.Format {
	return wrapped(formats, func(ctx context.Context, f catalog.Format, s plugins.Script) (strategies.Factory, error) {
		if _, err := l.Describe(ctx, s, log); err != nil {
			return nil, err
		}
		return f.Load(ctx, s.Name, s.Path, s.Source, s.Limits)
	})
}

// Describe returns the description of a script. The error is a *strategies.Error if the
// script does not load or exceeds a limit, and the cause of ctx if that is done first.
// log, which may be nil, receives that it takes long.
func (l *Loader) Describe(ctx context.Context, s plugins.Script, log *slog.Logger) (strategies.Info, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return strategies.Info{}, context.Cause(ctx)
	}
	key := source{s.Name, s.Path, sha256.Sum256(s.Source), s.Limits}
	d, known := l.known[key]
	if !known {
		slow := time.AfterFunc(slowTime, func() {
			if log != nil {
				log.Warn("a file takes long to load", "file", s.Path, "limit", l.limit(&s))
			}
		})
		var err error
		d, err = l.describe(ctx, &s)
		if slow.Stop(); err != nil {
			return strategies.Info{}, err
		}
		if len(l.known) >= mostKnown {
			clear(l.known)
		}
		l.known[key] = d
	}
	if d.err != nil {
		return strategies.Info{}, d.err
	}
	return d.info, nil
}

// describe has the process describe a script. If that ends, but for the limit of time,
// it need not be the fault of the script: a new one judges.
func (l *Loader) describe(ctx context.Context, s *plugins.Script) (d description, err error) {
	for attempt := 0; ; attempt++ {
		w, err := l.pool.Take(ctx)
		if err != nil {
			return d, fmt.Errorf("start the process that loads scripts: %w", err)
		}
		d.info, err = w.Load(ctx, s, l.limit(s))
		l.pool.Give(w)
		switch {
		case err == nil:
			return d, nil
		case ctx.Err() != nil:
			return d, context.Cause(ctx)
		case errors.As(err, &d.err):
			return d, nil
		case !plugins.Died(err):
			return d, err
		case attempt > 0 || errors.Is(err, strategies.ErrTimeout):
			d.err = &strategies.Error{Source: s.Path, Op: strategies.OpLoad, Err: err, Hint: "most strategies load in milliseconds; deeply nested or generated code can take this much"}
			return d, nil
		}
	}
}

// limit is the processor time for loading a script. Its top level runs then, too, for
// which the default leaves enough, but not for a higher limit of a call.
func (l *Loader) limit(s *plugins.Script) time.Duration {
	limit := l.time
	if s.Kind == strategies.WebAssembly {
		limit *= 2
	}
	return limit + max(0, s.Limits.Time-budget.DefaultTime)
}

// Close ends the process. The loader loads nothing afterwards.
func (l *Loader) Close() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	_ = l.pool.Close() // it cannot fail
}
