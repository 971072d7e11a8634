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
	Timeout time.Duration // of one attempt
	Backoff game.Backoff
	// Retryable, if set, decides which failures are tried again; default wire.Retryable.
	Retryable func(err error) bool
	// OnFailure, if set, is called before the wait for each retry, and once more
	// with Last set when no retry follows. It must not block for long.
	OnFailure func(ctx context.Context, a Attempt)
}

// Attempt is a try that failed.
type Attempt struct {
	Retry int // the retry about to be made, from 1; after the last, how many were made
	Delay time.Duration
	Last  bool
	Err   error
}

// Try calls do until it succeeds, fails with an error that is not retryable, or the policy's retries are
// spent, and returns its last error. Each attempt has a deadline of its own.
// It returns early when ctx ends.
func Try[T any](ctx context.Context, p RetryPolicy, do func(ctx context.Context) (T, error)) (T, error) {
	return try(ctx, p, do, func(retry int, err error) (time.Duration, bool) { return Delay(p.Backoff, retry, err) })
}

func try[T any](ctx context.Context, p RetryPolicy, do func(ctx context.Context) (T, error), next func(retry int, err error) (time.Duration, bool)) (T, error) {
	retryable := p.Retryable
	if retryable == nil {
		retryable = wire.Retryable
	}
	for retry := 1; ; retry++ {
		got, err := attempt(ctx, p.Timeout, do)
		if err == nil || ctx.Err() != nil || !retryable(err) {
			return got, err
		}
		delay, again := next(retry, err)
		if p.OnFailure != nil {
			a := Attempt{Retry: retry, Delay: delay, Err: err}
			if !again {
				a.Retry, a.Last = retry-1, true
			}
			p.OnFailure(ctx, a)
		}
		if !again {
			return got, err
		}
		if err := Wait(ctx, delay); err != nil {
			return got, err
		}
	}
}

func attempt[T any](ctx context.Context, timeout time.Duration, do func(ctx context.Context) (T, error)) (T, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return do(ctx)
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

// Persist calls do until it succeeds, fails with an error that is not retryable, or ctx ends: for what an
// agent must not give up, such as registering with a manager that is about to
// start, or reporting a result. OnFailure gets each delay.
func Persist[T any](ctx context.Context, p RetryPolicy, do func(ctx context.Context) (T, error)) (T, error) {
	if p.Backoff.Retries < 1 {
		p.Backoff = game.LeagueBackoff()
	}
	return try(ctx, p, do, func(retry int, err error) (time.Duration, bool) {
		return Delay(p.Backoff, min(retry, p.Backoff.Retries), err)
	})
}

// Delay returns how long to wait before the n-th retry of a call that failed, or false if there is
// none. A peer that names a longer time than the back-off does (Retry-After) is granted it, but
// never more than the back-off's longest delay.
func Delay(b game.Backoff, n int, err error) (time.Duration, bool) {
	d, again := b.Delay(n)
	if call, ok := errors.AsType[*jsonrpc.CallError](err); ok && again {
		d = max(d, min(call.RetryAfter, b.Most))
	}
	return d, again
}
