package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// ErrReceived says that a peer has received a message without answering it: the
// answer was empty or only confirmed the message. Some players send their answer
// later, in a request of their own.
var ErrReceived = errors.New("the peer has received the message and not answered it")

// CodeOf returns the league error code for a failed call: the code of the peer's
// refusal, or one for the state of the connection. An unusable answer is E002,
// which is retried, but for an invalid choice, which is E004. The code is empty
// for nil and for errors that have none.
func CodeOf(err error) protocol.Code {
	if err == nil {
		return ""
	}
	var refusal *dialect.Refusal
	var unusable *protocol.Error
	switch {
	case errors.As(err, &refusal):
		return codeOfRefusal(refusal)
	case errors.As(err, &unusable):
		if unusable.Code == protocol.CodeInvalidParityChoice {
			return unusable.Code
		}
		return protocol.CodeInvalidMove
	case errors.Is(err, jsonrpc.ErrConnect):
		return protocol.CodeConnectionError
	case errors.Is(err, jsonrpc.ErrClosed):
		return protocol.CodePlayerDisconnect
	case errors.Is(err, jsonrpc.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return protocol.CodeTimeout
	case errors.Is(err, jsonrpc.ErrMalformed), errors.Is(err, jsonrpc.ErrTooLarge), errors.Is(err, ErrReceived):
		return protocol.CodeInvalidMove
	}
	return codeOfStatus(err)
}

// codeOfRefusal takes -1 for a timeout of the peer, whatever else it says.
func codeOfRefusal(r *dialect.Refusal) protocol.Code {
	if r.RPC == dialect.RPCTimeout {
		return protocol.CodeTimeout
	}
	return r.Code
}

// codeOfStatus returns the code for an HTTP status without an answer.
func codeOfStatus(err error) protocol.Code {
	var call *jsonrpc.CallError
	if !errors.As(err, &call) || !errors.Is(err, jsonrpc.ErrStatus) {
		return ""
	}
	switch call.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return protocol.CodeRateLimited
	case http.StatusBadGateway:
		return protocol.CodeConnectionError
	case http.StatusGatewayTimeout:
		return protocol.CodeTimeout
	}
	return ""
}

// Retryable reports whether a failed call may succeed on retry: by league.v2
// after E001, E002, E008 and E009 and after the statuses 429, 502, 503 and 504,
// unless the peer says that its refusal is not retryable.
func Retryable(err error) bool {
	var refusal *dialect.Refusal
	if errors.As(err, &refusal) && refusal.RPC != dialect.RPCTimeout {
		return refusal.Retryable
	}
	return CodeOf(err).Retryable()
}

// Refused reports whether a peer has read a message and definitely refuses it, so
// that a retry is useless: neither the transport nor an internal error of the
// peer is the cause.
func Refused(err error) bool {
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	if !ok || Retryable(err) || refusal.Code == protocol.CodeInternalError {
		return false
	}
	return refusal.Code != "" || refusal.RPC != 0
}

// refuses reports whether a peer has said no, rather than something that
// cannot be read.
func refuses(err error) bool {
	_, ok := errors.AsType[*dialect.Refusal](err)
	return ok
}

// UnknownMethod reports whether a peer does not know the name by which it was
// called: -32601, or no such tool.
func UnknownMethod(err error) bool {
	if err == nil {
		return false
	}
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	if !ok {
		return false
	}
	if refusal.RPC == protocol.RPCMethodNotFound {
		return true
	}
	var data struct{ Canonical string }
	return json.Unmarshal(refusal.Data, &data) == nil && data.Canonical == protocol.CanonicalToolNotFound
}

// acknowledges reports whether an answer that cannot be read only confirms that
// the message has arrived.
func acknowledges(a dialect.Answer) bool {
	var said struct {
		Type   string `json:"message_type"`
		Status string `json:"status"`
	}
	raw := a.Result
	if raw == nil {
		raw = a.Body
	}
	if raw == nil || a.Error != nil && a.Error.Kind() != 'n' {
		return false
	}
	if kind := raw.Kind(); kind == 'n' || kind == 't' || kind == '"' && len(raw) == len(`""`) {
		return true
	}
	if json.Unmarshal(raw, &said) != nil || said.Type != "" && !strings.HasSuffix(said.Type, "_ACK") {
		return false
	}
	switch strings.ToUpper(said.Status) {
	case protocol.StatusAcknowledged, "ACK", "OK", "RECEIVED", "SUCCESS", "ACCEPTED", "PENDING", "QUEUED", "PROCESSING":
		return true
	}
	return false
}

// Misread reports whether a refusal blames the form of a message: the peer does
// not understand the wrapping, and may understand another.
func Misread(err error) bool {
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	if !ok {
		return false
	}
	if UnknownMethod(err) || BadForm(refusal.Status) {
		return true
	}
	switch refusal.Code {
	case protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeUnknownMessageType:
		return true
	case "":
		return !refusal.Retryable
	}
	return false
}

// BadForm reports whether an HTTP status blames the form of a request.
func BadForm(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	}
	return false
}

// RefuseToken returns the refusal of a message whose sender is not who it
// should be.
func RefuseToken(in *Exchange, code protocol.Code, format string, args ...any) error {
	return protocol.Refuse(code, in.Type, fmt.Sprintf(format, args...)).With("provided_token", in.Header.AuthToken)
}
