package strategies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/strategylab/strategylab/host/game"
)

// Causes of failure that a caller may act on. Runtimes wrap them; compare with
// errors.Is, never by text.
var (
	// ErrInvalidChoice is an answer that is neither even, odd nor a
	// probability.
	ErrInvalidChoice = errors.New("not a choice")
	// ErrTimeout is an overrun of the time budget by the wall clock.
	ErrTimeout = errors.New("ran out of time")
	// ErrBudget is an overrun of a budget that does not depend on the clock:
	// instructions, memory, depth of calls.
	ErrBudget = errors.New("ran out of its budget")
	// ErrCrashed is the death of the process that a strategy runs in.
	ErrCrashed = errors.New("process exited")
	// ErrNoStrategy is a factory whose New returns nothing at all.
	ErrNoStrategy = errors.New("factory returned neither a strategy nor an error")
	// ErrPutAside is the refusal to go on with a strategy that has failed too
	// often in this run.
	ErrPutAside = errors.New("put aside for the rest of the run")
)

// Op is what a strategy was doing when it failed.
type Op string

// The operations, named as a script's author knows them.
const (
	OpLoad    Op = "load"
	OpStart   Op = "start"
	OpChoose  Op = "choose"
	OpObserve Op = "observe"
)

// Error is a failure of somebody's strategy: where it happened, doing what,
// why, and what its author can do about it.
type Error struct {
	Source string // file, or the strategy's name where there is none
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

// FaultOf says what kind of fault an error of New, Choose or Observe is. It
// returns NoFault for nil.
func FaultOf(err error) game.Fault {
	switch {
	case err == nil:
		return game.NoFault
	case errors.Is(err, ErrPutAside):
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

// EndsSeat reports whether a fault in the given operation costs the seat the
// rest of its league. A failure of start or observe leaves the seat in an
// unknown state; an overrun would be repeated at every match.
func EndsSeat(op Op, f game.Fault) bool {
	switch f {
	case game.NoFault:
		return false
	case game.FaultTimeout, game.FaultBudget, game.FaultCrash:
		return true
	}
	return op != OpChoose
}

// InvalidChoice returns the error for a choice outside [0, 1], in the words a
// script's author needs. shown is the value as the script would print it.
func InvalidChoice(shown string) error {
	const most = 80
	return fmt.Errorf("%w: answered %s, want \"even\", \"odd\" or a probability of even in [0, 1]", ErrInvalidChoice, Clip(shown, most))
}

// Panicked returns the error for a panic in a strategy's code; v is what
// recover returned. Whoever calls strategies recovers, so that a strategy in
// Go can no more end the host than a script can.
func Panicked(v any) error { return fmt.Errorf("panic: %v", v) }

// Clip cuts a text to at most n bytes, and says so by three dots.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// OneLine makes a text that a script has written fit for one line of a
// terminal: line breaks and tabs become spaces, what cannot be printed is
// replaced, and the rest is clipped to n bytes.
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
