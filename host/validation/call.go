package validation

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// ErrTold is what serve returns to [Pipeline.Call] where the tool has a reason
// of its own not to do what it was asked, which the caller is told: nothing is
// wrong with the call, and it is logged as such.
var ErrTold = errors.New("the tool has refused")

// A Call is a call of a tool that did not come as a JSON-RPC request of ours,
// such as one that an SDK of the MCP standard has read.
type Call struct {
	// Transport and Route say how it came: "http" and the path, or "stdio" and
	// "stdio".
	Transport jsonrpc.Transport
	Route     string
	// Method is the JSON-RPC method, by default "tools/call".
	Method string
	// Tool is the name, or an alias, of the tool that is called.
	Tool string
	// Input is what it is called with; nil stands for an empty object.
	Input jsontext.Value
	// Request is the JSON-RPC id as it was written, nil if it is not known.
	Request jsontext.Value
	// Conversation is the conversation that the call belongs to, if any.
	Conversation string
	// Root is put before the paths of violations of the input, by default
	// "/params/arguments", where the MCP standard has it.
	Root string
}

// Call has a tool called: the tool must be known and the input must keep its
// schema before serve is called, and the output must keep the schema before it
// is returned. The decision is logged like that about any request.
//
// The error is a *Refusal, or the error of serve as it is, which is logged as an
// INTERNAL_ERROR unless it is a *Refusal, a *protocol.Error or ErrTold.
//
// Where the tool is guarded, serve is called first: it hands its context to a
// [wire.Endpoint], which has the input judged once it knows who calls. A serve
// that succeeds without having had it judged has the input judged afterwards.
func (p *Pipeline) Call(ctx context.Context, c Call, serve func(ctx context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	began, leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	x := new(wire.Notes)
	output, err := p.call(ctx, x, &c, serve)
	p.recordCall(&c, x, err, began)
	return output, err
}

func (p *Pipeline) call(ctx context.Context, x *wire.Notes, c *Call, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	io, guarded, refusal := p.load(c.Tool, "/params/name")
	if refusal != nil {
		return nil, refusal
	}
	if c.Input == nil {
		c.Input = jsontext.Value("{}")
	}
	if c.Root == "" {
		c.Root = "/params/arguments"
	}
	j := &judgement{io: io, input: c.Input, root: c.Root}
	if !guarded {
		if err := j.judge(); err != nil {
			return nil, j.refusal()
		}
	} else if p.judges() {
		x.Judge = j.judge
	}
	output, err := serve(wire.WithExchange(ctx, x))
	if x.Judge != nil && (j.found != nil || err == nil && j.judge() != nil) {
		return nil, j.refusal()
	}
	if err != nil {
		return nil, err
	}
	if refusal := p.judgeOutput(io, output, ""); refusal != nil {
		return nil, refusal
	}
	return output, nil
}

// recordCall logs what became of a call.
func (p *Pipeline) recordCall(c *Call, x *wire.Notes, err error, began time.Time) {
	if p.cfg.Log == nil {
		return
	}
	e := event{transport: c.Transport, route: c.Route, method: c.Method, id: c.Request, conversation: c.Conversation, status: 200}
	if e.method == "" {
		e.method = methodToolsCall
	}
	if e.conversation == "" {
		e.conversation = x.Conversation
	}
	var refusal *Refusal
	var league *protocol.Error
	switch {
	case err == nil, errors.Is(err, ErrTold):
	case errors.As(err, &refusal):
		e.refused(refusal)
	case errors.As(err, &league):
		e.refusedByLeague(league)
	default:
		e.refused(internal(err))
	}
	p.record(&e, began)
}
