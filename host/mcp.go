package host

import (
	"context"
	"net/http"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/leaguetools"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
)

// offered is an agent whose messages are offered as tools.
type offered interface {
	Takes() (protocol.Mode, []protocol.Type)
}

// share has an endpoint share its path with a server of the Model Context
// Protocol, which is made once the agent is there (mount).
func (o *opened) share(cfg *jsonrpc.Config) {
	cfg.Divert = mcptools.Wanted
	cfg.Other = onPath{path(*cfg), &o.client, cfg.Other}
}

// mount offers the agent's messages as tools, if the endpoint is shared. The
// handler is what answers them at the endpoint.
func (o *opened) mount(role protocol.Role, a offered, handler jsonrpc.Handler) error {
	if o.offer == nil {
		return nil
	}
	mode, takes := a.Takes()
	tools, err := leaguetools.Tools(leaguetools.Agent{
		Role: role, Mode: mode, Takes: takes,
		Serve: func(ctx context.Context, req *jsonrpc.Request) (int, []byte) {
			return jsonrpc.Serve(ctx, req, handler, o.cfg)
		},
	})
	if err != nil {
		return err
	}
	cfg := *o.offer
	cfg.Name, cfg.Instructions, cfg.Tools = "strategylab-"+roleName(role), leaguetools.Instructions(role), tools
	if o.tools, err = mcptools.New(cfg); err != nil {
		return err
	}
	o.client.Handler = o.tools.Handler()
	return nil
}

// unmount ends what mount began, when the endpoint serves nobody any more.
func (o *opened) unmount() {
	if o.tools != nil {
		o.tools.Close()
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
		http.Error(w, "not found: the endpoint is "+p.path, http.StatusNotFound)
	}
}

// roleName is how a role is called in the name of a server.
func roleName(role protocol.Role) string {
	if role == protocol.RoleManager {
		return "manager"
	}
	return string(role)
}

// path returns the path of an endpoint.
func path(cfg jsonrpc.Config) string {
	if cfg.Path == "" {
		return jsonrpc.DefaultPath
	}
	return cfg.Path
}
