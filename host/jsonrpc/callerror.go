package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The kinds of failure of a call, for errors.Is. A call whose context was
// cancelled fails with context.Canceled instead.
var (
	// ErrConnect: the peer could not be reached; it has not seen the message.
	ErrConnect = errors.New("could not connect")
	// ErrClosed: the connection ended after the message was sent, before the
	// answer was complete; the peer may have acted on the message.
	ErrClosed = errors.New("connection closed before the answer")
	// ErrTimeout: no complete answer within the deadline. The error is also a
	// context.DeadlineExceeded.
	ErrTimeout = errors.New("timed out")
	// ErrStatus: the HTTP status says that there is no answer: 429, 502, 503,
	// 504, any redirect (none is followed), or any other status but 2xx with a
	// body that is not a JSON object.
	ErrStatus = errors.New("HTTP status")
	// ErrMalformed: the answer is not HTTP, not JSON, or not an object.
	ErrMalformed = errors.New("malformed answer")
	// ErrTooLarge: the answer is longer than ClientConfig.MaxAnswer.
	ErrTooLarge = errors.New("answer too large")
)

// CallError says why a call brought no usable answer. It wraps Kind and Err.
type CallError struct {
	Kind error  // one of the errors above, context.Canceled, or nil if unknown
	URL  string // that was called
	// Status is the HTTP status that came, or 0.
	Status int
	// RetryAfter is what the peer asked for with ErrStatus, or 0.
	RetryAfter time.Duration
	// Body is what came as the answer, or nil.
	Body []byte
	// Answer is what Body says, if it is a JSON object.
	Answer *Answer
	Err    error // the cause, or nil
}

// Error names the URL, the kind and the cause.
func (e *CallError) Error() string {
	var b strings.Builder
	b.WriteString("jsonrpc: calling ")
	b.WriteString(e.URL)
	if e.Kind != nil {
		b.WriteString(": ")
		b.WriteString(e.Kind.Error())
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d %s)", e.Status, http.StatusText(e.Status))
	}
	// The context's own error says nothing that the kind has not said.
	if e.Err != nil && e.Err != context.DeadlineExceeded {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns Kind and Err.
func (e *CallError) Unwrap() []error {
	var wrapped []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			wrapped = append(wrapped, err)
		}
	}
	return wrapped
}

// Retryable reports whether the same message may succeed later: the peer was
// not reached, went away, was too slow or said that it is busy. Whether it may
// be sent twice is for the caller to know.
func (e *CallError) Retryable() bool {
	switch e.Kind {
	case ErrConnect, ErrClosed, ErrTimeout:
		return true
	case ErrStatus:
		return retryableStatus(e.Status)
	}
	return false
}

func retryableStatus(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func errAnswerTooLarge(limit int64, status int) *CallError {
	return &CallError{Kind: ErrTooLarge, Status: status, Err: fmt.Errorf("longer than %d bytes", limit)}
}

// retryDelay reads a Retry-After header in seconds; its other form, a date, is
// not worth a clock.
func retryDelay(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}
