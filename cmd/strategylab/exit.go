package main

import (
	"context"
	"errors"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
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

	exitAllLost = 9 // a player lost every match of a league by technical loss
)

// exitCode is the one table that turns an error into an exit code.
func exitCode(err error) int {
	var input *lab.InputError
	var strategy *strategies.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, command.ErrStopped), errors.Is(err, context.Canceled):
		return exitStopped
	case errors.Is(err, command.ErrRefuted):
		return exitRefuted
	case errors.Is(err, command.ErrUndecided):
		return exitUndecided
	case errors.Is(err, command.ErrBreaksMust):
		return exitBreaksMust
	case errors.Is(err, command.ErrBreaksShould):
		return exitBreaksShould
	case errors.Is(err, command.ErrAllLost):
		return exitAllLost
	case errors.As(err, &strategy), errors.Is(err, command.ErrCheckFailed):
		return exitStrategy
	case command.IsLocked(err): // by whatever command: it may go when tried again
		return exitFailure
	case errors.As(err, &input):
		return exitUsage
	}
	return exitFailure
}
