package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

// An Answer is what a peer sent back. Over HTTP it belongs to the call whatever its
// id. Its bytes belong to the caller; Raw and Members share memory.
type Answer struct {
	// Status is the HTTP status; 200 over STDIO.
	Status int
	// Session is the SessionHeader that an MCP server assigned, or empty.
	Session string
	// Raw is the whole body: a JSON object, or nil for an empty one, as for a notification.
	Raw     jsontext.Value
	Members rawjson.Object // of Raw
}

// IsError reports whether an answer has an error that is not null, whatever other members it has.
func (a *Answer) IsError() bool {
	failure := a.Members.Get("error")
	return failure != nil && failure.Kind() != 'n'
}

// IsRequest reports whether an answer is a JSON-RPC request instead of a response: a method,
// perhaps an id of its own, and neither result nor error.
func (a *Answer) IsRequest() bool {
	return a.Members.Get("jsonrpc") != nil && a.Members.Get("method").Kind() == '"' && a.Members.Get("result") == nil && !a.IsError()
}

// readAnswer reads a body. It fails if the body is neither empty nor a JSON object, or
// states another version of JSON-RPC.
func readAnswer(body jsontext.Value) (raw jsontext.Value, members rawjson.Object, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil, nil
	}
	if all := rawjson.Elements(body); len(all) == 1 && body.IsValid() {
		body = all[0] // a batch of the one answer
	}
	doc, err := parseDocument(body)
	switch version := doc.Get("jsonrpc"); {
	case err == rawjson.ErrNoObject:
		err = errors.New("it is not an object")
	case err == nil && version != nil && string(rawjson.Text(version)) != "2.0":
		err = errors.New(`jsonrpc is not "2.0"`)
	}
	return body, doc, err
}

// The kinds of failure of a call, for errors.Is. A call whose context was
// cancelled fails with context.Canceled instead.
var (
	// ErrConnect: the peer could not be reached and has not seen the message.
	ErrConnect = errors.New("could not connect")
	// ErrClosed: the connection ended after the message was sent, before the
	// answer was complete; the peer may have acted on the message.
	ErrClosed = errors.New("connection closed before the answer")
	// ErrTimeout: no complete answer within the deadline. The error is also a
	// context.DeadlineExceeded.
	ErrTimeout = errors.New("timed out")
	// ErrStatus: the HTTP status says that there is no answer: 429, 502, 503, 504, any redirect
	// (none is followed), or any other status but 2xx with a body that is not a JSON object.
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
	Err  error // the cause, or nil
}

// Error names the URL, the kind and the cause.
func (e *CallError) Error() string {
	text := "jsonrpc: calling " + e.URL
	if e.Kind != nil {
		text += ": " + e.Kind.Error()
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d %s)", e.Status, http.StatusText(e.Status))
	}
	if e.Err != nil && e.Err != context.DeadlineExceeded { // the kind already says that the context ended
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Kind and Err, either of which may be nil.
func (e *CallError) Unwrap() []error { return []error{e.Kind, e.Err} }

// RetryableStatus reports whether a request with this HTTP status may succeed later.
func RetryableStatus(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout
}

func errAnswerTooLarge(limit int64, status int) *CallError {
	return &CallError{Kind: ErrTooLarge, Status: status, Err: fmt.Errorf("longer than %d bytes", limit)}
}

// retryDelay reads a Retry-After header in seconds; it ignores dates.
func retryDelay(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}
