package validation

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// toolCall is a call by tools/call with params.tool and params.input.
type toolCall struct {
	params map[string]jsontext.Value
}

// toolCallOf returns the call that a request makes, and whether it makes one in
// this form, or in both forms at once.
func toolCallOf(req *jsonrpc.Request) (toolCall, bool) {
	if req.Method != methodToolsCall || req.Params.Kind() != '{' {
		return toolCall{}, false
	}
	params, err := membersOf(req.Params)
	if err != nil || params["tool"] == nil && params["input"] == nil {
		return toolCall{}, false
	}
	return toolCall{params}, true
}

// shape returns what is wrong with the call before its tool is looked up.
func (c toolCall) shape(strict bool) []protocol.Violation {
	if c.params["name"] != nil || c.params["arguments"] != nil {
		return []protocol.Violation{{Path: "/params/name", Rule: "exclusive"}, {Path: "/params/tool", Rule: "exclusive"}}
	}
	var found []protocol.Violation
	switch tool := c.params["tool"]; {
	case tool == nil:
		found = append(found, protocol.Violation{Path: "/params/tool", Rule: "required"})
	case text(tool) == "":
		found = append(found, protocol.Violation{Path: "/params/tool", Rule: "type"})
	}
	switch input := c.params["input"]; {
	case input == nil && strict:
		found = append(found, protocol.Violation{Path: "/params/input", Rule: "required"})
	case input != nil && input.Kind() != '{':
		found = append(found, protocol.Violation{Path: "/params/input", Rule: "type"})
	}
	return found
}

// input returns what the tool is called with. Where nothing is said it is an
// empty object.
func (c toolCall) input() jsontext.Value {
	if input := c.params["input"]; input != nil {
		return input
	}
	return jsontext.Value("{}")
}

// load returns the schemas of a tool and whether it is guarded. The path is
// where the name stands.
func (p *Pipeline) load(tool, path string) (*ToolIO, bool, *Refusal) {
	e := p.cfg.Registry.find(tool)
	if e == nil {
		return nil, false, refuse(protocol.CanonicalToolNotFound, protocol.Violation{Path: path, Rule: "known"})
	}
	io, err := e.load(p.cfg.Registry.cache)
	if err != nil {
		p.cfg.Errors.Error("a tool cannot be called", "tool", e.Name, "error", err)
		return nil, false, internal(err)
	}
	return io, e.Guarded, nil
}

// find returns the schemas of the tool that is called. As long as envelopes are
// those of the league, a message type that is known makes up for a name that
// is not, as it does elsewhere.
func (p *Pipeline) find(c toolCall) (*ToolIO, bool, *Refusal) {
	name := text(c.params["tool"])
	if !p.cfg.Strict && p.cfg.Registry.find(name) == nil {
		if members, err := membersOf(c.input()); err == nil {
			if t := text(members["message_type"]); p.cfg.Registry.find(t) != nil {
				name = t
			}
		}
	}
	return p.load(name, "/params/tool")
}

// serveTool takes a call through its tool's schemas.
func (p *Pipeline) serveTool(ctx context.Context, req *jsonrpc.Request, x *wire.Notes, e *event, call toolCall, next jsonrpc.Handler) jsonrpc.Response {
	refused := func(r *Refusal) jsonrpc.Response {
		e.refused(r)
		return r.response()
	}
	if found := call.shape(p.cfg.Strict); found != nil {
		return refused(refuse(protocol.CanonicalInvalidToolInput, found...))
	}
	io, guarded, refusal := p.find(call)
	switch {
	case refusal != nil && refusal.Code == protocol.CanonicalToolNotFound && !p.cfg.Strict:
		// The handler may know more names than the registry, such as those of
		// peers that hand out matches one by one.
		return p.judged(req, x, e, next.Handle(ctx, req), nil)
	case refusal != nil:
		return refused(refusal)
	}
	j := &judgement{io: io, input: call.input(), root: "/params/input"}
	if !guarded {
		if j.judge() != nil {
			return refused(j.refusal())
		}
	} else if p.judges() {
		x.Judge = j.judge
	}
	res := next.Handle(ctx, req)
	if x.Judge != nil && (j.found != nil || res.Error == nil && j.judge() != nil) {
		r := j.refusal()
		if x.Refusal != nil {
			r.say(x.Refusal.Detail)
		}
		return refused(r)
	}
	return p.judged(req, x, e, res, &callOutput{io: io, tool: text(call.params["tool"])})
}

// judgement judges the input of one call, once.
type judgement struct {
	io    *ToolIO
	input jsontext.Value
	root  string
	done  bool
	found []protocol.Violation
}

