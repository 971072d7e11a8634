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

// A peer that says when to come back is not asked sooner, within the bounds of
// the back-off.
func TestRetryAfterLengthensTheBackOff(t *testing.T) {
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var at, told []time.Duration
				policy := agent.RetryPolicy{Backoff: tt.backoff, OnFailure: func(_ context.Context, a agent.Attempt) {
					if !a.Last {
						told = append(told, time.Since(begun)+a.Delay)
					}
				}}
				fail := func(context.Context) (int, error) {
					at = append(at, time.Since(begun))
					return 0, tt.err
				}
				if _, err := agent.Try(t.Context(), policy, fail); !errors.Is(err, tt.err) {
					t.Error(err)
				}
				if !slices.Equal(at, tt.want) || !slices.Equal(told, tt.want[1:]) {
					t.Errorf("tried at %v, told %v, want %v", at, told, tt.want)
				}
				if tt.backoff.Retries == 0 {
					return
				}
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
				defer stop()
				begun, at = time.Now(), nil
				if _, err := agent.Persist(ctx, policy, fail); err == nil || len(at) < 5 || !slices.Equal(at[:4], tt.want) {
					t.Errorf("persists at %v, want %v first", at, tt.want)
				}
			})
		})
	}
}

func TestTheBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var at []time.Duration
		var told []agent.Attempt
		policy := agent.RetryPolicy{
			Timeout: 10 * time.Second, Backoff: game.LeagueBackoff(),
			OnFailure: func(_ context.Context, a agent.Attempt) { told = append(told, a) },
		}
		hang := func(ctx context.Context) (int, error) {
			at = append(at, time.Since(begun))
			<-ctx.Done()
			return 0, ctx.Err()
		}
		if _, err := agent.Try(t.Context(), policy, hang); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ends with %v", err)
		}
		if want := []time.Duration{0, 11 * time.Second, 23 * time.Second, 37 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("tried at %v, want %v", at, want)
		}
		if len(told) != 4 || told[0].Retry != 1 || told[0].Last || told[3].Retry != 3 || !told[3].Last {
			t.Errorf("told of %+v", told)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		at, begun = nil, time.Now()
		if _, err := agent.Persist(ctx, policy, hang); err == nil || len(at) != 5 || at[4]-at[3] != 14*time.Second {
			t.Errorf("persists at %v, ends with %v", at, err)
		}
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("goes on for %v", took)
		}
	})
}
