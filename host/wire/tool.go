package wire

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// methodToolsCall is the method of a tool call.
const methodToolsCall = "tools/call"

// toolCall is a call by tools/call with params.tool and params.input.
type toolCall struct {
	params rawjson.Object
	name   string // of the tool in the registry; empty where only the agent may know it
	// bySchema says that the schema of the tool words what a message breaks.
	bySchema bool
	io       *schema.ToolIO       // of a tool that is no message
	found    []protocol.Violation // by the schema, in the input of a message
}

// toolCallOf returns the tool call of a request in this form, or in both forms at
// once; nil if it is not one.
func toolCallOf(rpc *jsonrpc.Request) *toolCall {
	if rpc.Method != methodToolsCall || rpc.Params.Kind() != '{' {
		return nil
	}
	params, err := rawjson.Parse(rpc.Params)
	if err != nil || params.Get("tool") == nil && params.Get("input") == nil {
		return nil
	}
	return &toolCall{params: params}
}

// shape returns what is wrong with the call before its tool is looked up.
func (c *toolCall) shape(strict bool) []protocol.Violation {
	if c.params.Get("name") != nil || c.params.Get("arguments") != nil {
		return []protocol.Violation{{Path: "/params/name", Rule: "exclusive"}, {Path: "/params/tool", Rule: "exclusive"}}
	}
	var found []protocol.Violation
	switch tool := c.params.Get("tool"); {
	case tool == nil:
		found = append(found, protocol.Violation{Path: "/params/tool", Rule: "required"})
	case c.params.Text("tool") == "":
		found = append(found, protocol.Violation{Path: "/params/tool", Rule: "type"})
	}
	switch input := c.params.Get("input"); {
	case input == nil && strict:
		found = append(found, protocol.Violation{Path: "/params/input", Rule: "required"})
	case input != nil && input.Kind() != '{':
		found = append(found, protocol.Violation{Path: "/params/input", Rule: "type"})
	}
	return found
}

// input returns what the tool is called with, by default an empty object.
func (c *toolCall) input() jsontext.Value {
	if input := c.params.Get("input"); input != nil {
		return input
	}
	return jsontext.Value("{}")
}

// tool refuses a call of an unknown tool, or with members of the wrong shape.
func (p *Pipeline) tool(_ context.Context, x *Exchange) error {
	if x.mcp {
		return nil
	}
	c := toolCallOf(x.RPC)
	if c == nil {
		return nil
	}
	if found := c.shape(p.cfg.Strict); found != nil {
		return refuse(protocol.CanonicalInvalidToolInput, found...)
	}
	x.call = c
	tool, known := p.find(c)
	switch {
	case known && tool.Message:
		c.name, c.bySchema = tool.Name, p.cfg.Strict || !p.cfg.Tolerant
		return nil
	case known:
		x.plain, c.name = true, tool.Name
		var refusal *Refusal
		if c.io, refusal = p.load(tool.Name); refusal != nil {
			return refusal
		}
		return nil
	case p.cfg.Strict, p.cfg.Agent == nil:
		return unknownTool("/params/tool")
	}
	// The agent may know more names than the registry, such as those of managers
	// that assign matches one by one.
	return nil
}

// find returns the tool that is called. Unless envelopes are strict, a known
// message type replaces an unknown name, as in other dialects.
func (p *Pipeline) find(c *toolCall) (schema.Tool, bool) {
	tool, known := p.cfg.Registry.Find(c.params.Text("tool"))
	if known || p.cfg.Strict {
		return tool, known
	}
	members, err := rawjson.Parse(c.input())
	if err != nil {
		return tool, false
	}
	return p.cfg.Registry.Find(members.Text("message_type"))
}

func unknownTool(path string) *Refusal {
	return refuse(protocol.CanonicalToolNotFound, protocol.Violation{Path: path, Rule: "known"})
}

// load returns the schemas of a registered tool.
func (p *Pipeline) load(name string) (*schema.ToolIO, *Refusal) {
	io, err := p.cfg.Registry.LoadToolIO(name)
	if err != nil {
		p.cfg.Errors.Error("tool cannot be called: its schema does not compile", "tool", name, "error", err)
		return nil, internal(err)
	}
	return io, nil
}

