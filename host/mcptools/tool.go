package mcptools

import (
	"context"
	"encoding/json"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// A Tool is something that a client can call.
type Tool struct {
	// Name is what the tool is called by: letters, digits, '_', '-' and '.', at
	// most 128.
	Name string
	// Title is the name for people; Description tells a model when to call the
	// tool and what to expect.
	Title, Description string

	// Input is the JSON Schema (draft 2020-12) of the arguments, of type object and without
	// references, by default any.
	Input json.RawMessage
	// Output is the schema of the result, and of what refusals hold, of type object; nil
	// allows any JSON object.
	Output json.RawMessage

	// ReadOnly says that a call changes nothing; Destructive that it may change
	// or remove existing data; Idempotent that repeating a call has no further
	// effect; OpenWorld that it contacts other systems. They are hints for the
	// client.
	ReadOnly, Destructive, Idempotent, OpenWorld bool

	// ChecksInput says that the tool validates its input itself, because it has to
	// authenticate the caller first: Input is only shown to clients.
	ChecksInput bool

	// Call runs the tool. It returns a JSON object that matches Output, or an
	// error for the client: a *Refusal is sent as it is, any other by its text,
	// which should be a sentence that says what to do. The context ends when the
	// client cancels the call or deletes its session, or the server is closed.
	// Call must be safe for concurrent use.
	Call func(ctx context.Context, call *Call) (json.RawMessage, error)
}

// Call is one call of a tool.
type Call struct {
	// Tool is the name of the tool.
	Tool string
	// Input is a JSON object without duplicate names that matches the tool's input
	// schema, unless the tool checks its own input. Without arguments it is {}.
	Input json.RawMessage
	// From is the request that brought the call: its transport, route, peer, host and
	// header. What else it holds is not the tool's.
	From *jsonrpc.Request

	session  string // of HTTP, where it has one: a secret of the client
	progress func(done, total float64, message string)
}

// Progress reports the progress of the call to the client: done out of total, in
// any unit, total 0 if it is not known. It does nothing if the client has not
// asked for it, if done has not grown, or, but for the last report, within 100 ms
// of the report before. It is safe for concurrent use.
func (c *Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress(done, total, message)
	}
}

// A Refusal is an error with structured content.
type Refusal struct {
	// Text tells people and models what was wrong and what to do.
	Text string
	// Structured is a JSON object that matches Tool.Output.
	Structured json.RawMessage
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }
