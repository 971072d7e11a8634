package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// The contract of envelopes and tools: what the chain checks before and after the
// agent's own stages, where it has a registry.

// IsMCP reports whether the rules of the MCP standard apply to a request, by its headers: it names
// a session or a version of that standard, or wants its answer as an event stream. The rules of
// this package apply to every other request. The header may be nil, as it is over STDIO.
func IsMCP(h http.Header) bool {
	if len(h["Mcp-Session-Id"]) > 0 || len(h["Mcp-Protocol-Version"]) > 0 {
		return true
	}
	for _, list := range h["Accept"] {
		for media := range strings.SplitSeq(list, ",") {
			media, _, _ = strings.Cut(media, ";")
			if strings.EqualFold(strings.TrimSpace(media), "text/event-stream") {
				return true
			}
		}
	}
	return false
}

// contract refuses a request that lacks the required form, and the call of a tool that
// does not exist or whose input breaks its schema.
func (c *Chain) contract(x *Exchange) *protocol.Error {
	if x.mcp || c.cfg.Registry == nil {
		return nil
	}
	rpc := x.RPC
	keeps := rpc.Kind != jsonrpc.KindObject && rpc.ID.Kind() == '"' && rpc.Method != "" && rpc.Params.Kind() == '{' &&
		(!c.cfg.Deterministic || schema.IsUUID(string(rawjson.Text(rpc.ID)))) // what envelope demands, without reading it again
	if c.cfg.Strict && !keeps { // by the rules of the league the agent checks the envelope
		return badEnvelope(c.envelope(rpc.Raw, true), noObject)
	}
	if rpc.Method != methodToolsCall {
		return nil
	}
	params := rawjson.Split(rpc.Params)
	if params.Get("tool", "input") == nil {
		return nil
	}
	found := dialect.ToolIO.Request.Broken(params)
	switch {
	case params.Get("name", "arguments") != nil:
		found = []protocol.Violation{{Path: "/params/name", Rule: "exclusive"}, {Path: "/params/tool", Rule: "exclusive"}}
	case c.cfg.Strict && params.Get("input") == nil:
		found = append(found, protocol.Violation{Path: "/params/input", Rule: "required"})
	}
	if found != nil {
		return refuse(protocol.CanonicalInvalidToolInput, found...)
	}
	x.call = &toolCall{input: params.Get("input")}
	if x.call.input == nil {
		x.call.input = jsontext.Value("{}")
	}
	return c.findTool(x, params.Text("tool"))
}

var noObject = protocol.Violation{Path: "", Rule: "type"}

// envelopes returns the rules of envelopes as JSON Schemas, those of the league and the strict ones.
var envelopes = sync.OnceValues(func() (league, strict *schema.Validator) {
	league, _ = schema.Compile(jsontext.Value(`{"required":["id","jsonrpc","method"],"properties":{
		"id":{"type":["string","number"]},"jsonrpc":{"const":"2.0"},"method":{"type":"string"},"params":{"type":["object","null"]}}}`))
	strict, _ = schema.Compile(jsontext.Value(`{"required":["id","jsonrpc","method","params"],"properties":{
		"id":{"type":"string"},"jsonrpc":{"const":"2.0"},"method":{"type":"string","minLength":1},"params":{"type":"object"}}}`))
	return league, strict
})

// envelope returns what a request breaks of the rules of envelopes: those of the league, or the
// strict ones, with a UUID as id where the chain is deterministic.
func (c *Chain) envelope(raw jsontext.Value, strict bool) []protocol.Violation {
	doc, err := rawjson.Parse(raw)
	if err != nil {
		return []protocol.Violation{noObject}
	}
	rules, strictRules := envelopes()
	if strict {
		rules = strictRules
	}
	found := rules.Check(raw, "", len(raw)+1)
	if id := doc.Get("id"); strict && c.cfg.Deterministic && id.Kind() == '"' && !schema.IsUUID(doc.Text("id")) {
		found = append(found, protocol.Violation{Path: "/id", Rule: "format"})
	}
	return found
}