// plainInput refuses an input that breaks the schema of its tool.
func (p *Pipeline) plainInput(x *Exchange) error {
	if x.call == nil || x.call.io == nil {
		return nil
	}
	if found := x.call.io.CheckInput(x.call.input(), "/params/input"); found != nil {
		return refuse(protocol.CanonicalInvalidToolInput, found...)
	}
	return nil
}

// messageInput words what a message breaks by the schema of the tool, which
// agrees with the field table. Only the schema bounds the number of values, so a
// long input is checked against it even if the field table accepts it.
func (p *Pipeline) messageInput(x *Exchange) {
	input := x.call.input()
	if x.flaw == nil && len(input) < 2*schema.MaxValues {
		return
	}
	io, refusal := p.load(x.call.name)
	if refusal != nil {
		x.flaw = refusal
		return
	}
	if found := io.CheckInput(input, "/params/input"); found != nil {
		x.call.found = found
		x.flaw = &protocol.Error{
			Canonical: protocol.CanonicalInvalidToolInput, Violations: found,
			Detail: "the input of the tool breaks its schema at " + found[0].Path,
		}
	}
}

// respondCall replaces the answer to a call by a canonical error, if it is a
// refusal that has one or breaks the schema of the tool.
func (p *Pipeline) respondCall(x *Exchange) {
	c, res := x.call, x.response
	var refusal *Refusal
	switch {
	case c.found != nil && (x.asked || res.Error == nil):
		refusal = refuse(protocol.CanonicalInvalidToolInput, c.found...)
		if x.refusal != nil {
			refusal.say(x.refusal.Detail)
		}
	case unanswered(x) != nil:
		refusal = unanswered(x)
	case res.Error != nil:
		refusal = p.toolRefusal(x)
	case c.name == "" || res.Body != nil || res.Result == nil:
	case x.plain:
		refusal = p.plainOutput(c, res.Result)
	case x.Dialect == dialect.ToolIO: // the agent may answer in another dialect
		refusal = p.messageOutput(x)
	}
	if refusal != nil {
		x.refuse(refusal)
	}
}

// unanswered returns the refusal for a response that the server would refuse to
// send, nil for every other.
func unanswered(x *Exchange) *Refusal {
	res := &x.response
	if res.Status != 0 && (res.Status < http.StatusOK || res.Status > 599) {
		return internal(errors.New("the handler gave an invalid HTTP status"))
	}
	if x.RPC.Kind == jsonrpc.KindCall && res.Body == nil && res.Error == nil && res.Result == nil {
		return internal(errors.New("the handler gave no answer"))
	}
	return nil
}

// plainOutput returns the refusal for an output that breaks the schema of its
// tool.
func (p *Pipeline) plainOutput(c *toolCall, result jsontext.Value) *Refusal {
	members, err := rawjson.Parse(result)
	var found []protocol.Violation
	switch {
	case err != nil:
		found = append(found, protocol.Violation{Path: "/result", Rule: "type"})
	case members.Get("tool") == nil:
		found = append(found, protocol.Violation{Path: "/result/tool", Rule: "required"})
	case members.Text("tool") != c.params.Text("tool"):
		found = append(found, protocol.Violation{Path: "/result/tool", Rule: "const"})
	case members.Get("output") == nil:
		found = append(found, protocol.Violation{Path: "/result/output", Rule: "required"})
	default:
		found = c.io.CheckOutput(members.Get("output"), "/result/output")
	}
	return p.badOutput(c.name, found)
}

// messageOutput returns the refusal for an answer that breaks its field table,
// worded by the schema of the tool.
func (p *Pipeline) messageOutput(x *Exchange) *Refusal {
	_, err := p.cfg.Agent.Codec.ReadAnswer(x.Type, dialect.Answer{Status: http.StatusOK, Result: x.response.Result})
	if _, broken := errors.AsType[*protocol.Error](err); !broken {
		return nil
	}
	io, refusal := p.load(x.call.name)
	if refusal != nil {
		return refusal
	}
	members, err := rawjson.Parse(x.response.Result)
	if err != nil {
		return internal(err)
	}
	return p.badOutput(x.call.name, io.CheckOutput(members.Get("output"), "/result/output"))
}

var errBadOutput = errors.New("the output of the tool breaks its schema")

// badOutput returns the refusal for an output with violations, nil if there are
// none.
func (p *Pipeline) badOutput(tool string, found []protocol.Violation) *Refusal {
	if found == nil {
		return nil
	}
	p.cfg.Errors.Error(errBadOutput.Error()+"; it is not sent", "tool", tool, "violations", found)
	return internal(errBadOutput, found...)
}

