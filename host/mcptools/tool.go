package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire/schema"
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
	ChecksInput bool

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

// boundTool is a tool with its schemas compiled.
type boundTool struct {
	tool                   Tool
	input, output, refusal *validator
	shown                  json.RawMessage // the output schema that clients see
}

// compiler compiles each schema once: those of refusals are mostly the same.
type compiler map[string]*validator

func (c compiler) compile(raw json.RawMessage) (*validator, error) {
	if done := c[string(raw)]; done != nil {
		return done, nil
	}
	compiled, err := compile(raw)
	if err == nil {
		c[string(raw)] = compiled
	}
	return compiled, err
}

func bind(t Tool, schemas compiler) (*boundTool, error) {
	if t.Call == nil {
		return nil, errors.New("it has no function to call")
	}
	if t.Input == nil {
		t.Input = json.RawMessage(`{"type":"object"}`)
	}
	b := &boundTool{tool: t, shown: t.Output}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		to   **validator
	}{{"input", t.Input, &b.input}, {"output", t.Output, &b.output}, {"refusal", t.Refusal, &b.refusal}} {
		if part.raw == nil {
			continue
		}
		compiled, err := schemas.compile(part.raw)
		if err != nil {
			return nil, fmt.Errorf("its %s schema: %w", part.name, err)
		}
		*part.to = compiled
	}
	if t.Output != nil && t.Refusal != nil {
		var err error
		if b.shown, err = either(t.Output, t.Refusal); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// contract returns the tool as the pipeline of calls knows it.
func (b *boundTool) contract() schema.Tool {
	output := b.tool.Output
	if output == nil {
		output = json.RawMessage(`{"type":"object"}`)
	}
	return schema.Tool{Name: b.tool.Name, Input: jsontext.Value(b.tool.Input), Output: jsontext.Value(output)}
}

// describe returns the tool as clients see it.
func (b *boundTool) describe() *mcp.Tool {
	t := b.tool
	out := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Input,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, IdempotentHint: t.Idempotent,
			DestructiveHint: &t.Destructive, OpenWorldHint: &t.OpenWorld,
		},
	}
	if b.shown != nil {
		out.OutputSchema = b.shown
	}
	return out
}

// either returns a schema of type object that admits what one of two admits.
func either(a, b json.RawMessage) (json.RawMessage, error) {
	var defs = map[string]json.RawMessage{}
	var parts []json.RawMessage
	for _, raw := range []json.RawMessage{a, b} {
		part := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &part); err != nil {
			return nil, err
		}
		own := map[string]json.RawMessage{}
		if err := json.Unmarshal(or(part["$defs"], `{}`), &own); err != nil {
			return nil, err
		}
		for name, def := range own {
			if old, taken := defs[name]; taken && string(old) != string(def) {
				return nil, fmt.Errorf("the schemas of output and refusal define %q differently", name)
			}
			defs[name] = def
		}
		delete(part, "$defs")
		delete(part, "$schema")
		delete(part, "$id")
		rest, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, rest)
	}
	whole := map[string]any{"type": "object", "anyOf": parts}
	if len(defs) > 0 {
		whole["$defs"] = defs
	}
	return json.Marshal(whole)
}

func or(raw json.RawMessage, def string) json.RawMessage {
	if raw == nil {
		return json.RawMessage(def)
	}
	return raw
}
