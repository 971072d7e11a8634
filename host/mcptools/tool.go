package mcptools

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// A Tool is something that a client can call.
type Tool struct {
	// Name is what the tool is called by: letters, digits, '_', '-' and '.', at
	// most 128.
	Name string
	// Title is the name for people, Description what a model reads to know when
	// to call the tool and what to expect of it.
	Title, Description string

	// Input is the JSON Schema (draft 2020-12) of what the tool takes, of type
	// object. A reference may lead only to a place within the schema.
	Input json.RawMessage
	// Output is the schema of what the tool returns, of type object. Without one
	// it may return any JSON object.
	Output json.RawMessage
	// Refusal is the schema of Refusal.Structured, of type object. Clients see
	// one schema that admits either.
	Refusal json.RawMessage

	// ReadOnly says that a call changes nothing; Destructive that it may change
	// what was there rather than add to it; Idempotent that repeating a call has
	// no further effect; OpenWorld that it reaches out to others. They are hints
	// for the client.
	ReadOnly, Destructive, Idempotent, OpenWorld bool

	// Guarded says that the tool finds out who calls before it judges the input,
	// and then does both itself: Input is only shown.
	Guarded bool

	// Call does it. It returns a JSON object that keeps Output, or an error that
	// the client is told in the tool's own name: by its text, which should be a
	// sentence that says what to do about it, or, if it is a *Refusal, by what
	// that holds. The context ends when the client cancels the call, gives up
	// its session, or the server is closed. Call is used from many goroutines at
	// once.
	Call func(ctx context.Context, call *Call) (json.RawMessage, error)
}

// Call is one call of a tool.
type Call struct {
	// Tool is the name that was called.
	Tool string
	// Input is the JSON object that came: it keeps the tool's input schema,
	// unless the tool is guarded, and has no duplicate names. Without arguments
	// it is {}.
	Input json.RawMessage

	// Transport, Route, RemoteAddr, Host and Header are those of the request
	// that brought the call, as a jsonrpc.Request has them. Over STDIO there is
	// no header.
	Transport  jsonrpc.Transport
	Route      string
	RemoteAddr string
	Host       string
	Header     http.Header
	// Session tells sessions apart; it is empty over STDIO and for clients
	// that keep none. It is a secret of the client.
	Session string

	progress func(done, total float64, message string)
}

// Progress tells the client how far the call has come: done out of total, in
// any unit, total 0 if it is not known. It does nothing where the client has
// not asked for it, where done has not grown, and more often than every 100 ms
// but for the last. It is safe for concurrent use.
func (c *Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress(done, total, message)
	}
}

// A Refusal is an error that a client can read by program.
type Refusal struct {
	// Text says what was wrong and what to do. It is what people and models
	// read; empty means Structured as it is.
	Text string
	// Structured is a JSON object that keeps Tool.Refusal.
	Structured json.RawMessage
}

// Error returns the text.
func (r *Refusal) Error() string {
	if r.Text == "" {
		return string(r.Structured)
	}
	return r.Text
}
