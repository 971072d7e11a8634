package agent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// A call that may succeed later is retried with backoff; each attempt has a
// timeout of its own.
func ExampleTry() {
	policy := agent.RetryPolicy{
		Timeout: time.Second,
		Backoff: game.Backoff{Retries: 3, First: time.Microsecond, Most: time.Millisecond},
		OnFailure: func(_ context.Context, a agent.Attempt) {
			fmt.Println("retry", a.Retry, "after:", agent.Brief(a.Err))
		},
	}
	attempts := 0
	answer, err := agent.Try(context.Background(), policy, func(context.Context) (string, error) {
		if attempts++; attempts < 3 {
			return "", protocol.Refuse(protocol.CodeTimeout, "", "busy")
		}
		return "even", nil
	})
	fmt.Println(answer, err)
	// Output:
	// retry 1 after: busy
	// retry 2 after: busy
	// even <nil>
}
