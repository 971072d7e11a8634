package main

import (
	"context"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

// After a signal a command keeps what it has and ends. One that takes longer says what it
// finishes, and one that does not end in time is ended: what it has recorded is complete
// up to the last league or message, as after a kill, and other processes end with this one.
const (
	stopNotice = 500 * time.Millisecond
	stopTime   = 4 * time.Second
)

// stoppable runs a command until it ends, or for a time after ctx is done. It returns
// the exit code. A command that did not end goes on until the process ends.
func stoppable(ctx context.Context, p command.Process, toStop time.Duration, command func() int) int {
	ended := make(chan int, 1)
	go func() { ended <- command() }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	notice, over := time.NewTimer(stopNotice), time.NewTimer(toStop)
	defer notice.Stop()
	defer over.Stop()
	for {
		select {
		case code := <-ended:
			return code
		case <-notice.C:
			p.Say("strategylab: stopping: %s, for %v at most; a second signal ends it at once", p.Stage.Doing(), toStop)
		case <-over.C:
			p.Say("strategylab: stopped before the end of this: %s; what was recorded is kept", p.Stage.Doing())
			return exitStopped
		}
	}
}