// toolRefusal returns the canonical form of a refusal by the handler, nil if it
// is the league's own and has none.
func (p *Pipeline) toolRefusal(x *Exchange) *Refusal {
	sent := x.response.Error
	if hasCanonical(sent) {
		return nil
	}
	var r *Refusal
	switch sent.Code {
	case jsonrpc.CodeMethodNotFound:
		r = unknownTool("/params/tool")
	case jsonrpc.CodeInvalidParams:
		r = refuse(protocol.CanonicalInvalidToolInput, inputViolations(x)...)
	case jsonrpc.CodeInvalidRequest:
		r = p.badEnvelope(schema.LeagueForm, x.RPC.Raw, protocol.Violation{Path: "/params/tool", Rule: "consistent"})
	case jsonrpc.CodeInternal:
		r = internal(sent)
	default:
		return nil
	}
	r.keep(sent.Data)
	return r
}

// inputViolations returns the violations that the agent found in a message, as
// violations of the input.
func inputViolations(x *Exchange) []protocol.Violation {
	if x.refusal == nil || len(x.refusal.Violations) == 0 {
		return []protocol.Violation{{Path: "/params/input", Rule: "consistent"}}
	}
	found := make([]protocol.Violation, len(x.refusal.Violations))
	for i, v := range x.refusal.Violations {
		found[i] = protocol.Violation{Path: "/params/input" + v.Path, Rule: v.Rule}
	}
	return found
}

// ErrDeclined is what serve returns to [Pipeline.Call] if the tool declines a valid
// call for a reason of its own, which the caller is shown. The call is logged as
// ok.
var ErrDeclined = errors.New("the tool declined the call")

// A Call is a tool call that did not arrive as a [jsonrpc.Request], such as one
// that an SDK of the MCP standard has read.
type Call struct {
	// Transport and Route say how it arrived: "http" and the path, or "stdio" and
	// "stdio".
	Transport jsonrpc.Transport
	Route     string
	// Tool is the name or an alias of the tool.
	Tool string
	// Input is the argument; nil stands for an empty object.
	Input jsontext.Value
}

// Call takes a call of a plain tool through the stages that apply to it: the tool
// must exist and the input must keep its schema before serve is called, the
// output must keep its schema before Call returns it, and the outcome is logged.
//
// The error is a *Refusal, or the error of serve as it is, which is logged as an
// INTERNAL_ERROR unless it is a *Refusal, a *protocol.Error or ErrTold.
func (p *Pipeline) Call(ctx context.Context, c Call, serve func(ctx context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	began, leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	output, err := p.call(ctx, &c, serve)
	p.logCall(&c, err, began)
	return output, err
}

func (p *Pipeline) call(ctx context.Context, c *Call, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	if c.Tool == "" {
		return nil, refuse(protocol.CanonicalInvalidToolInput, protocol.Violation{Path: "/params/name", Rule: "required"})
	}
	tool, known := p.cfg.Registry.Find(c.Tool)
	if !known {
		return nil, unknownTool("/params/name")
	}
	io, refusal := p.load(tool.Name)
	if refusal != nil {
		return nil, refusal
	}
	if c.Input == nil {
		c.Input = jsontext.Value("{}")
	}
	if found := io.CheckInput(c.Input, "/params/arguments"); found != nil {
		return nil, refuse(protocol.CanonicalInvalidToolInput, found...)
	}
	output, err := serve(ctx)
	if err != nil {
		return nil, err
	}
	if refusal := p.badOutput(io.Tool, io.CheckOutput(output, "")); refusal != nil {
		return nil, refusal
	}
	return output, nil
}

// logCall logs the outcome of a call.
func (p *Pipeline) logCall(c *Call, err error, began time.Time) {
	if p.cfg.Log == nil {
		return
	}
	x := &Exchange{status: http.StatusOK, RPC: &jsonrpc.Request{Transport: c.Transport, Route: c.Route}}
	var refusal *Refusal
	var league *protocol.Error
	switch {
	case err == nil, errors.Is(err, ErrDeclined):
	case errors.As(err, &refusal):
		x.note(refusal)
	case errors.As(err, &league):
		form := league.Form()
		x.failure = failure(form.RPC, form.Message, league)
	default:
		x.note(internal(err))
	}
	p.append(x, methodToolsCall, began)
}
