// Package wire takes a request to the agent it is for and brings back the answer, and
// sends the agent's own messages to its peers. It joins the league.v2 protocol to
// JSON-RPC and knows nothing of what an agent does with a message.
//
// A [Chain] takes a request through its stages, whichever transport it came by. What they
// find out is on one [Exchange]. The first stage that fails ends the chain, by a canonical
// error of host/protocol, whose data lists the violations, each a JSON Pointer and the rule
// that is broken, without any value from the input, or by an error of the league in the
// dialect of the peer. The page on the architecture lists the stages.
//
// A [Caller] sends a message to a [Peer] in the form that it understands, and reads the
// answer. A [Conversation] finds out which form that is.
package wire

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// Config configures a Chain. Agent or Tools is required.
type Config struct {
	Agent    *Dispatcher      // answers the messages of the league
	Registry *schema.Registry // the tools that can be called; nil to leave out the stages of the contract
	// Tools answers calls of the tools that are not messages of the league and,
	// without an Agent, every request.
	Tools jsonrpc.Handler
	// Strict requires of every envelope a string as id, a method, and an object as params. By
	// default the rules of the league apply: ids may be numbers, and params may be missing.
	Strict bool
	// Deterministic makes a deterministic Log reproducible: requests are handled one at a time, and
	// Strict requires UUIDs as ids. A handler must not wait for another request to the same chain.
	Deterministic bool
	Log           *eventlog.Log // receives a record of every request; nil for none
	// Errors receives what is wrong with our own tools: schemas that do not
	// compile, outputs that break them. Nil discards it.
	Errors *slog.Logger
}

// A Chain takes requests through its stages to their handlers. It is a jsonrpc.Handler, serves any
// number of transports at once, and is safe for concurrent use.
type Chain struct {
	cfg  Config
	turn chan struct{} // held by the request in flight; nil if there may be many
}

// New returns a chain with all stages.
func New(cfg Config) *Chain {
	cfg.Errors = cmp.Or(cfg.Errors, slog.New(slog.DiscardHandler))
	c := &Chain{cfg: cfg}
	if cfg.Deterministic {
		c.turn = make(chan struct{}, 1)
	}
	return c
}

// Handle implements jsonrpc.Handler: it logs what becomes of a request in serve.
func (c *Chain) Handle(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	leave, err := c.enter(ctx)
	if err != nil {
		return Response(internal(err))
	}
	defer leave()
	var began time.Time
	if c.cfg.Log != nil { // reading the clock takes as long as all else
		began = time.Now()
	}
	x := &Exchange{RPC: rpc, mcp: IsMCP(rpc.Header), plain: c.cfg.Agent == nil}
	c.serve(ctx, x)
	if c.cfg.Log != nil {
		c.log(x, rpc.Method, began)
	}
	return x.response
}

// serve is the chain. host/jsonrpc has decoded the request, and encodes the response.
// The first stage that fails ends it. The stages of the contract are left out without a
// registry, and those of a league's message for a plain tool.
func (c *Chain) serve(ctx context.Context, x *Exchange) {
	if broken := c.contract(x); broken != nil { // id, method, params and the call of a tool have the required form
		x.refuse(broken, nil)
		return
	}
	if agent := c.cfg.Agent; x.plain {
		x.response = c.cfg.Tools.Handle(ctx, x.RPC)
	} else {
		err := agent.open(x)                         // unwrap the message, find its type and dialect
		if err == nil && agent.Authenticate != nil { // the sender is who it claims to be
			err = agent.Authenticate(ctx, x)
		}
		if err == nil { // the message keeps its field table, the agent acts and answers
			c.fields(x)
			err = agent.dispatch(ctx, x)
		}
		agent.respond(ctx, x, err) // in the dialect of the peer
	}
	c.respond(x) // or by a canonical error
}

