package jsonrpc

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

// Error codes of JSON-RPC 2.0, section 5.1, and CodeBusy, which is ours: the
// specification leaves codes outside -32768..-32000 to the application.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = 48
)

// A Transport names how a message travels.
type Transport string

// The transports of this package.
const (
	TransportHTTP     Transport = "http"
	TransportSTDIO    Transport = "stdio"
	TransportLoopback Transport = "loopback"
)

// A Kind says what a request is.
type Kind int

const (
	// KindCall is a request with an id (which may be null): it expects an answer.
	KindCall Kind = iota
	// KindNotification is a request without an id: it expects none.
	KindNotification
	// KindObject is a JSON object without a "jsonrpc" member. It occurs only
	// with Config.Lenient, and only its Raw is filled in.
	KindObject
)

// A Request is one message as a server received it. Its bytes belong to the handler, which may keep
// them but not change them: Params, ID and Raw share memory.
type Request struct {
	Kind   Kind
	Method string
	// Params is an object, an array, the literal null, or nil if absent.
	Params jsontext.Value
	// ID is the id as it was written, nil if absent and "null" if null.
	ID jsontext.Value
	// Raw is the whole body. It is valid JSON in every request that a handler
	// sees; in one that Config.Refuse sees it may be anything, or nil.
	Raw jsontext.Value

	Transport Transport
	// Route is the path of the URL over HTTP and loopback, "stdio" over STDIO.
	Route string
	// RemoteAddr is host:port of the peer over HTTP, the caller's own name over
	// loopback, and "stdio" over STDIO.
	RemoteAddr string
	// Host is the Host header of HTTP, the host of the URL over loopback.
	Host string
	// Header is the HTTP header, or what a loopback caller passed. It may be
	// nil, which http.Header's methods for reading allow.
	Header http.Header

	parsed bool     // Raw has been read,
	flaw   *Refusal // and this is what is wrong with it
}

// A Response is the answer of a handler. The first of Body, Error and Result that is set is sent.
//
// A notification is answered by an empty body with status 202, whatever its Result: only Body and
// Error are sent, the latter with id null, for protocols in which a message without an id is an
// error. The zero Response therefore acknowledges a notification or an object; for a call it is a
// bug, which the caller sees as CodeInternal.
type Response struct {
	// Result must be valid JSON. It becomes the result of a call; for an object
	// (KindObject) it is the whole body, without JSON-RPC around it.
	Result jsontext.Value
	Error  *Error
	// Body is sent unchanged, for peers that expect something else than
	// JSON-RPC. Over STDIO it must be valid JSON.
	Body []byte
	// Status is the HTTP status, by default 200, or 202 where the body is
	// empty. Over STDIO it reaches only the tap.
	Status int
}

// A Handler answers requests. Handle is called from many goroutines at once. Its context ends when
// the peer disconnects or the server stops waiting; Handle must then return soon, since servers
// wait for their handlers. Over loopback it is the context of the caller. A panic is answered by
// CodeInternal and logged; it ends neither the connection nor the process.
type Handler interface {
	Handle(ctx context.Context, req *Request) Response
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, req *Request) Response

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, req *Request) Response { return f(ctx, req) }

// Error is the error object of a JSON-RPC response.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	// Data is any JSON value, or nil if absent.
	Data jsontext.Value `json:"data,omitzero"`
}

// Error returns code and message; Data may be long or secret and is left out.
func (e *Error) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

// A Reason says why a server refused a request before it reached the handler
// or, for ReasonInternal, because the handler failed.
type Reason string

// The reasons, in the order of the table in the package documentation.
const (
	ReasonForeign   Reason = "foreign"
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

// A Refusal describes a request that a server refuses by itself.
type Refusal struct {
	Reason Reason
	Status int    // of HTTP
	Code   int    // of JSON-RPC
	Detail string // a sentence for a person, without values from the message
}

// Error returns the error object that is sent by default: the standard text
// for the code, and data {"detail": Detail}.
func (r *Refusal) Error() *Error {
	data := rawjson.Object{{Name: "detail", Value: rawjson.Quote(r.Detail)}}.Encode()
	return &Error{Code: r.Code, Message: messages[r.Code], Data: data}
}

var messages = map[int]string{CodeParse: "Parse error", CodeInvalidRequest: "Invalid Request", CodeInternal: "Internal error", CodeBusy: "Too busy"}

// A RefuseFunc replaces the error object of a refusal; nil keeps it. How much of
// the request is filled in depends on the reason: transport, route and peer
// always, the body from ReasonBadJSON on, the id where it could be read.
type RefuseFunc func(ctx context.Context, req *Request, r *Refusal) *Error

// The HTTP statuses of the reasons but 400, and the codes of JSON-RPC but CodeInvalidRequest.
var (
	statuses = map[Reason]int{
		ReasonForeign: http.StatusForbidden, ReasonTooLarge: http.StatusRequestEntityTooLarge, ReasonMediaType: http.StatusUnsupportedMediaType,
		ReasonVerb: http.StatusMethodNotAllowed, ReasonTimeout: http.StatusRequestTimeout, ReasonBusy: http.StatusServiceUnavailable,
		ReasonInternal: http.StatusInternalServerError,
	}
	codes = map[Reason]int{ReasonBadJSON: CodeParse, ReasonBusy: CodeBusy, ReasonInternal: CodeInternal}
)

func refusal(reason Reason, detail string) *Refusal {
	return &Refusal{
		Reason: reason, Status: cmp.Or(statuses[reason], http.StatusBadRequest), Code: cmp.Or(codes[reason], CodeInvalidRequest), Detail: detail,
	}
}

func bodyTooLarge(limit int64) *Refusal {
	return refusal(ReasonTooLarge, fmt.Sprintf("the message is longer than %d bytes", limit))
}
