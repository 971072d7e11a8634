package jsonrpc

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
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

// A Transport names the way by which a message travels.
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
	// KindCall is a request with an id (which may be null): it wants an answer.
	KindCall Kind = iota
	// KindNotification is a request without an id: it wants none.
	KindNotification
	// KindObject is a JSON object without a "jsonrpc" member. It comes only
	// where Config.AcceptObjects is set, and only its Raw is filled in.
	KindObject
)

// String returns "call", "notification" or "object".
func (k Kind) String() string {
	switch k {
	case KindCall:
		return "call"
	case KindNotification:
		return "notification"
	case KindObject:
		return "object"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Request is one message as a server received it. Its bytes belong to the
// handler, which may keep them but not change them: Params, ID and Raw share
// memory.
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
	// RemoteAddr is host:port of the peer over HTTP, the name that the caller
	// gave itself over loopback, and "stdio" over STDIO.
	RemoteAddr string
	// Host is the Host header of HTTP, the host of the URL over loopback.
	Host string
	// Header is the HTTP header, or what a loopback caller passed. It may be
	// nil, which http.Header's methods for reading allow.
	Header http.Header

	parsed bool     // Raw has been read,
	flaw   *Refusal // and this is what is wrong with it
}

// A Response is what a handler answers. The fields are tried in the order
// Body, Error, Result.
//
// A notification is answered by an empty body with status 202, whatever its
// Result: only Body and Error are sent, the latter with id null, for
// protocols in which a message without an id is an error. The zero Response
// therefore acknowledges a notification or an object; for a call it is a
// mistake, which the caller sees as CodeInternal.
type Response struct {
	// Result must be valid JSON. It becomes the result of a call; for an object
	// (KindObject) it is the whole body, since such a peer reads no frame.
	Result jsontext.Value
	Error  *Error
	// Body is sent as it is, for peers that expect something else than
	// JSON-RPC. Over STDIO it must be valid JSON.
	Body []byte
	// Status is the HTTP status, by default 200, or 202 where the body is
	// empty. Over STDIO it reaches only the tap.
	Status int
}

// A Handler answers requests. Handle is called from many goroutines at once.
// Its context ends when the peer goes away or the server stops waiting
// for it; Handle must then return soon, since servers wait for their handlers.
// Over loopback it is the context of the caller. A panic is answered by
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
	Code    int
	Message string
	// Data is any JSON value, or nil if absent.
	Data jsontext.Value
}

// Error returns code and message; Data may be long or secret and is left out.
func (e *Error) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }
