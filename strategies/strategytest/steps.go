package strategytest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrTime, as the cause of a context, says that the time of a check is up.
var ErrTime = errors.New("time of the check is up")

// timeIsUp reports whether the time of a check is up.
func timeIsUp(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrTime)
}

// Steps runs the steps of a check. The zero value is ready for use.
type Steps struct {
	// Show, if not nil, is called with the name of each step before it runs.
	Show func(step string)

	left []string // steps that did not end in time
}

// Do runs a step, unless ctx is done. A step that is not completed in time is left out.
func (s *Steps) Do(ctx context.Context, name string, run func()) {
	if ctx.Err() == nil {
		if s.Show != nil {
			s.Show(name)
		}
		run()
	}
	if timeIsUp(ctx) {
		s.left = append(s.left, name)
	}
}

// Findings returns a Warning that names the steps that were left out, if any were. limit
// is the time of the check.
func (s *Steps) Findings(limit time.Duration) []Finding {
	if len(s.left) == 0 {
		return nil
	}
	return []Finding{{ID: idTime, Level: Warning,
		What: fmt.Sprintf("the check ended after %v; left out for lack of time: %s", limit, strings.Join(s.left, "; ")),
		Hint: fmt.Sprintf("do less in one call, or check for longer: strategylab strategies check --max-time %s", strings.Replace((6*limit).String(), "m0s", "m", 1))}}
}

// idTime is the finding that something was left out.
const idTime = "time"