// badEnvelope returns the refusal for an envelope by what it breaks, or else by other.
func badEnvelope(found []protocol.Violation, other protocol.Violation) *protocol.Error {
	if found == nil {
		found = append(found, other)
	}
	return refuse(protocol.CanonicalInvalidEnvelope, found...)
}

const methodToolsCall = "tools/call"

// toolCall is a call by tools/call with params.tool and params.input.
type toolCall struct {
	input jsontext.Value       // by default an empty object
	name  string               // of the tool in the registry; empty where only the agent may know it
	found []protocol.Violation // by the schema, in the input of a message
}

// findTool finds the tool that is called. Unless envelopes are strict, a known message
// type replaces an unknown name, as in other dialects.
func (c *Chain) findTool(x *Exchange, name string) *protocol.Error {
	call := x.call
	tool, known := c.cfg.Registry.Find(name)
	if !known && !c.cfg.Strict {
		tool, known = c.cfg.Registry.Find(rawjson.Split(call.input).Text("message_type"))
	}
	call.name = tool.Name
	switch {
	case known && !tool.Message:
		x.plain = true
		return c.input(tool.Name, call.input, "/params/input")
	case !known && (c.cfg.Strict || c.cfg.Agent == nil):
		return unknownTool("/params/tool")
	}
	return nil // the agent may know more names, such as those of managers that assign matches one by one
}

func unknownTool(path string) *protocol.Error {
	return refuse(protocol.CanonicalToolNotFound, protocol.Violation{Path: path, Rule: "known"})
}

// input returns the refusal of an input that breaks the schema of its tool. The path is that of the input.
func (c *Chain) input(tool string, input jsontext.Value, path string) *protocol.Error {
	io, err := c.cfg.Registry.LoadToolIO(tool)
	if err != nil {
		return c.ours(tool, err)
	}
	if found := io.In.Check(input, path, schema.MaxValues); found != nil {
		return refuse(protocol.CanonicalInvalidToolInput, found...)
	}
	return nil
}

// output is input for the output of a tool.
func (c *Chain) output(tool string, output jsontext.Value, path string) *protocol.Error {
	io, err := c.cfg.Registry.LoadToolIO(tool)
	if err != nil {
		return c.ours(tool, err)
	}
	if found := io.Out.Check(output, path, len(output)+1); found != nil {
		return c.ours(tool, errors.New("the output of the tool breaks its schema"), found...)
	}
	return nil
}

// ours reports a fault of a tool of ours, and returns the refusal for it.
func (c *Chain) ours(tool string, err error, found ...protocol.Violation) *protocol.Error {
	c.cfg.Errors.Error("a tool of ours is at fault; its output is not sent", "tool", tool, "error", err, "violations", found)
	return internal(err, found...)
}

// messageInput words what a message breaks by the schema of the tool, which
// agrees with the field table. Only the schema bounds the number of values, so a
// long input is checked against it even if the field table accepts it.
func (c *Chain) messageInput(x *Exchange) {
	input := x.call.input
	if x.flaw == nil && len(input) < 2*schema.MaxValues {
		return
	}
	refusal := c.input(x.call.name, input, "/params/input")
	switch {
	case refusal == nil:
		return
	case refusal.Canonical == protocol.CanonicalInvalidToolInput:
		x.call.found = refusal.Violations
		refusal.Detail = "the input of the tool breaks its schema at " + refusal.Violations[0].Path
	}
	x.flaw = refusal
}

