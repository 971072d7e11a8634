package host

import (
	"log/slog"
	"sync"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

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

// table identifies the tools of an agent: who takes the same messages in the
// same mode has the same.
type table struct {
	role protocol.Role
	mode protocol.Mode
}

func (t *toolTables) of(role protocol.Role, a *wire.Endpoint) (*schema.Registry, error) {
	mode, types := a.Takes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.known[table{role, mode}]; found != nil {
		return found, nil
	}
	tools, err := schema.LeagueTools(mode, types...)
	if err != nil {
		return nil, err
	}
	made, err := schema.NewRegistry(tools...)
	if err != nil {
		return nil, err
	}
	if t.known == nil {
		t.known = make(map[table]*schema.Registry)
	}
	t.known[table{role, mode}] = made
	return made, nil
}

// pipeline returns what the requests of an agent go through.
func (v Validation) pipeline(tables *toolTables, role protocol.Role, a *wire.Endpoint) (*wire.Pipeline, error) {
	tools, err := tables.of(role, a)
	if err != nil {
		return nil, err
	}
	mode, _ := a.Takes()
	return wire.New(wire.Config{
		Agent: a, Registry: tools, Strict: v.Strict, Tolerant: mode == protocol.Tolerant,
		Deterministic: v.Deterministic, Log: v.Log, Errors: v.Errors,
	})
}
