package served

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// fault is a failure in words, with the kind that it counts as.
type fault struct {
	kind error // one of the causes of package strategies
	text string
}

func (e *fault) Error() string { return e.text }

func (e *fault) Unwrap() error { return e.kind }

// explain says what the agent did instead of answering a message.
func (a *agent) explain(err error, t protocol.Type) error {
	var unusable *protocol.Error
	switch {
	case errors.Is(err, jsonrpc.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, wire.ErrReceived):
		return &fault{strategies.ErrTimeout, fmt.Sprintf("it did not answer %s within %v (--deadline allows more)", t, a.factory.config.Deadline)}
	case errors.Is(err, jsonrpc.ErrConnect), errors.Is(err, jsonrpc.ErrClosed):
		if a.process.dying() {
			return a.process.died()
		}
		return &fault{strategies.ErrCrashed, fmt.Sprintf("the connection for %s broke: %v", t, err)}
	case errors.As(err, &unusable) && unusable.Code == protocol.CodeInvalidParityChoice:
		return &fault{strategies.ErrInvalidChoice, fmt.Sprintf("it answered %s with an invalid choice; want \"even\" or \"odd\" in lower case", t)}
	case wire.Refused(err):
		return fmt.Errorf("it refused %s: %w", t, err)
	}
	return fmt.Errorf("its answer to %s is unusable: %w", t, err)
}
