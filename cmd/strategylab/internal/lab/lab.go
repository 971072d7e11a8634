// Package lab loads strategies, plays runs of leagues with them, studies what the
// runs show and writes their reports, for the commands and for the MCP tools
// alike. It takes values and knows no flags.
package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Lab loads strategies, plays runs of leagues, studies them and writes their
// reports. It is safe for concurrent use.
type Lab struct {
	Exe     string           // this program, started again for workers; empty if unknown
	Dir     string           // base of relative paths; empty for the working directory
	Now     func() time.Time // the clock
	Entropy func() (uint64, error)
	Code    string // folder for compiled scripts, see wasmscript.Config; empty for none
	// Loader bounds the loading of scripts; see WithLoader. Without one, nothing bounds
	// the time and the memory of scripts that are loaded into this process.
	Loader *isolate.Loader
	// CheckTime is the time of a check for which none is asked; default DefaultCheckTime.
	CheckTime time.Duration
}

// WithLoader returns the lab with a loader, if it can start this program. The caller
// closes the loader.
func (l Lab) WithLoader() Lab {
	if l.Exe != "" {
		l.Loader = isolate.NewLoader(l.worker(nil), 0)
	}
	return l
}

// Close ends the process of the loader.
func (l Lab) Close() {
	if l.Loader != nil {
		l.Loader.Close()
	}
}

// bounded returns formats that load what the loader accepts.
func (l Lab) bounded(formats []catalog.Format, log *slog.Logger) []catalog.Format {
	if l.Loader == nil {
		return formats
	}
	return l.Loader.Formats(formats, log)
}

// CodeVariable is the environment variable that names Lab.Code: for the processes that a
// lab starts, and for users.
const CodeVariable = "STRATEGYLAB_CODE"

// Formats returns the script languages for this process.
func (l Lab) Formats() []catalog.Format { return catalog.CachedFormats(l.Code) }

// Path resolves a path against the lab's folder.
func (l Lab) Path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.Dir, name)
}

// Seed draws a seed below 2^53, which every program that reads JSON keeps exactly.
func (l Lab) Seed() (uint64, error) {
	s, err := l.Entropy()
	if err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return s >> 11, nil
}

// InputError is a mistake in what the lab was asked for. Hint, which may be
// empty, says what to do about it.
type InputError struct {
	Err  error
	Hint string
}

// Error returns the mistake without the hint.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *InputError) Unwrap() error { return e.Err }

// Queue limits the calls that work in parallel and the calls that wait. It is safe
// for concurrent use.
type Queue struct {
	slots   chan struct{}
	waiting atomic.Int32
	most    int32
}

// NewQueue returns a queue for a number of calls that work and a number that wait.
func NewQueue(slots, waiting int) *Queue {
	return &Queue{slots: make(chan struct{}, slots), most: int32(waiting)}
}

// ErrBusy is the refusal of a call because too many wait.
var ErrBusy = errors.New("the lab is busy: too many experiments are running or waiting; call again when one has ended")

// Enter waits for a turn and returns what ends it. Before it waits it calls waits. It
// fails with ErrBusy if too many calls wait, or with the cause of ctx if that ends first.
func (q *Queue) Enter(ctx context.Context, waits func()) (leave func(), err error) {
	leave = func() { <-q.slots }
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return nil, ErrBusy
	}
	defer q.waiting.Add(-1)
	waits()
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