// judge returns an error if the input breaks the schema.
func (j *judgement) judge() error {
	if !j.done {
		j.done, j.found = true, j.io.checkInput(j.input, j.root)
	}
	if j.found == nil {
		return nil
	}
	return &protocol.Error{
		Canonical: protocol.CanonicalInvalidToolInput, Violations: j.found,
		Detail: "the input of the tool breaks its schema at " + j.found[0].Path,
	}
}

func (j *judgement) refusal() *Refusal {
	return refuse(protocol.CanonicalInvalidToolInput, j.found...)
}

// callOutput is what an answer in this form must hold.
type callOutput struct {
	io   *ToolIO
	tool string
}

// judged holds the answer to a call to the tool's schema, and gives refusals
// that have a canonical form that form. want is nil for a tool without schemas.
func (p *Pipeline) judged(req *jsonrpc.Request, x *wire.Notes, e *event, res jsonrpc.Response, want *callOutput) jsonrpc.Response {
	refusal := unanswered(req, res)
	switch {
	case refusal != nil:
	case res.Error != nil:
		refusal = p.toolRefusal(req, x, res)
	case want == nil || res.Body != nil || res.Result == nil:
	case x.Dialect != nil && x.Dialect != protocol.ToolIO:
		// The peer has shown that it reads no answers in this form.
	default:
		refusal = p.judgeResult(want, res.Result)
	}
	if refusal == nil {
		return res
	}
	e.refused(refusal)
	return refusal.response()
}

// judgeResult holds {tool, output} to the contract.
func (p *Pipeline) judgeResult(want *callOutput, result jsontext.Value) *Refusal {
	members, err := membersOf(result)
	var found []protocol.Violation
	switch {
	case err != nil:
		found = append(found, protocol.Violation{Path: "/result", Rule: "type"})
	case members["tool"] == nil:
		found = append(found, protocol.Violation{Path: "/result/tool", Rule: "required"})
	case text(members["tool"]) != want.tool:
		found = append(found, protocol.Violation{Path: "/result/tool", Rule: "const"})
	case members["output"] == nil:
		found = append(found, protocol.Violation{Path: "/result/output", Rule: "required"})
	}
	if found != nil {
		return p.badOutput(want.io, found)
	}
	return p.judgeOutput(want.io, members["output"], "/result/output")
}

// judgeOutput holds the output of a tool to its schema.
func (p *Pipeline) judgeOutput(io *ToolIO, output jsontext.Value, root string) *Refusal {
	if found := io.checkOutput(output, root); found != nil {
		return p.badOutput(io, found)
	}
	return nil
}

var errBadOutput = errors.New("the output of the tool breaks its schema")

func (p *Pipeline) badOutput(io *ToolIO, found []protocol.Violation) *Refusal {
	p.cfg.Errors.Error(errBadOutput.Error()+"; it is not sent", "tool", io.Tool, "violations", found)
	return internal(errBadOutput, found...)
}

// toolRefusal returns the canonical form of a refusal by the handler, nil where
// the refusal is the league's own and has none.
func (p *Pipeline) toolRefusal(req *jsonrpc.Request, x *wire.Notes, res jsonrpc.Response) *Refusal {
	if hasCanonical(res.Error) {
		return nil
	}
	var r *Refusal
	switch res.Error.Code {
	case jsonrpc.CodeMethodNotFound:
		r = refuse(protocol.CanonicalToolNotFound, protocol.Violation{Path: "/params/tool", Rule: "known"})
	case jsonrpc.CodeInvalidParams:
		r = refuse(protocol.CanonicalInvalidToolInput, inputViolations(x)...)
	case jsonrpc.CodeInvalidRequest:
		r = p.badEnvelope(envelopeLeague, req.Raw, protocol.Violation{Path: "/params/tool", Rule: "consistent"})
	case jsonrpc.CodeInternal:
		r = internal(res.Error)
	default:
		return nil
	}
	r.keep(res.Error.Data)
	return r
}

// inputViolations are the violations that a handler found in a message, as
// violations of the input that it is.
func inputViolations(x *wire.Notes) []protocol.Violation {
	if x.Refusal == nil || len(x.Refusal.Violations) == 0 {
		return []protocol.Violation{{Path: "/params/input", Rule: "consistent"}}
	}
	found := make([]protocol.Violation, len(x.Refusal.Violations))
	for i, v := range x.Refusal.Violations {
		found[i] = protocol.Violation{Path: "/params/input" + v.Path, Rule: v.Rule}
	}
	return found
}
