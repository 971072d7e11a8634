package strategies

import (
	"context"
	"errors"
)

// Deferrer is an optional extension of Strategy for runtimes in which a call costs less
// than its beginning: they observe an outcome together with the next choice. Nobody may be
// able to tell but by the time of a failure.
type Deferrer interface {
	Strategy
	// Defer is Observe, except that the strategy may leave the outcome to its next
	// method. It then draws from Setup.Rand as that stood at Defer. If it fails there,
	// the error is an *Error with OpObserve, and the method does nothing else.
	Defer(ctx context.Context, o *Outcome) error
	// Settle observes what was deferred. Close does not.
	Settle(ctx context.Context) error
}

// FailedOp returns the operation that an error of a call of op comes from, which is another
// one if the strategy had deferred it.
func FailedOp(op Op, err error) Op {
	var typed *Error
	if errors.As(err, &typed) && typed.Op == OpObserve {
		return OpObserve
	}
	return op
}
