package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/strategies"
)

// The exit codes, documented in README.md. Scripts rely on them: a code never
// changes its meaning.
const (
	exitOK       = 0
	exitFailure  = 1 // something went wrong that is not the caller's doing
	exitUsage    = 2 // the command line is wrong
	exitStrategy = 3 // a strategy does not load, or did not pass its check
	exitStopped  = 4 // interrupted; what was complete is kept

	exitRefuted   = 5 // an assertion is refuted
	exitUndecided = 6 // no assertion is refuted, but one is not decided with these leagues

	exitBreaksMust   = 7 // an agent breaks a rule of level must
	exitBreaksShould = 8 // an agent breaks rules of lesser levels only
)

// usageError is a mistake in the command line, with what to do about it.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef returns a usageError.
func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// withHint adds a second line for the user to a mistake in the command line.
func withHint(err error, format string, args ...any) error {
	return &usageError{err: err, hint: fmt.Sprintf(format, args...)}
}

func hintOf(err error) string {
	var usage *usageError
	if errors.As(err, &usage) && usage.hint != "" {
		return usage.hint
	}
	var advice *advised
	if errors.As(err, &advice) {
		return advice.hint
	}
	return ""
}

// reported is an error whose message the user has already read, as part of
// the command's output.
type reported struct{ err error }

func (e *reported) Error() string { return e.err.Error() }
func (e *reported) Unwrap() error { return e.err }

func isReported(err error) bool {
	var r *reported
	return errors.As(err, &r)
}

var (
	errStopped     = errors.New("stopped before the end")
	errCheckFailed = errors.New("the strategy did not pass its check")
)

// exitCode is the one table that turns an error into an exit code.
func exitCode(err error) int {
	var usage *usageError
	var strategy *strategies.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errStopped), errors.Is(err, context.Canceled):
		return exitStopped
	case errors.Is(err, errRefuted):
		return exitRefuted
	case errors.Is(err, errUndecided):
		return exitUndecided
	case errors.Is(err, errBreaksMust):
		return exitBreaksMust
	case errors.Is(err, errBreaksShould):
		return exitBreaksShould
	case errors.As(err, &strategy), errors.Is(err, errCheckFailed):
		return exitStrategy
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailure
}
