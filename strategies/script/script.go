// Package script is the common part of the script runtimes: the description of a
// script from its first comment, and the state that the seats of one script share,
// which is a watchdog and whether one of its calls is stuck.
package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"sync/atomic"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Describe returns the description of a script. comment is the lines of its first
// comment without comment signs: the first non-empty line is the title, the others
// are the description.
func Describe(kind strategies.Kind, name, path string, source []byte, comment []string) strategies.Info {
	const maxTitle, maxDescription = 120, 2000
	digest := sha256.Sum256(source)
	info := strategies.Info{Name: name, Kind: kind, Source: path, Fingerprint: hex.EncodeToString(digest[:])}
	var said []string
	for _, line := range comment {
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, line)
		}
	}
	if len(said) > 0 {
		info.Title = strategies.OneLine(said[0], maxTitle)
		info.Description = strategies.OneLine(strings.Join(said[1:], " "), maxDescription)
	}
	return info
}

// Host is the shared state of the seats of one script. It is safe for concurrent use.
type Host struct {
	info   strategies.Info
	limits budget.Limits
	dog    *budget.Watchdog
	stuck  atomic.Bool
}

// NewHost returns the host of a script with the given limits.
func NewHost(info strategies.Info, limits budget.Limits) *Host {
	h := &Host{info: info, limits: limits.OrDefaults()}
	h.dog = budget.NewWatchdog(h.limits.Time, h.reportStuck)
	return h
}

// Info describes the script.
func (h *Host) Info() strategies.Info { return h.info }

// Limits returns the limits of every call.
func (h *Host) Limits() budget.Limits { return h.limits }

// Guard registers a seat; see budget.Watchdog.Guard.
func (h *Host) Guard(interrupt func()) *budget.Guard { return h.dog.Guard(interrupt) }

// Fail returns the error for a failure in the script.
func (h *Host) Fail(op strategies.Op, line int, hint string, err error) error {
	return &strategies.Error{Source: h.info.Source, Line: line, Op: op, Err: err, Hint: hint}
}

// Stuck returns an error after a call of the script got stuck. Another call would
// get stuck again and cost another goroutine, so no call is made any more.
func (h *Host) Stuck(op strategies.Op) error {
	if h.stuck.Load() {
		return h.Fail(op, 0, "run it isolated: a process of its own can be stopped", strategies.ErrStuck)
	}
	return nil
}

func (h *Host) reportStuck(ctx context.Context) {
	h.stuck.Store(true)
	strategies.ReportStuck(ctx, strategies.ErrStuck)
}

// Try opens a seat and closes it, to find errors early. After an error the host is
// closed.
func (h *Host) Try(open func(context.Context) (io.Closer, error)) error {
	err := strategies.RunAbandonable(context.Background(), func(ctx context.Context) error {
		trial, err := open(ctx)
		if err != nil {
			return err
		}
		return trial.Close()
	})
	if err == nil {
		return nil
	}
	h.dog.Close()
	if h.stuck.Load() {
		return h.Stuck(strategies.OpLoad)
	}
	return err
}

// Close stops the watchdog.
func (h *Host) Close() error {
	h.dog.Close()
	return nil
}
