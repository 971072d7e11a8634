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
	// Title is the name for people; Description tells a model when to call the
	// tool and what to expect.
	Title, Description string

	// Input is the JSON Schema (draft 2020-12) of the arguments, of type object.
	// References must stay within the schema.
	Input json.RawMessage
	// Output is the schema of the result, of type object; nil allows any JSON
	// object.
	Output json.RawMessage
	// Refusal is the schema of Refusal.Structured, of type object. Clients see one
	// output schema that allows either.
	Refusal json.RawMessage

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

	// Transport, Route, RemoteAddr, Host and Header are those of the request, as
	// in a jsonrpc.Request. Over STDIO there is no header.
	Transport  jsonrpc.Transport
	Route      string
	RemoteAddr string
	Host       string
	Header     http.Header
	// Session identifies the session; it is empty over STDIO and for clients
	// without sessions. It is a secret of the client.
	Session string

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
	// Text tells people and models what was wrong and what to do; empty stands
	// for the text of Structured.
	Text string
	// Structured is a JSON object that matches Tool.Refusal.
	Structured json.RawMessage
}

// Error returns the text.
func (r *Refusal) Error() string {
	if r.Text == "" {
		return string(r.Structured)
	}
	return r.Text
}

// boundTool is a tool with its compiled schemas.
type boundTool struct {
	tool                   Tool
	input, output, refusal *validator
	shown                  json.RawMessage // the output schema that clients see
}

// compiler compiles each schema once, since many tools share the one of refusals.
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

// contract returns the tool for the registry of the chain.
func (b *boundTool) contract() schema.Tool {
	output := b.tool.Output
	if output == nil {
		output = json.RawMessage(`{"type":"object"}`)
	}
	return schema.Tool{Name: b.tool.Name, Input: jsontext.Value(b.tool.Input), Output: jsontext.Value(output)}
}

// describe returns the tool for the list that clients see.
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

// either returns a schema of type object for what matches one of two schemas.
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
