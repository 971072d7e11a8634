package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/wire/schema"
)

// bound is a tool with its schemas compiled.
type bound struct {
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

func bind(t Tool, schemas compiler) (*bound, error) {
	if t.Call == nil {
		return nil, errors.New("it has no function to call")
	}
	if t.Input == nil {
		t.Input = json.RawMessage(`{"type":"object"}`)
	}
	b := &bound{tool: t, shown: t.Output}
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
func (b *bound) contract() schema.Tool {
	output := b.tool.Output
	if output == nil {
		output = json.RawMessage(`{"type":"object"}`)
	}
	return schema.Tool{Name: b.tool.Name, Input: jsontext.Value(b.tool.Input), Output: jsontext.Value(output)}
}

// describe returns the tool as clients see it.
func (b *bound) describe() *mcp.Tool {
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
