package host

import (
	"cmp"
	"context"
	"net/http"
	"sync"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/leaguetools"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// share has an endpoint share its path with a server of the Model Context
// Protocol, which is made once the agent is there (mount).
func (o *opened) share(cfg *jsonrpc.Config) {
	cfg.Divert = mcptools.Wanted
	cfg.Other = onPath{path(*cfg), &o.client, cfg.Other}
}

// mount has a chain answer at the endpoint, and offers the messages of its
// agent as tools, if the endpoint is shared.
func (o *opened) mount(role protocol.Role, agent *wire.Dispatcher, chain *wire.Chain) {
	o.refuse = chain.Refuse
	if o.offer == nil {
		return
	}
	o.tools = &offering{make: func() (*mcptools.Server, error) {
		mode, takes := agent.Takes()
		cfg := *o.offer
		cfg.Name, cfg.Instructions = "strategylab-"+roleName(role), leaguetools.Instructions(role)
		cfg.Tools = leaguetools.Tools(leaguetools.Agent{
			Role: role, Mode: mode, Takes: takes,
			Serve: func(ctx context.Context, req *jsonrpc.Request) (int, []byte) {
				return jsonrpc.Serve(ctx, req, chain, o.cfg)
			},
		})
		return mcptools.New(cfg)
	}}
	o.client.Handler = o.tools
}

// beside returns what serves clients on a stream that is the agent's too, nil
// for nothing.
func (o *opened) beside() (func(send func(line []byte) error) jsonrpc.Side, error) {
	if o.tools == nil {
		return nil, nil
	}
	srv, err := o.tools.server()
	if err != nil {
		return nil, err
	}
	return srv.Beside, nil
}

// unmount ends what mount began, when the endpoint serves nobody any more.
func (o *opened) unmount() {
	if o.tools != nil {
		o.tools.close()
	}
}

// offering is a server that is made when its first client comes: compiling the
// schemas takes longer than playing many a match, and most agents never have a
// client.
type offering struct {
	make func() (*mcptools.Server, error)

	once    sync.Once
	srv     *mcptools.Server
	handler http.Handler
	err     error
}

func (o *offering) server() (*mcptools.Server, error) {
	o.once.Do(func() {
		if o.srv, o.err = o.make(); o.err == nil {
			o.handler = o.srv.Handler()
		}
	})
	return o.srv, o.err
}

func (o *offering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := o.server(); err != nil {
		http.Error(w, "no tools: "+err.Error(), http.StatusInternalServerError)
		return
	}
	o.handler.ServeHTTP(w, r)
}

// close ends the server, if there is one. Nobody may come any more.
func (o *offering) close() {
	o.once.Do(func() {})
	if o.srv != nil {
		o.srv.Close()
	}
}

// onPath sends one path to one handler and the others to another, if there is
// one.
type onPath struct {
	path   string
	there  http.Handler
	others http.Handler
}

func (p onPath) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == p.path:
		p.there.ServeHTTP(w, r)
	case p.others != nil:
		p.others.ServeHTTP(w, r)
	default:
		notFound(w, p.path)
	}
}

func notFound(w http.ResponseWriter, endpoint string) {
	http.Error(w, "not found: the JSON-RPC endpoint is "+endpoint, http.StatusNotFound)
}

// roleName is how a role is called in the name of a server.
func roleName(role protocol.Role) string {
	if role == protocol.RoleManager {
		return "manager"
	}
	return string(role)
}

// path returns the path of an endpoint.
func path(cfg jsonrpc.Config) string { return cmp.Or(cfg.Path, jsonrpc.DefaultPath) }
