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

// toolTables are the tools of agents, made when they are first wanted, with
// validators that are shared. The zero value is ready for use.
type toolTables struct {
	mu     sync.Mutex
	common *validation.Registry
	known  map[table]*validation.Registry
}

// table identifies the tools of an agent: who takes the same messages in the
// same mode has the same.
type table struct {
	role protocol.Role
	mode protocol.Mode
}

func (t *toolTables) of(role protocol.Role, a offered) (*validation.Registry, error) {
	mode, types := a.Takes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.known[table{role, mode}]; found != nil {
		return found, nil
	}
	if t.common == nil {
		var err error
		if t.common, err = validation.NewRegistry(); err != nil {
			return nil, err
		}
		t.known = make(map[table]*validation.Registry)
	}
	tools, err := validation.LeagueTools(mode, types...)
	if err != nil {
		return nil, err
	}
	made, err := t.common.Beside(tools...)
	if err == nil {
		t.known[table{role, mode}] = made
	}
	return made, err
}

// pipeline returns what the requests of an agent go through.
func (v Validation) pipeline(tables *toolTables, role protocol.Role, a offered) (*validation.Pipeline, error) {
	tools, err := tables.of(role, a)
	if err != nil {
		return nil, err
	}
	mode, _ := a.Takes()
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
