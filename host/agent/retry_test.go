package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestTheBackOff: each attempt has a time of its own, and a peer that says when to come
// back is not asked sooner, within the bounds of the back-off.
func TestTheBackOff(t *testing.T) {
	t.Parallel()
	busy := func(seconds int) error {
		return fmt.Errorf("send: %w", &jsonrpc.CallError{Kind: jsonrpc.ErrStatus, Status: 503, RetryAfter: time.Duration(seconds) * time.Second})
	}
	for _, tt := range []struct {
		name    string
		backoff game.Backoff
		err     error
		want    []time.Duration // of the attempts
	}{
		{"nothing asked", game.LeagueBackoff(), busy(0), []time.Duration{0, 1e9, 3e9, 7e9}},
		{"less than the back-off", game.LeagueBackoff(), busy(2), []time.Duration{0, 2e9, 4e9, 8e9}},
		{"more", game.LeagueBackoff(), busy(10), []time.Duration{0, 10e9, 20e9, 30e9}},
		{"too much", game.LeagueBackoff(), busy(3600), []time.Duration{0, 30e9, 60e9, 90e9}},
		{"no retries", game.Backoff{First: 1e9, Most: 30e9}, busy(10), []time.Duration{0}},
		{"another failure", game.LeagueBackoff(), protocol.Refuse(protocol.CodeTimeout, "", "late"), []time.Duration{0, 1e9, 3e9, 7e9}},
		{"no answer", game.LeagueBackoff(), context.DeadlineExceeded, []time.Duration{0, 11e9, 23e9, 37e9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var at, told []time.Duration
				made := -1
				policy := agent.RetryPolicy{Backoff: tt.backoff, OnFailure: func(a agent.Attempt) {
					if a.Last {
						made = a.Retry
					} else {
						told = append(told, time.Since(begun)+a.Delay)
					}
				}}
				fail := func(ctx context.Context) error {
					if at = append(at, time.Since(begun)); tt.err == context.DeadlineExceeded {
						_ = agent.Wait(ctx, 10*time.Second)
					}
					return tt.err
				}
				if err := agent.Try(t.Context(), policy, fail); !errors.Is(err, tt.err) {
					t.Error(err)
				}
				if !slices.Equal(at, tt.want) || !slices.Equal(told, tt.want[1:]) || made != len(told) {
					t.Errorf("tried at %v, told %v and of %d retries, want %v", at, told, made, tt.want)
				}
				if tt.backoff.Retries == 0 {
					return
				}
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
				defer stop()
				begun, at, policy.Forever = time.Now(), nil, true
				if err := agent.Try(ctx, policy, fail); err == nil || len(at) < 5 || !slices.Equal(at[:4], tt.want) || time.Since(begun) != 10*time.Minute {
					t.Errorf("persists at %v, want %v first, and ten minutes", at, tt.want)
				}
			})
		})
	}
}

// A call that may succeed later is retried with backoff.
func ExampleTry() {
	policy := agent.RetryPolicy{
		Backoff: game.Backoff{Retries: 3, First: time.Microsecond, Most: time.Millisecond},
		OnFailure: func(a agent.Attempt) {
			fmt.Println("retry", a.Retry, "after:", agent.Brief(a.Err))
		},
	}
	attempts := 0
	err := agent.Try(context.Background(), policy, func(context.Context) error {
		if attempts++; attempts < 3 {
			return protocol.Refuse(protocol.CodeTimeout, "", "busy")
		}
		return nil
	})
	fmt.Println("after", attempts, "attempts:", err)
	// Output:
	// retry 1 after: busy
	// retry 2 after: busy
	// after 3 attempts: <nil>
}