// respond replaces a response that is to be a canonical error: a refusal that has one, or
// the output of a tool that breaks its schema.
func (c *Chain) respond(x *Exchange) {
	if _, wrong := x.response.Sent(x.RPC); wrong != "" || x.mcp || c.cfg.Registry == nil {
		return
	}
	call, res := x.call, x.response
	var refusal *protocol.Error
	var said jsontext.Value
	switch {
	case call != nil && call.found != nil && (x.asked || res.Error == nil):
		refusal = refuse(protocol.CanonicalInvalidToolInput, call.found...)
		if x.refusal != nil && x.refusal.Detail != "" {
			said = rawjson.Object{{Name: "detail", Value: rawjson.Quote(x.refusal.Detail)}}.Encode()
		}
	case res.Error != nil:
		refusal, said = c.canonicalOf(x), res.Error.Data
	case call == nil || call.name == "" || res.Body != nil || res.Result == nil:
	case x.plain, x.Dialect == dialect.ToolIO: // the agent may answer in another dialect
		refusal = c.badResult(x)
	}
	if refusal != nil {
		x.refuse(refusal, said)
	}
}

// badResult returns the refusal for an output that breaks the schema of its tool. A message is read
// by its field table, and only if it breaks that by the schema, which words what is wrong.
func (c *Chain) badResult(x *Exchange) *protocol.Error {
	result := x.response.Result
	if !x.plain {
		_, err := c.cfg.Agent.Codec.ReadAnswer(x.Type, dialect.Answer{Status: http.StatusOK, Raw: result})
		if _, broken := errors.AsType[*protocol.Error](err); !broken {
			return nil
		}
	}
	return c.output(x.call.name, rawjson.Split(result).Get("output"), "/result/output")
}

// canonicalOf returns the canonical form of a refusal by the handler, nil if it is the
// league's own and has none.
func (c *Chain) canonicalOf(x *Exchange) *protocol.Error {
	sent, at := x.response.Error, "/method"
	if x.call != nil {
		at = "/params/tool"
	}
	switch {
	case rawjson.Split(sent.Data).Text("canonical") != "":
	case sent.Code == jsonrpc.CodeInvalidRequest:
		return badEnvelope(c.envelope(x.RPC.Raw, false), protocol.Violation{Path: at, Rule: "consistent"})
	case x.call == nil:
	case sent.Code == jsonrpc.CodeMethodNotFound:
		return unknownTool(at)
	case sent.Code == jsonrpc.CodeInvalidParams:
		found := []protocol.Violation{{Path: "/params/input", Rule: "consistent"}}
		if x.refusal != nil && len(x.refusal.Violations) > 0 {
			found = nil
			for _, v := range x.refusal.Violations {
				found = append(found, protocol.Violation{Path: "/params/input" + v.Path, Rule: v.Rule})
			}
		}
		return refuse(protocol.CanonicalInvalidToolInput, found...)
	case sent.Code == jsonrpc.CodeInternal:
		return internal(sent)
	}
	return nil
}

// Call takes a call of a plain tool that an SDK of the MCP standard has read from a request through
// the stages that apply to it: the tool must exist and the input must keep its schema before
// serve is called, and the output its own before Call returns it. The outcome is logged. The error is canonical ([Canonical]), or the tool's own reason to decline a valid call,
// which is logged as ok.
func (c *Chain) Call(ctx context.Context, from *jsonrpc.Request, tool string, input jsontext.Value, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	began := time.Now()
	x := &Exchange{RPC: &jsonrpc.Request{Transport: from.Transport, Route: from.Route}, response: jsonrpc.Response{Result: jsontext.Value("{}")}}
	output, err := c.call(ctx, tool, input, serve)
	if refusal := Canonical(err); refusal != nil {
		x.refuse(refusal, nil)
	}
	if c.cfg.Log != nil {
		c.log(x, methodToolsCall, began)
	}
	return output, err
}

func (c *Chain) call(ctx context.Context, name string, input jsontext.Value, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	if name == "" {
		return nil, refuse(protocol.CanonicalInvalidToolInput, protocol.Violation{Path: "/params/name", Rule: "required"})
	}
	tool, known := c.cfg.Registry.Find(name)
	if !known {
		return nil, unknownTool("/params/name")
	}
	if refusal := c.input(tool.Name, input, "/params/arguments"); refusal != nil {
		return nil, refusal
	}
	output, err := serve(ctx)
	if err == nil {
		if refusal := c.output(tool.Name, output, ""); refusal != nil {
			return nil, refusal
		}
	}
	return output, err
}
