package host

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// place is where an agent is assembled: its endpoint on a network, and what
// serves it.
type place struct {
	network    Network
	name       string // what the network knows the endpoint by
	server     jsonrpc.Config
	mcp        *mcptools.Config
	validation Validation
	tools      *toolTables
	beside     http.Handler // on all other paths; nil for none
}

// runner is an agent: a manager, a referee or a player.
type runner interface {
	Dispatcher() *wire.Dispatcher
	Run(ctx context.Context) error
}

// assembled is an agent with its endpoint, not served yet, and its client.
type assembled struct {
	*opened
	agent  runner
	chain  *wire.Chain
	client *jsonrpc.Client
}

// creator makes an agent that calls with caller. It opens the agent's endpoint by listen,
// which returns the URL and is called once.
type creator func(caller *wire.Caller, listen func() (url string, err error)) (runner, error)

// assemble has an agent and its endpoint made, and connects the two. The caller of
// assemble serves the result and closes its client.
func assemble(ctx context.Context, p place, role protocol.Role, create creator) (*assembled, error) {
	if p.beside != nil {
		p.server.Other = p.beside
	}
	a := &assembled{client: jsonrpc.NewClient(p.network.From(p.name), jsonrpc.ClientConfig{Tap: p.server.Tap})}
	caller := &wire.Caller{Client: a.client, Codec: dialect.NewCodec(protocol.Tolerant)}
	var err error
	a.agent, err = create(caller, func() (_ string, err error) {
		if a.opened, err = open(ctx, p.network, p.name, p.server, p.mcp); err != nil {
			return "", err
		}
		return a.URL(), nil
	})
	if err == nil {
		a.chain, err = p.validation.chain(p.tools, role, a.agent.Dispatcher())
	}
	if err != nil {
		if a.opened != nil {
			err = errors.Join(err, a.opened.Close())
		}
		return nil, errors.Join(err, a.client.Close())
	}
	a.mount(role, a.agent.Dispatcher(), a.chain)
	return a, nil
}

// opened is an endpoint that is opened before its agent is made: what answers
// in the agent's name is filled in before it is served.
type opened struct {
	Server
	refuse jsonrpc.RefuseFunc
	cfg    jsonrpc.Config

	offer  *mcptools.Config // nil where the endpoint is the agent's alone
	client later            // what serves clients of the offer
	tools  *offering
}

// open opens an endpoint whose refusals will have the agent's shape. With an
// offer it is shared with a server of the Model Context Protocol.
func open(ctx context.Context, n Network, name string, cfg jsonrpc.Config, offer *mcptools.Config) (*opened, error) {
	o := &opened{offer: offer}
	cfg.Refuse = func(ctx context.Context, req *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
		return o.refuse(ctx, req, r)
	}
	if offer != nil {
		o.share(&cfg)
	}
	o.cfg = cfg
	var err error
	if o.Server, err = n.Listen(ctx, name, cfg); err != nil {
		return nil, err
	}
	return o, nil
}

// later is a handler that is made after the endpoint it belongs to has been
// opened, and before that is served.
type later struct{ http.Handler }

// Validation says how the endpoints of agents hold requests to the contract of
// envelopes and tools. With the zero value, envelopes are those of the league
// and nothing is logged.
type Validation struct {
	// Strict asks for strict envelopes (see wire.Config).
	Strict bool
	// Log takes a record of every request; nil for none. It outlives the
	// agents.
	Log *eventlog.Log
	// Deterministic is for a Log that is: each agent then handles one request
	// at a time.
	Deterministic bool
	// Errors gets what is wrong with answers of our own; nil for nothing.
	Errors *slog.Logger
}

// toolTables are the tools of agents, made when they are first wanted. The zero value is ready for use.
type toolTables struct {
	mu    sync.Mutex
	known map[table]*schema.Registry
}

// table identifies the tools of an agent: agents that take the same messages in the
// same mode has the same.
type table struct {
	role protocol.Role
	mode protocol.Mode
}

func (t *toolTables) of(role protocol.Role, a *wire.Dispatcher) (*schema.Registry, error) {
	mode, types := a.Takes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.known[table{role, mode}]; found != nil {
		return found, nil
	}
	made, err := schema.NewRegistry(schema.LeagueTools(mode, types...)...)
	if err != nil {
		return nil, err
	}
	if t.known == nil {
		t.known = make(map[table]*schema.Registry)
	}
	t.known[table{role, mode}] = made
	return made, nil
}

// chain returns what the requests of an agent go through.
func (v Validation) chain(tables *toolTables, role protocol.Role, a *wire.Dispatcher) (*wire.Chain, error) {
	tools, err := tables.of(role, a)
	if err != nil {
		return nil, err
	}
	return wire.New(wire.Config{
		Agent: a, Registry: tools, Strict: v.Strict, Deterministic: v.Deterministic, Log: v.Log, Errors: v.Errors,
	}), nil
}
