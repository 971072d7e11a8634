// Package script is the common part of the script runtimes: the description of a
// script from its first comment, and what the seats of one script share.
package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/params"
)

// MaxSource is the longest script, in bytes, wherever one comes from. The compiler of gopher-lua
// takes time quadratic in the number of constants.
const MaxSource = 256 << 10

// Describe returns the description of a script. comment is the lines of its first
// comment without comment signs: the first non-empty line is the title, the others
// are the description. Declarations of parameters are left out.
func Describe(kind strategies.Kind, name, path string, source []byte, comment []string) strategies.Info {
	const maxTitle, maxDescription = 120, 2000
	digest := sha256.Sum256(source)
	info := strategies.Info{Name: name, Kind: kind, Source: path, Fingerprint: hex.EncodeToString(digest[:])}
	var said []string
	for _, line := range comment {
		if line = strings.TrimSpace(line); line != "" && !params.Declares(line) {
			said = append(said, line)
		}
	}
	if len(said) > 0 {
		info.Title = strategies.OneLine(said[0], maxTitle)
		info.Description = strategies.OneLine(strings.Join(said[1:], " "), maxDescription)
	}
	return info
}

// Comment returns the lines of the first comment of a script, one block or several line
// comments, without comment signs.
func Comment(source []byte) (lines []string) {
	block := false
	for line := range strings.Lines(string(params.Head(source))) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		begins := strings.HasPrefix(line, "/*")
		switch {
		case block:
		case len(lines) == 0 && (line == "" || line[0] == '#'): // that names an interpreter
			continue
		case line == "", begins && len(lines) > 0:
			return lines
		}
		block = block || begins
		text, ended := line, false
		if block {
			text, _, ended = strings.Cut(line, "*/")
		}
		if strings.HasPrefix(text, "--") {
			text = strings.TrimLeft(text, "-")
		}
		lines = append(lines, strings.Trim(text, " \t*/"))
		if ended {
			break
		}
	}
	return lines
}

// Params returns the parameters that a text of the script declares; see params.Parse. An
// error is a *strategies.Error of operation load.
func (h *Host) Params(text []byte) ([]params.Param, error) {
	list, err := params.Parse(text)
	var bad *params.Error
	if errors.As(err, &bad) {
		return nil, h.Fail(strategies.OpLoad, bad.Line, bad.Hint, bad.Err)
	}
	return list, err
}

// ErrClosed is why no call of a seat is possible any more after its Close.
var ErrClosed = errors.New("the seat is closed")

// Host is the shared state of the seats of one script. It is safe for concurrent use.
type Host struct {
	info   strategies.Info
	limits budget.Limits
	dog    *budget.Watchdog
}

// NewHost returns the host of a script with the given limits.
func NewHost(info strategies.Info, limits budget.Limits) *Host {
	return &Host{info: info, limits: limits.OrDefaults(), dog: budget.NewWatchdog(limits)}
}

// Info describes the script.
func (h *Host) Info() strategies.Info { return h.info }

// Limits returns the limits of every call.
func (h *Host) Limits() budget.Limits { return h.limits }

// Guard registers a seat; see budget.Watchdog.Guard.
func (h *Host) Guard(interrupt func(), most time.Duration) *budget.Guard {
	return h.dog.Guard(interrupt, most)
}

// Busy implements strategies.Busy.
func (h *Host) Busy() time.Duration { return h.dog.Busy() }

// Total returns the bound on all calls of a seat.
func (h *Host) Total(s *strategies.Setup) budget.Total {
	return h.limits.Total(s.Totals, s.Matches())
}

// Overtime returns why a call was stopped. cause is what Guard.Leave returned.
func (h *Host) Overtime(ctx context.Context, cause error, total budget.Total) error {
	switch most, _ := total.Most(); {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", strategies.ErrTimeout, context.Cause(ctx))
	case errors.Is(cause, budget.ErrTotal):
		return fmt.Errorf("%w: more than %v of processor time in one league", strategies.ErrTimeout, most)
	}
	return fmt.Errorf("%w: more than %v in one call", strategies.ErrTimeout, h.limits.Time)
}

// Fail returns the error for a failure in the script.
func (h *Host) Fail(op strategies.Op, line int, hint string, err error) error {
	return &strategies.Error{Source: h.info.Source, Line: line, Op: op, Err: err, Hint: hint}
}

// Try opens a seat and closes it, to find errors early. After an error the host is closed.
func (h *Host) Try(open func(context.Context) (io.Closer, error)) error {
	trial, err := open(context.Background())
	if err == nil {
		err = trial.Close()
	}
	if err != nil {
		h.dog.Close()
	}
	return err
}

// Close stops the watchdog.
func (h *Host) Close() error {
	h.dog.Close()
	return nil
}

// MaxLine, in bytes, and MaxLines bound what one seat may print in its league.
const MaxLine, MaxLines = 500, 200

// Log is where one seat of a script prints. It belongs to one goroutine at a time.
type Log struct {
	Script string
	To     *slog.Logger // nil for nobody

	lines int
}

// Print writes a line, as long as the seat may print; it then says once that the rest is
// dropped. A line that may be printed is put into words whether or not anybody listens: that
// may run code of the script, and a league must go the same way with and without a log.
func (l *Log) Print(level slog.Level, words func() string) {
	if l.lines > MaxLines {
		return
	}
	l.lines++
	line := fmt.Sprintf("the script has printed %d lines; the rest is dropped", MaxLines)
	if l.lines <= MaxLines {
		line = words()
	}
	if l.To != nil {
		l.To.LogAttrs(context.Background(), level, line, slog.String("script", l.Script))
	}
}