// enter waits for the turn of a request, which leave ends; it fails only if ctx ends before.
func (c *Chain) enter(ctx context.Context) (leave func(), err error) {
	if c.turn == nil {
		return func() {}, nil
	}
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fields checks a message against its field table. The handler decides whether to refuse
// a message that breaks the table, since some are useful nevertheless. A tolerant agent accepts more
// than any schema says: unless envelopes are strict, its table words what breaks it, too.
func (c *Chain) fields(x *Exchange) {
	if c.cfg.Agent.Handlers[x.Type] != nil {
		x.check()
	}
	if x.call != nil && x.call.name != "" && (c.cfg.Strict || c.cfg.Agent.Codec.Mode() == protocol.Strict) {
		c.messageInput(x)
	}
}

// Refuse is a jsonrpc.RefuseFunc: it logs requests that the server refuses by
// itself, and gives those that are not JSON-RPC requests, or whose handler
// failed, the canonical form. The others have the form of the agent.
func (c *Chain) Refuse(ctx context.Context, rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	x := &Exchange{RPC: rpc}
	var sent *jsonrpc.Error
	if c.cfg.Agent != nil {
		sent = c.cfg.Agent.serverRefused(rpc, r)
	}
	shown := cmp.Or(sent, r.Error())
	x.response = jsonrpc.Response{Status: r.Status, Error: shown}
	var refusal *protocol.Error // in the canonical form, if it has one
	switch r.Reason {
	case jsonrpc.ReasonBatch:
		refusal = badEnvelope(nil, noObject)
	case jsonrpc.ReasonTooLarge:
		refusal = badEnvelope(nil, protocol.Violation{Path: "", Rule: "maxLength"})
	case jsonrpc.ReasonBadShape:
		refusal = badEnvelope(c.envelope(rpc.Raw, c.cfg.Strict), noObject)
	case jsonrpc.ReasonInternal:
		refusal = refuse(protocol.CanonicalInternalError)
	}
	if refusal != nil && !IsMCP(rpc.Header) {
		x.refusal = refusal
		sent = rpcError(refusal, shown.Data)
	}
	if c.cfg.Log != nil {
		if leave, err := c.enter(context.WithoutCancel(ctx)); err == nil {
			defer leave()
		}
		doc, _ := rawjson.Parse(rpc.Raw) // of what is no object there is no method
		c.log(x, cmp.Or(rpc.Method, doc.Text("method")), time.Time{})
	}
	return sent
}

// marshal encodes an error object. What is no UTF-8 in a text of a peer is replaced.
func marshal(v any) jsontext.Value {
	raw, _ := json.Marshal(v, jsontext.AllowInvalidUTF8(true)) // which nothing else keeps from it
	return raw
}

// log adds a record of what has become of a request. A zero time means that it was refused
// before it was handled.
func (c *Chain) log(x *Exchange, method string, began time.Time) {
	res := &x.response
	status, wrong := res.Sent(x.RPC)
	if wrong != "" { // the server refuses to send it, and Refuse logs that
		return
	}
	r := eventlog.Record{Request: x.RPC.ID, Transport: string(x.RPC.Transport), Route: x.RPC.Route, Method: method, Status: status}
	if !began.IsZero() {
		r.Duration = time.Since(began)
	}
	if x.Request != nil {
		r.Conversation = x.Header.ConversationID
	}
	switch e := x.refusal; { // the data of an error may hold anything, but for codes and violations
	case e != nil && e.Canonical != "":
		r.Error = marshal(rpcError(e, nil))
	case e != nil:
		sent := jsonrpc.Error{Code: e.Form().RPC, Message: e.Form().Message}
		if e.Code != "" {
			sent.Data = marshal(struct {
				ErrorCode  protocol.Code        `json:"error_code"`
				Violations []protocol.Violation `json:"violations,omitzero"`
			}{e.Code, e.Violations})
		}
		r.Error = marshal(sent)
	case res.Body == nil && res.Error != nil:
		r.Error = marshal(jsonrpc.Error{Code: res.Error.Code, Message: res.Error.Message})
	}
	c.cfg.Log.Append(r)
}
