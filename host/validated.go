package host

import (
	"log/slog"
	"sync"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/validation"
	"github.com/strategylab/strategylab/host/validation/eventlog"
)

// Validation says how the endpoints of agents hold requests to the contract of
// envelopes and tools. With the zero value, envelopes are those of the league
// and nothing is logged.
type Validation struct {
	// Strict asks for strict envelopes (see validation.Config).
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

// toolTables are the tools of the league by the role that serves them, made
// when they are first wanted.
type toolTables struct {
	once sync.Once
	all  map[protocol.Role]*validation.Registry
	err  error
}

func (t *toolTables) of(role protocol.Role) (*validation.Registry, error) {
	t.once.Do(func() {
		league, err := validation.NewRegistry(validation.LeagueTools()...)
		if err != nil {
			t.err = err
			return
		}
		t.all = make(map[protocol.Role]*validation.Registry)
		for _, role := range []protocol.Role{protocol.RoleManager, protocol.RoleReferee, protocol.RolePlayer} {
			var names []string
			for _, tool := range validation.LeagueTools(role) {
				names = append(names, tool.Name)
			}
			if t.all[role], t.err = league.Only(names...); t.err != nil {
				return
			}
		}
	})
	return t.all[role], t.err
}

// pipeline returns what an agent's requests go through.
func (v Validation) pipeline(tables *toolTables, role protocol.Role, mode protocol.Mode) (*validation.Pipeline, error) {
	tools, err := tables.of(role)
	if err != nil {
		return nil, err
	}
	return validation.New(validation.Config{
		Registry: tools, Strict: v.Strict, Tolerant: mode == protocol.Tolerant,
		Deterministic: v.Deterministic, Log: v.Log, Errors: v.Errors,
	})
}

// validate puts a pipeline between an endpoint and its agent: it returns the
// handler to serve, and has the endpoint refuse as the pipeline does.
func (o *opened) validate(p *validation.Pipeline, h jsonrpc.Handler, refuse jsonrpc.RefuseFunc) jsonrpc.Handler {
	o.refuse = p.Refuse(refuse)
	return p.Handler(h)
}
