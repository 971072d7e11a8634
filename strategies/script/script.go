// Package script is what the runtimes of all script languages have in common:
// how a file becomes a strategy's description, and what the seats of one
// script share, which is the watchdog of their calls and the knowledge that
// one of them can no longer be stopped. What depends on a language lives in its
// runtime.
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

// Describe returns the description of a script. The lines are those of the
// comment at its top, without the signs that make it one: the first that says
// anything is the title, the others describe the script.
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

// Host is what the seats of one script share. It is safe for concurrent use.
type Host struct {
	info   strategies.Info
	limits budget.Limits
	dog    *budget.Watchdog
	lost   atomic.Bool
}

// NewHost returns the host of a script whose calls are to keep to the limits.
func NewHost(info strategies.Info, limits budget.Limits) *Host {
	h := &Host{info: info, limits: limits.OrDefaults()}
	h.dog = budget.NewWatchdog(h.limits.Time, h.lose)
	return h
}

// Info describes the script.
func (h *Host) Info() strategies.Info { return h.info }

// Limits are those of every call.
func (h *Host) Limits() budget.Limits { return h.limits }

// Guard watches the calls of a seat; see budget.Watchdog.Guard.
func (h *Host) Guard(interrupt func()) *budget.Guard { return h.dog.Guard(interrupt) }

// Fail makes the error that a host sees of a failure in the script.
func (h *Host) Fail(op strategies.Op, line int, hint string, err error) error {
	return &strategies.Error{Source: h.info.Source, Line: line, Op: op, Err: err, Hint: hint}
}

// Lost returns an error once a call of the script was lost. What has gone on
// against every interrupt once would do so again, and take another goroutine
// each time, so from then on no call is made at all.
func (h *Host) Lost(op strategies.Op) error {
	if h.lost.Load() {
		return h.Fail(op, 0, "run it isolated: a process of its own can be stopped", strategies.ErrStuck)
	}
	return nil
}

func (h *Host) lose(ctx context.Context) {
	h.lost.Store(true)
	strategies.ReportStuck(ctx, strategies.ErrStuck)
}

// Try opens something of the script and closes it, to see that it can be
// done. If not, the host is closed.
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
	if h.lost.Load() {
		return h.Lost(strategies.OpLoad)
	}
	return err
}

// Close stops the watchdog.
func (h *Host) Close() error {
	h.dog.Close()
	return nil
}
