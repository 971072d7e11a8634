package validation

import (
	"context"
	"log/slog"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/validation/eventlog"
	"github.com/strategylab/strategylab/host/wire"
)

// methodToolsCall is the method of a tool call.
const methodToolsCall = "tools/call"

// Config configures a Pipeline. The zero value knows no tool, asks of an
// envelope what the league asks, and logs nothing.
type Config struct {
	// Registry holds the tools that are served; nil for none.
	Registry *Registry
	// Strict asks of every envelope what the schema envelope.json asks: a
	// string as id, a method, an object as params. Otherwise the rules of the
	// league hold: ids may be numbers, and params may be missing.
	Strict bool
	// Tolerant leaves it to the handlers of guarded tools to judge their input,
	// unless Strict is set: an agent that is tolerant takes more from peers in
	// the wild than any schema says.
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

// A Pipeline takes requests through validation to their handlers. It serves
// any number of transports at once and is safe for concurrent use.
type Pipeline struct {
	cfg      Config
	envelope envelope
	turn     chan struct{} // held by the request in hand; nil where there may be many
}

// New returns a pipeline.
func New(cfg Config) (*Pipeline, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Registry == nil {
		var err error
		if cfg.Registry, err = NewRegistry(); err != nil {
			return nil, err
		}
	}
	if cfg.Errors == nil {
		cfg.Errors = slog.New(slog.DiscardHandler)
	}
	p := &Pipeline{cfg: cfg}
	p.envelope = envelopeLeague
	switch {
	case cfg.Strict && cfg.Deterministic:
		p.envelope = envelopeDeterministic
	case cfg.Strict:
		p.envelope = envelopeStrict
	}
	if cfg.Deterministic {
		p.turn = make(chan struct{}, 1)
	}
	return p, nil
}

// Registry returns the tools of the pipeline.
func (p *Pipeline) Registry() *Registry { return p.cfg.Registry }

// judges reports whether guarded tools are held to their schemas.
func (p *Pipeline) judges() bool { return p.cfg.Strict || !p.cfg.Tolerant }

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

// Handler returns the handler that takes requests through the pipeline to
// next, which answers what belongs to no tool, and the calls of tools in any
// form. It serves all transports of an agent.
func (p *Pipeline) Handler(next jsonrpc.Handler) jsonrpc.Handler {
	return jsonrpc.HandlerFunc(func(ctx context.Context, req *jsonrpc.Request) jsonrpc.Response {
		began, leave, err := p.enter(ctx)
		if err != nil {
			return internal(err).response()
		}
		defer leave()
		x := new(wire.Notes)
		e := event{transport: req.Transport, route: req.Route, method: req.Method, id: req.ID}
		res := p.handle(ctx, req, x, &e, next)
		if p.cfg.Log != nil {
			e.conversation = x.Conversation
			e.answered(req, x, res)
			p.record(&e, began)
		}
		return res
	})
}

func (p *Pipeline) handle(ctx context.Context, req *jsonrpc.Request, x *wire.Notes, e *event, next jsonrpc.Handler) jsonrpc.Response {
	ctx = wire.WithExchange(ctx, x)
	if IsMCP(req.Header) {
		res := next.Handle(ctx, req)
		e.skip = unanswered(req, res) != nil // the server refuses it, and that is logged
		return res
	}
	if refusal := p.checkEnvelope(req); refusal != nil {
		e.refused(refusal)
		return refusal.response()
	}
	if call, ok := toolCallOf(req); ok {
		return p.serveTool(ctx, req, x, e, call, next)
	}
	res := next.Handle(ctx, req)
	if refusal := unanswered(req, res); refusal != nil {
		e.refused(refusal)
		return refusal.response()
	}
	return p.canonical(req, e, res)
}

// canonical gives what a handler refuses as no JSON-RPC request the canonical
// form. What the handler says beside stays in data.
func (p *Pipeline) canonical(req *jsonrpc.Request, e *event, res jsonrpc.Response) jsonrpc.Response {
	if res.Body != nil || res.Error == nil || res.Error.Code != jsonrpc.CodeInvalidRequest {
		return res
	}
	refusal := p.badEnvelope(envelopeLeague, req.Raw, protocol.Violation{Path: "/method", Rule: "consistent"})
	refusal.keep(res.Error.Data)
	e.refused(refusal)
	if res.Status != 0 {
		refusal.HTTP = res.Status
	}
	res.Error = refusal.rpc()
	return res
}

// Refuse returns a jsonrpc.RefuseFunc that gives the canonical form to what a
// server refuses by itself because it is no JSON-RPC request, or because the
// handler failed, and logs what is refused. Everything else is left to next,
// which may be nil; what next says in detail stays in data.
func (p *Pipeline) Refuse(next jsonrpc.RefuseFunc) jsonrpc.RefuseFunc {
	return func(ctx context.Context, req *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
		e := event{transport: req.Transport, route: req.Route, method: req.Method, id: req.ID}
		var told *jsonrpc.Error
		if next != nil {
			told = next(ctx, req, r)
		}
		shown := told
		if shown == nil {
			shown = r.Error()
		}
		if refusal := p.ownRefusal(req, r); refusal != nil && !IsMCP(req.Header) {
			refusal.keep(shown.Data)
			e.refused(refusal)
			told = refusal.rpc()
		} else {
			e.refusedBy(shown)
		}
		e.status = r.Status
		if p.cfg.Log != nil {
			if e.method == "" {
				e.method = methodOf(req.Raw)
			}
			_, leave, err := p.enter(context.WithoutCancel(ctx))
			if err == nil {
				defer leave()
			}
			p.record(&e, time.Time{})
		}
		return told
	}
}

// ownRefusal returns the canonical form of a server's refusal, nil where it has
// none.
func (p *Pipeline) ownRefusal(req *jsonrpc.Request, r *jsonrpc.Refusal) *Refusal {
	var refusal *Refusal
	switch r.Reason {
	case jsonrpc.ReasonBatch:
		refusal = refuse(protocol.CanonicalInvalidEnvelope, protocol.Violation{Path: "", Rule: "type"})
	case jsonrpc.ReasonTooLarge:
		refusal = refuse(protocol.CanonicalInvalidEnvelope, protocol.Violation{Path: "", Rule: "maxLength"})
	case jsonrpc.ReasonBadShape:
		refusal = p.badEnvelope(p.envelope, req.Raw, protocol.Violation{Path: "", Rule: "type"})
	case jsonrpc.ReasonInternal:
		refusal = refuse(protocol.CanonicalInternalError)
	}
	return refusal
}
