package jsonrpc

import (
	"context"
	"fmt"
	"net/http"
)

// A Reason says why a server answered a request itself, without its handler
// (or, for ReasonInternal, instead of it).
type Reason string

// The reasons. The package documentation lists what falls under each, in the
// same order.
const (
	ReasonBadJSON   Reason = "bad_json"
	ReasonBatch     Reason = "batch"
	ReasonBadShape  Reason = "bad_shape"
	ReasonTooLarge  Reason = "too_large"
	ReasonMediaType Reason = "media_type"
	ReasonVerb      Reason = "verb"
	ReasonBusy      Reason = "busy"
	ReasonInternal  Reason = "internal"
	ReasonTimeout   Reason = "timeout"
)

// A Refusal is the answer to such a request.
type Refusal struct {
	Reason Reason
	Status int    // of HTTP
	Code   int    // of JSON-RPC
	Detail string // a sentence for a person, without values from the message
}

// Error returns the error object that is sent unless Config.Refuse says
// otherwise: the standard text for the code, and data {"detail": Detail}.
func (r *Refusal) Error() *Error {
	message := "Invalid Request"
	switch r.Code {
	case CodeParse:
		message = "Parse error"
	case CodeInternal:
		message = "Internal error"
	case CodeBusy:
		message = "Too busy"
	}
	data := appendQuote([]byte(`{"detail":`), r.Detail)
	return &Error{Code: r.Code, Message: message, Data: append(data, '}')}
}

// A RefuseFunc replaces the error object of a refusal, or returns nil to leave
// it as it is. What is known of the
// request depends on how far it came: transport, route and peer always, the
// body from ReasonBadJSON on, the id where it could be read.
type RefuseFunc func(ctx context.Context, req *Request, r *Refusal) *Error

// refusal returns the refusal for a reason, with its status and code.
func refusal(reason Reason, detail string) *Refusal {
	r := &Refusal{Reason: reason, Status: http.StatusBadRequest, Code: CodeInvalidRequest, Detail: detail}
	switch reason {
	case ReasonBadJSON:
		r.Code = CodeParse
	case ReasonTooLarge:
		r.Status = http.StatusRequestEntityTooLarge
	case ReasonMediaType:
		r.Status = http.StatusUnsupportedMediaType
	case ReasonVerb:
		r.Status = http.StatusMethodNotAllowed
	case ReasonTimeout:
		r.Status = http.StatusRequestTimeout
	case ReasonBusy:
		r.Status, r.Code = http.StatusServiceUnavailable, CodeBusy
	case ReasonInternal:
		r.Status, r.Code = http.StatusInternalServerError, CodeInternal
	}
	return r
}

func bodyTooLarge(limit int64) *Refusal {
	return refusal(ReasonTooLarge, fmt.Sprintf("the message is longer than %d bytes", limit))
}
