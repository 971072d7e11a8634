package agent

import (
	"context"
	"errors"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
)

// RetryPolicy says how a message is tried.
type RetryPolicy struct {
	Backoff game.Backoff
	// Forever goes on at the longest delay when the retries are spent: for what an agent must not
	// give up, such as registering with a manager that is about to start, or reporting a result.
	Forever bool
	// Failed, if set, is how the first attempt has failed, which is not made then.
	Failed error
	// Retryable, if set, decides which failures are tried again; default wire.Retryable.
	Retryable func(err error) bool
	// OnFailure, if set, is called before the wait for each retry, and once more
	// with Last set when no retry follows. It must not block for long.
	OnFailure func(a Attempt)
}

// Attempt is a try that failed.
type Attempt struct {
	Retry int // the retry about to be made, from 1; after the last, how many were made
	Delay time.Duration
	Last  bool
	Err   error
}

// Try calls do until it succeeds, fails with an error that is not retryable, or the policy's retries are
// spent, and returns its last error. A peer that names a longer time than the back-off does (Retry-After)
// is granted it, but never more than the longest delay. Try returns early when ctx ends.
func Try(ctx context.Context, p RetryPolicy, do func(ctx context.Context) error) error {
	if p.Retryable == nil {
		p.Retryable = wire.Retryable
	}
	if p.Forever && p.Backoff.Retries < 1 {
		p.Backoff = game.LeagueBackoff()
	}
	for retry, err := 0, p.Failed; ; {
		if retry > 0 || err == nil {
			err = do(ctx)
		}
		if err == nil || ctx.Err() != nil || !p.Retryable(err) {
			return err
		}
		retry++
		n := retry
		if p.Forever {
			n = min(retry, p.Backoff.Retries)
		}
		delay, again := p.Backoff.Delay(n)
		if call, ok := errors.AsType[*jsonrpc.CallError](err); ok && again {
			delay = max(delay, min(call.RetryAfter, p.Backoff.Most))
		}
		if a := (Attempt{retry, delay, !again, err}); p.OnFailure != nil {
			if a.Last {
				a.Retry--
			}
			p.OnFailure(a)
		}
		if !again || Wait(ctx, delay) != nil {
			return err
		}
	}
}

// Wait returns after d, or the context's cause when ctx ends first.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
