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

// Config configures a Pipeline. The zero value knows no tool, asks of an
// envelope what the league asks, and logs nothing.
type Config struct {
	// Agent answers the messages of the league.
	Agent *Endpoint
	// Registry holds the tools that can be called; nil for none.
	Registry *schema.Registry
	// Tools answers calls of those of them that are no messages of the league
	// and, without an Agent, everything.
	Tools jsonrpc.Handler
	// Strict asks of every envelope what the schema envelope.json asks: a
	// string as id, a method, an object as params. Otherwise the rules of the
	// league hold: ids may be numbers, and params may be missing.
	Strict bool
	// Tolerant leaves it to the agent to say what is wrong with a message that
	// is called as a tool, unless Strict is set: an agent that is tolerant takes
	// more from peers in the wild than any schema says.
	Tolerant bool
	// Deterministic makes the log reproducible, for a Log that is
	// deterministic too: requests are handled one at a time, and with Strict
	// their ids are UUIDs. A handler must not wait for another request to the
	// same pipeline then.
	Deterministic bool
	// Log takes a record of every request; nil for none.
	Log *eventlog.Log
	// Now tells the time for durations; nil for the system's clock.
	Now func() time.Time
	// Errors gets what is wrong with tools of ours: schemas that cannot be
	// used, outputs that break them. Nil for nothing.
	Errors *slog.Logger
}

// A Pipeline takes requests through the chain to their handlers. It is a
// jsonrpc.Handler, serves any number of transports at once, and is safe for
// concurrent use.
type Pipeline struct {
	cfg   Config
	form  schema.Form
	chain []stage
	turn  chan struct{} // held by the request in hand; nil where there may be many
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
	// The way in. After it come respond, log and, in host/jsonrpc, the encoding.
	p.chain = []stage{
		p.envelope,     // has the request the form that is asked for?
		p.tool,         // is there the tool that it calls, and is it called properly?
		p.open,         // which message is it, in which dialect?
		p.authenticate, // who speaks?
		p.fields,       // does the message keep its field table?
		p.handle,       // what the agent makes of it
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

// Handle implements jsonrpc.Handler: host/jsonrpc has decoded the request, and
// encodes the answer.
func (p *Pipeline) Handle(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	began, leave, err := p.enter(ctx)
	if err != nil {
		return internal(err).response()
	}
	defer leave()
	x := &Exchange{RPC: rpc, mcp: IsMCP(rpc.Header), plain: p.cfg.Agent == nil}
	err = p.run(ctx, x)
	p.respond(ctx, x, err)
	p.log(x, began)
	return x.response
}

// run takes an exchange through the chain until a stage ends its way.
func (p *Pipeline) run(ctx context.Context, x *Exchange) error {
	for _, do := range p.chain {
		if err := do(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// enter begins the handling of a request, and returns when it began and what
// ends it. It fails only if ctx ends before it is the request's turn.
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

// open, authenticate: the agent's, of a message.
func (p *Pipeline) open(ctx context.Context, x *Exchange) error {
	if x.plain {
		return nil
	}
	return p.cfg.Agent.open(ctx, x)
}

func (p *Pipeline) authenticate(ctx context.Context, x *Exchange) error {
	if x.plain {
		return nil
	}
	return p.cfg.Agent.authenticate(ctx, x)
}

// fields checks a message against its field table, and the input of any other
// tool against its schema.
func (p *Pipeline) fields(ctx context.Context, x *Exchange) error {
	if x.plain {
		return p.plainInput(x)
	}
	err := p.cfg.Agent.fields(ctx, x)
	if err == nil && x.call != nil && x.call.judged {
		p.messageInput(x)
	}
	return err
}

// handle has the agent answer a message, and Config.Tools everything else.
func (p *Pipeline) handle(ctx context.Context, x *Exchange) error {
	if x.plain {
		x.response = p.cfg.Tools.Handle(ctx, x.RPC)
		return nil
	}
	return p.cfg.Agent.handle(ctx, x)
}

// respond settles the answer: that of the agent in the dialect of its peer, or
// a refusal in the canonical form where there is one.
func (p *Pipeline) respond(ctx context.Context, x *Exchange, err error) {
	if refusal, ok := err.(*Refusal); ok {
		x.refuse(refusal)
		return
	}
	if !x.plain {
		p.cfg.Agent.respond(ctx, x, err)
	}
	switch {
	case x.mcp: // under the rules of that standard
	case x.call != nil:
		p.respondCall(x)
	case unanswered(x) != nil:
		x.refuse(unanswered(x))
	default:
		p.canonical(x)
	}
}

// canonical gives what the agent refuses as no JSON-RPC request the canonical
// form. What the agent says beside stays in data.
func (p *Pipeline) canonical(x *Exchange) {
	told := x.response.Error
	if x.response.Body != nil || told == nil || told.Code != jsonrpc.CodeInvalidRequest {
		return
	}
	refusal := p.badEnvelope(schema.LeagueForm, x.RPC.Raw, protocol.Violation{Path: "/method", Rule: "consistent"})
	refusal.keep(told.Data)
	x.note(refusal)
	x.response.Error = refusal.rpc()
}

// Refuse is a jsonrpc.RefuseFunc: it gives the canonical form to what a server
// refuses by itself because it is no JSON-RPC request, or because the handler
// failed, and logs what is refused. Everything else has the agent's form.
func (p *Pipeline) Refuse(ctx context.Context, rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	x := &Exchange{RPC: rpc}
	var told *jsonrpc.Error
	if p.cfg.Agent != nil {
		told = p.cfg.Agent.Refuse(ctx, rpc, r)
	}
	shown := told
	if shown == nil {
		shown = r.Error()
	}
	if refusal := p.serverRefusal(rpc, r); refusal != nil && !IsMCP(rpc.Header) {
		refusal.keep(shown.Data)
		x.note(refusal)
		told = refusal.rpc()
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
	return told
}

// serverRefusal returns the canonical form of a server's refusal, nil where it
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
