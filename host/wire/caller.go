package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Peer is somebody who is called, and what has been learned of how it wants to
// be addressed. It is safe for concurrent use.
type Peer struct {
	URL     string
	Dialect *protocol.Dialect

	mu    sync.Mutex
	names map[protocol.Type]string // what worked, where it is not the dialect's own
}

// NewPeer returns a peer that is addressed in a dialect.
func NewPeer(url string, d *protocol.Dialect) *Peer {
	return &Peer{URL: url, Dialect: d}
}

// methods returns the names to try for a type, what worked before first.
func (p *Peer) methods(t protocol.Type) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, known := p.names[t]; known {
		return []string{name}
	}
	return p.Dialect.MethodsOf(t)
}

func (p *Peer) worked(t protocol.Type, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names = make(map[protocol.Type]string)
	}
	p.names[t] = name
}

// Caller sends messages to peers. It is safe for concurrent use.
type Caller struct {
	Client *jsonrpc.Client
	// Codec reads the answers; Tolerant toward agents that are not ours.
	Codec *protocol.Codec
}

// Call sends a message and returns the answer. It is one attempt, within the
// deadline of ctx. Where the peer does not know the method, its other names
// are tried in turn, and what worked is remembered.
//
// The error is a *protocol.Refusal if the peer refuses, a *protocol.Error if
// its answer does not keep the rules, and otherwise wraps a
// *jsonrpc.CallError.
func (c *Caller) Call(ctx context.Context, p *Peer, m protocol.Message) (protocol.Message, error) {
	t := m.Head().MessageType
	var err error
	for i, name := range p.methods(t) {
		var answer protocol.Message
		answer, err = c.callAs(ctx, p, name, m)
		var refusal *protocol.Refusal
		if errors.As(err, &refusal) && refusal.RPC == protocol.RPCMethodNotFound {
			continue
		}
		if i > 0 {
			p.worked(t, name)
		}
		return answer, err
	}
	return nil, err
}

func (c *Caller) callAs(ctx context.Context, p *Peer, name string, m protocol.Message) (protocol.Message, error) {
	t := m.Head().MessageType
	call, err := p.Dialect.CallAs(name, m)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	got, err := c.Client.Call(ctx, p.URL, jsonrpc.Message{Method: call.Method, Params: call.Params, Body: call.Body})
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	answer, err := protocol.ParseAnswer(got.Status, got.Raw)
	if err != nil {
		return nil, fmt.Errorf("answer to %s: %w", t, err)
	}
	return c.Codec.ReadAnswer(t, answer)
}

// CodeOf returns the league error code of a call that failed: what the peer
// said, or what became of the connection. It is empty for nil and for errors
// that have none.
func CodeOf(err error) protocol.Code {
	var refusal *protocol.Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal) && refusal.RPC == protocol.RPCTimeout:
		return protocol.CodeTimeout
	case errors.Is(err, jsonrpc.ErrConnect):
		return protocol.CodeConnectionError
	case errors.Is(err, jsonrpc.ErrClosed):
		return protocol.CodePlayerDisconnect
	case errors.Is(err, jsonrpc.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return protocol.CodeTimeout
	case errors.Is(err, jsonrpc.ErrMalformed), errors.Is(err, jsonrpc.ErrTooLarge):
		return protocol.CodeInvalidMove
	}
	return protocol.CodeOf(err)
}

// Retryable reports whether a call that failed may succeed when it is made
// again: by league.v2 after E001, E002, E008 and E009 and after the statuses
// 429, 502, 503 and 504.
func Retryable(err error) bool {
	var call *jsonrpc.CallError
	if errors.As(err, &call) && errors.Is(err, jsonrpc.ErrStatus) {
		switch call.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	switch CodeOf(err) {
	case protocol.CodeTimeout, protocol.CodeInvalidMove, protocol.CodePlayerDisconnect, protocol.CodeConnectionError, protocol.CodeRateLimited:
		return true
	}
	return false
}

// Policy says how a message is tried.
type Policy struct {
	Timeout time.Duration // of one attempt
	Backoff game.Backoff
	// Before, if set, is called before the wait for each retry, and once more
	// with last set when no retry follows. It must not block for long.
	Before func(ctx context.Context, a Attempt)
}

// Attempt is a try that failed.
type Attempt struct {
	Retry int // the retry about to be made, from 1; after the last, how many were made
	Delay time.Duration
	Last  bool
	Err   error
}

// Try calls do until it succeeds, fails for good, or the policy's retries are
// spent, and returns its last error. Each attempt has a deadline of its own.
// It returns early when ctx ends.
func Try[T any](ctx context.Context, p Policy, do func(ctx context.Context) (T, error)) (T, error) {
	for retry := 1; ; retry++ {
		got, err := attempt(ctx, p.Timeout, do)
		if err == nil || ctx.Err() != nil || !Retryable(err) {
			return got, err
		}
		delay, again := p.Backoff.Delay(retry)
		if p.Before != nil {
			a := Attempt{Retry: retry, Delay: delay, Err: err}
			if !again {
				a.Retry, a.Last = retry-1, true
			}
			p.Before(ctx, a)
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
