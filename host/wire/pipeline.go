package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// Config configures a Pipeline. Agent or Tools is required.
type Config struct {
	// Agent answers the messages of the league.
	Agent *Endpoint
	// Registry holds the tools that can be called; nil for none.
	Registry *schema.Registry
	// Tools answers calls of the tools that are not messages of the league and,
	// without an Agent, every request.
	Tools jsonrpc.Handler
	// Strict requires every envelope to match the schema envelope.json: a string
	// as id, a method, an object as params. By default the rules of the league
	// apply: ids may be numbers, and params may be missing.
	Strict bool
	// Tolerant words violations in a message that is called as a tool by its
	// field table instead of its schema, unless Strict is set: a tolerant agent
	// accepts more than any schema says.
	Tolerant bool
	// Deterministic makes a deterministic Log reproducible: requests are handled
	// one at a time, and Strict requires UUIDs as ids. A handler must not wait
	// for another request to the same pipeline.
	Deterministic bool
	// Log receives a record of every request; nil for none.
	Log *eventlog.Log
	// Now returns the time for durations; nil for the system clock.
	Now func() time.Time
	// Errors receives what is wrong with our own tools: schemas that do not
	// compile, outputs that break them. Nil discards it.
	Errors *slog.Logger
}

// A Pipeline takes requests through the chain to their handlers. It is a
// jsonrpc.Handler, serves any number of transports at once, and is safe for
// concurrent use.
type Pipeline struct {
	cfg   Config
	form  schema.Form
	chain []stage
	turn  chan struct{} // held by the request in flight; nil if there may be many
}

// New returns a pipeline.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Registry == nil {
		var err error
		if cfg.Registry, err = schema.NewRegistry(); err != nil {
			return nil, err
		}
	}
	if cfg.Errors == nil {
		cfg.Errors = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{cfg: cfg}
	// host/jsonrpc has decoded the request. Handle calls respond and log after
	// these stages, and host/jsonrpc encodes the answer.
	p.chain = []stage{
		p.envelope,                      // id, method and params have the required form
		p.tool,                          // the tool that the request calls exists
		message(cfg.Agent.open),         // unwrap the message, find its type and dialect
		message(cfg.Agent.authenticate), // the sender is who it claims to be
		p.fields,                        // the message keeps its field table
		p.handle,                        // the agent acts and answers
	}
	switch {
	case cfg.Strict && cfg.Deterministic:
		p.form = schema.DeterministicForm
	case cfg.Strict:
		p.form = schema.StrictForm
	}
	if cfg.Deterministic {
		p.turn = make(chan struct{}, 1)
	}
	return p, nil
}

// Registry returns the tools of the pipeline.
func (p *Pipeline) Registry() *schema.Registry { return p.cfg.Registry }

// Handle implements jsonrpc.Handler.
func (p *Pipeline) Handle(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	began, leave, err := p.enter(ctx)
	if err != nil {
		return internal(err).Response()
	}
	defer leave()
	x := &Exchange{RPC: rpc, mcp: IsMCP(rpc.Header), plain: p.cfg.Agent == nil}
	err = p.run(ctx, x)
	p.respond(ctx, x, err)
	p.log(x, began)
	return x.response
}

