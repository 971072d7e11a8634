package strategies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/strategylab/strategylab/host/game"
)

// Causes of failure that a caller may act on. Runtimes wrap them; compare with errors.Is.
var (
	// ErrInvalidChoice is an answer that is neither even, odd nor a probability.
	ErrInvalidChoice = errors.New("invalid choice")
	// ErrTimeout is a call that took longer than its time limit.
	ErrTimeout = errors.New("exceeded its time limit")
	// ErrBudget is a call that exceeded a budget other than time: instructions,
	// memory or call depth.
	ErrBudget = errors.New("exceeded its budget")
	// ErrCrashed is the end of the process that runs a strategy.
	ErrCrashed = errors.New("process exited")
	// ErrNoStrategy is a factory whose New returns nothing at all.
	ErrNoStrategy = errors.New("factory returned neither a strategy nor an error")
	// ErrQuarantined is the refusal to call a strategy that has failed too often in this run.
	ErrQuarantined = errors.New("quarantined for the rest of the run")
)

// Op is the operation that a strategy failed in.
type Op string

// The operations, under the names that authors of scripts know.
const (
	OpLoad    Op = "load"
	OpStart   Op = "start"
	OpChoose  Op = "choose"
	OpObserve Op = "observe"
)

// Error is a failure of a strategy: where, in which operation, why, and what
// its author can do about it.
type Error struct {
	Source string // file, or the name of a strategy without one
	Line   int    // from 1; 0 if unknown
	Op     Op
	Err    error  // never nil
	Hint   string // may be empty
}

// Error returns "source:line: op: cause", with the hint in brackets.
func (e *Error) Error() string {
	msg := fmt.Sprintf("%s: %s: %v", e.Where(), e.Op, e.Err)
	if e.Hint != "" {
		msg += " (" + e.Hint + ")"
	}
	return msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Where returns "source:line", or the source alone if the line is unknown.
func (e *Error) Where() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d", e.Source, e.Line)
	}
	return e.Source
}

// Wrap returns err as the failure of an operation of a strategy, unless it is an *Error.
func Wrap(source string, op Op, err error) error {
	if errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Source: source, Op: op, Err: err}
}

// FaultOf returns the fault that an error of New, Choose or Observe counts as, and NoFault for nil.
func FaultOf(err error) game.Fault {
	switch {
	case err == nil:
		return game.NoFault
	case errors.Is(err, ErrQuarantined):
		return game.FaultQuarantined
	case errors.Is(err, ErrInvalidChoice):
		return game.FaultInvalid
	case errors.Is(err, ErrBudget):
		return game.FaultBudget
	case errors.Is(err, ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return game.FaultTimeout
	case errors.Is(err, ErrCrashed):
		return game.FaultCrash
	}
	return game.FaultError
}

// EndsSeat reports whether a fault in op costs the seat the rest of its league.
// A failed start or observe leaves the seat in an unknown state, and a seat
// that exceeds its budget once would do so in every match.
func EndsSeat(op Op, f game.Fault) bool {
	switch f {
	case game.NoFault:
		return false
	case game.FaultTimeout, game.FaultBudget, game.FaultCrash:
		return true
	}
	return op != OpChoose
}

// InvalidChoice returns the error for an invalid choice; shown is the value as
// the script would print it.
func InvalidChoice(shown string) error {
	const most = 80
	return fmt.Errorf("%w: answered %s, want \"even\", \"odd\" or a probability of even in [0, 1]", ErrInvalidChoice, Clip(shown, most))
}

// Panicked returns the error for a panic in a strategy; v is what recover returned.
func Panicked(v any) error { return fmt.Errorf("panic: %v", v) }

// Rescue makes an error of a panic. Hosts defer it around every call, so that no
// strategy can end the process.
func Rescue(err *error) {
	if v := recover(); v != nil {
		*err = Panicked(v)
	}
}

// Clip cuts s to at most n bytes and marks the cut with three dots.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// OneLine makes a text from a script fit on one line of a terminal: line breaks and tabs become
// spaces, unprintable characters are replaced, and the result is clipped to n bytes.
func OneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s[:min(len(s), 2*n)])
	return Clip(strings.TrimSpace(s), n)
}
