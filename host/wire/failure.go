package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// ErrReceived says that a peer has received a message without answering it: the answer was empty or
// only confirmed the message. Some players send their answer later, in a request of their own.
var ErrReceived = errors.New("the peer has received the message and not answered it")

// OnlyReceived reports whether a failed call shows that the peer has received the message and does
// not refuse it: it has confirmed that, in whatever form, and not answered.
func OnlyReceived(err error) bool {
	_, unusable := errors.AsType[*protocol.Error](err)
	return errors.Is(err, ErrReceived) || unusable
}

func refusalOf(err error) *dialect.Refusal {
	refusal, _ := errors.AsType[*dialect.Refusal](err)
	return refusal
}

// callError returns the failure of a call without an answer, nil for every other error.
func callError(err error) *jsonrpc.CallError {
	call, _ := errors.AsType[*jsonrpc.CallError](err)
	return call
}

// statusOf returns the HTTP status of a refusal and of an answer that is not the league's, 0 for others.
func statusOf(err error) int {
	if refusal := refusalOf(err); refusal != nil {
		return refusal.Status
	}
	if call := callError(err); call != nil && errors.Is(err, jsonrpc.ErrStatus) {
		return call.Status
	}
	return 0
}

// CodeOf returns the league error code for a failed call: the code of the peer's refusal, or one
// for the state of the connection. An unusable answer is E002, which is retried, but for an invalid
// choice, which is E004. The code is empty for nil and for errors that have none.
func CodeOf(err error) protocol.Code {
	unusable, broken := errors.AsType[*protocol.Error](err)
	switch refusal := refusalOf(err); {
	case refusal != nil && refusal.RPC == dialect.RPCTimeout: // whatever else it says
		return protocol.CodeTimeout
	case refusal != nil:
		return refusal.Code
	case broken && unusable.Code == protocol.CodeInvalidParityChoice:
		return unusable.Code
	case broken, errors.Is(err, jsonrpc.ErrMalformed), errors.Is(err, jsonrpc.ErrTooLarge), errors.Is(err, ErrReceived):
		return protocol.CodeInvalidMove
	case errors.Is(err, jsonrpc.ErrConnect):
		return protocol.CodeConnectionError
	case errors.Is(err, jsonrpc.ErrClosed):
		return protocol.CodePlayerDisconnect
	case errors.Is(err, jsonrpc.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return protocol.CodeTimeout
	}
	switch statusOf(err) {
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
	if refusal := refusalOf(err); refusal != nil && refusal.RPC != dialect.RPCTimeout {
		return refusal.Retryable
	}
	return CodeOf(err).Retryable()
}

// Refused reports whether a peer has read a message and definitely refuses it, so that a retry is
// useless: neither the transport nor an internal error of the peer is the cause.
func Refused(err error) bool {
	refusal := refusalOf(err)
	return refusal != nil && !Retryable(err) && refusal.Code != protocol.CodeInternalError && (refusal.Code != "" || refusal.RPC != 0)
}

// A Verdict is what an answer says of the form in which a message was sent.
type Verdict int

// The verdicts.
const (
	// Understood: the peer has read the message and answered it.
	Understood Verdict = iota
	// Refuses: the peer has read the message and refuses it for good.
	Refuses
	// Misunderstood: the peer does not understand this form.
	Misunderstood
	// Doubtful: the peer may have acted on the message, but gave no answer that says so.
	Doubtful
	// Unreached: nobody was there, or had time.
	Unreached
)

// Judge judges the outcome of a call. Evidence that the peer does not understand decides only that
// another form is to be tried: a status, a code of JSON-RPC itself, an error in any wording that is
// not clearly a refusal by the league.
func Judge(err error) Verdict {
	if err == nil {
		return Understood
	}
	if refusal := refusalOf(err); refusal != nil {
		return judgeRefusal(refusal, err)
	}
	status := statusOf(err)
	switch {
	case callError(err) == nil:
		return Doubtful
	case errors.Is(err, jsonrpc.ErrConnect), jsonrpc.RetryableStatus(status):
		return Unreached
	case status == 0:
		return Doubtful
	case status < http.StatusInternalServerError && protocol.Says(protocol.LeagueRefuses, Words(err)):
		return Refuses
	case status < http.StatusInternalServerError, UnknownMethod(err):
		return Misunderstood
	}
	return Doubtful
}

func judgeRefusal(r *dialect.Refusal, err error) Verdict {
	switch {
	case UnknownMethod(err):
		return Misunderstood
	case r.Retryable && r.Code != protocol.CodeInvalidMove:
		return Unreached
	case protocol.Says(protocol.LeagueRefuses, r.Message):
		return Refuses
	}
	switch r.Code {
	case protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeInvalidMove:
		return Misunderstood
	case protocol.CodeInternalError:
		return Doubtful
	case "":
		switch {
		case r.Status == http.StatusForbidden, r.Status == http.StatusConflict, r.Status == http.StatusGone:
			return Refuses
		case r.Status >= http.StatusInternalServerError && r.Status != http.StatusNotImplemented:
			return Doubtful
		}
		return Misunderstood
	}
	return Refuses
}

// Answered reports whether a call that led to nothing certain has had an answer
// at all: then repeating it leads nowhere.
func Answered(err error) bool {
	return !errors.Is(err, jsonrpc.ErrTimeout) && !errors.Is(err, jsonrpc.ErrClosed) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// UnknownMethod reports whether a peer does not know the name by which it was
// called: by the code for that, by a status, or by its words.
func UnknownMethod(err error) bool {
	refusal := refusalOf(err)
	if refusal == nil {
		status := statusOf(err)
		return status != 0 && !jsonrpc.RetryableStatus(status) && (noSuchPlace(status) || protocol.Says(protocol.UnknownName, Words(err)))
	}
	if refusal.RPC == protocol.RPCMethodNotFound || refusal.Code == protocol.CodeUnknownMessageType {
		return true
	}
	if canonical := rawjson.Split(refusal.Data).Text("canonical"); canonical != "" {
		return canonical == protocol.CanonicalToolNotFound
	}
	switch refusal.Code {
	case "":
		return noSuchPlace(refusal.Status) || protocol.Says(protocol.UnknownName, refusal.Message)
	case protocol.CodeInternalError, protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch:
		return protocol.Says(protocol.UnknownName, refusal.Message)
	}
	return false
}

// unreadable reports whether a peer has failed on a message without a word of the league: by an
// HTTP status or an internal error. It may not know the name by which it was called.
func unreadable(err error) bool {
	if Retryable(err) {
		return false
	}
	if r := refusalOf(err); r != nil {
		message := rawjson.Split(r.Data).Get("error_code") != nil
		return (r.Code == "" || r.Code == protocol.CodeInternalError) && !message
	}
	status := statusOf(err)
	return status != 0 && status != http.StatusUnauthorized && status != http.StatusForbidden
}

// noSuchPlace reports whether an HTTP status says that there is nothing of that
// name or that it does not take messages.
func noSuchPlace(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// Words returns what a peer says in a refusal, in its own words: "" where it says nothing.
func Words(err error) string {
	if refusal := refusalOf(err); refusal != nil {
		return refusal.Message
	}
	call := callError(err)
	if call == nil {
		return ""
	}
	const enough = 800 // bytes
	return dialect.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(string(call.Body[:min(len(call.Body), enough)]), "?")), " "), dialect.MaxWords)
}

// acknowledges reports whether an answer that cannot be read only confirms that
// the message has arrived.
func acknowledges(a dialect.Answer) bool {
	raw := a.Raw
	if raw == nil || a.Error != nil && a.Error.Kind() != 'n' {
		return false
	}
	if kind := raw.Kind(); kind == 'n' || kind == 't' || kind == '"' && len(raw) == len(`""`) {
		return true
	}
	doc := rawjson.Split(raw)
	if said := doc.Text("message_type"); said != "" && !strings.HasSuffix(said, "_ACK") {
		return false
	}
	status, _ := protocol.Find(doc, "status", `"`)
	return protocol.Means(protocol.Receiving, string(rawjson.Text(status.Value)))
}

// blamesID reports whether a peer says that the request's id is of the wrong
// kind: a validator names the member, or the words do.
func blamesID(err error) bool { return protocol.Says(protocol.BlamesID, Words(err)) }

func needsSession(err error) bool {
	return statusOf(err) == http.StatusNotAcceptable || protocol.Says(protocol.WantsSession, Words(err))
}

// wrongPath reports whether a peer says that it takes nothing at a path, rather
// than that it does not know a method.
func wrongPath(err error) bool {
	status, refusal := statusOf(err), refusalOf(err)
	return (refusal == nil || refusal.RPC == 0) && (status >= 300 && status < 400 ||
		noSuchPlace(status) && status != http.StatusNotImplemented && !protocol.Says(protocol.NamesMessage, Words(err)))
}