// run takes an exchange through the chain until a stage ends it.
func (p *Pipeline) run(ctx context.Context, x *Exchange) error {
	for _, do := range p.chain {
		if err := do(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// enter waits for the turn of a request. It returns the time at which handling
// begins, and leave, which ends it; it fails only if ctx ends before.
func (p *Pipeline) enter(ctx context.Context) (began time.Time, leave func(), err error) {
	if p.turn == nil {
		if p.cfg.Log != nil {
			began = p.cfg.Now()
		}
		return began, func() {}, nil
	}
	select {
	case p.turn <- struct{}{}:
		return began, func() { <-p.turn }, nil
	case <-ctx.Done():
		return began, nil, ctx.Err()
	}
}

// message returns a stage of the agent, which is only for messages.
func message(do stage) stage {
	return func(ctx context.Context, x *Exchange) error {
		if x.plain {
			return nil
		}
		return do(ctx, x)
	}
}

// fields checks a message against its field table, and the input of a plain tool
// against its schema.
func (p *Pipeline) fields(ctx context.Context, x *Exchange) error {
	if x.plain {
		return p.plainInput(x)
	}
	err := p.cfg.Agent.fields(ctx, x)
	if err == nil && x.call != nil && x.call.bySchema {
		p.messageInput(x)
	}
	return err
}

// handle calls the agent for a message, and Config.Tools for everything else.
func (p *Pipeline) handle(ctx context.Context, x *Exchange) error {
	if x.plain {
		x.response = p.cfg.Tools.Handle(ctx, x.RPC)
		return nil
	}
	return p.cfg.Agent.handle(ctx, x)
}

// respond sets the response: the answer or refusal of the agent in the dialect of
// its peer, or a canonical error.
func (p *Pipeline) respond(ctx context.Context, x *Exchange, err error) {
	if refusal, ok := err.(*Refusal); ok {
		x.refuse(refusal)
		return
	}
	if !x.plain {
		p.cfg.Agent.respond(ctx, x, err)
	}
	switch {
	case x.mcp:
	case x.call != nil:
		p.respondCall(x)
	case unanswered(x) != nil:
		x.refuse(unanswered(x))
	default:
		p.canonical(x)
	}
}

// canonical gives a refusal with code -32600 the canonical form, and keeps the
// agent's details in data.
func (p *Pipeline) canonical(x *Exchange) {
	sent := x.response.Error
	if x.response.Body != nil || sent == nil || sent.Code != jsonrpc.CodeInvalidRequest {
		return
	}
	refusal := p.badEnvelope(schema.LeagueForm, x.RPC.Raw, protocol.Violation{Path: "/method", Rule: "consistent"})
	refusal.keep(sent.Data)
	x.note(refusal)
	x.response.Error = refusal.rpc()
}

// Refuse is a jsonrpc.RefuseFunc: it logs requests that the server refuses by
// itself, and gives those that are not JSON-RPC requests, or whose handler
// failed, the canonical form. The others have the form of the agent.
func (p *Pipeline) Refuse(ctx context.Context, rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	x := &Exchange{RPC: rpc}
	var sent *jsonrpc.Error
	if p.cfg.Agent != nil {
		sent = p.cfg.Agent.Refuse(ctx, rpc, r)
	}
	shown := sent
	if shown == nil {
		shown = r.Error()
	}
	if refusal := p.serverRefusal(rpc, r); refusal != nil && !IsMCP(rpc.Header) {
		refusal.keep(shown.Data)
		x.note(refusal)
		sent = refusal.rpc()
	} else {
		x.failure = failure(shown.Code, shown.Message, nil)
	}
	x.status = r.Status
	if p.cfg.Log != nil {
		if _, leave, err := p.enter(context.WithoutCancel(ctx)); err == nil {
			defer leave()
		}
		method := rpc.Method
		if method == "" {
			method = methodOf(rpc.Raw)
		}
		p.append(x, method, time.Time{})
	}
	return sent
}

// serverRefusal returns the canonical form of a refusal by the server, nil if it
// has none.
func (p *Pipeline) serverRefusal(rpc *jsonrpc.Request, r *jsonrpc.Refusal) *Refusal {
	switch r.Reason {
	case jsonrpc.ReasonBatch:
		return refuse(protocol.CanonicalInvalidEnvelope, protocol.Violation{Path: "", Rule: "type"})
	case jsonrpc.ReasonTooLarge:
		return refuse(protocol.CanonicalInvalidEnvelope, protocol.Violation{Path: "", Rule: "maxLength"})
	case jsonrpc.ReasonBadShape:
		return p.badEnvelope(p.form, rpc.Raw, protocol.Violation{Path: "", Rule: "type"})
	case jsonrpc.ReasonInternal:
		return refuse(protocol.CanonicalInternalError)
	}
	return nil
}
