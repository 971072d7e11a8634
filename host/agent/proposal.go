package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

const maxProposals = 8

// registerOnce is one attempt to register. A manager that says that the proposed id is taken is
// asked again with the next one, under an id of its own: it is another request.
func (m *Member) registerOnce(ctx context.Context, a Application, conversation, id string) error {
	m.proposeFree(ctx)
	err := m.apply(ctx, a, conversation, id)
	for range maxProposals {
		if !m.saysTaken(err) {
			return err
		}
		m.propose(m.Proposed, map[string]bool{m.Proposed: true})
		err = m.apply(ctx, a, jsonrpc.RandomID(), jsonrpc.RandomID())
	}
	return err
}

// proposes reports whether the agent introduces itself by an id that it has chosen.
func (m *Member) proposes() bool { return m.Proposed != "" && m.ID == "" && m.Me.Token() == "" }

// propose introduces the agent by the first id from one on that is not taken.
func (m *Member) propose(id string, taken map[string]bool) {
	port := PortOf(m.role, id)
	for taken[IDAt(m.role, port)] {
		port++
	}
	if free := IDAt(m.role, port); free != "" {
		m.Proposed = free
		m.Me.Introduce(free)
	}
}

// proposeFree asks a foreign manager once which agents it has, and proposes
// another id if one of them has the agent's. Many managers do not answer that;
// some overwrite an agent by the next of its id.
func (m *Member) proposeFree(ctx context.Context) {
	if !m.proposes() || m.Mode == protocol.Strict || m.role != protocol.RolePlayer || m.asked {
		return
	}
	got, err := m.askForAgents(ctx, time.Second, m.Manager.URL, dialect.Contracts.With(dialect.TraitNumericIDs))
	m.asked = !errors.Is(err, jsonrpc.ErrConnect) // else it is asked again when it is up
	if err != nil || got.IsError() {
		return
	}
	taken := listedIDs(got.Raw, m.role, m.Endpoint)
	if was := m.Proposed; taken[was] {
		m.propose(was, taken)
		m.Log.Warn("the manager has an agent of this id already, so another is proposed", "id", was, "proposed", m.Proposed)
	}
}

// saysTaken reports whether a registration was rejected because another agent has the proposed id.
func (m *Member) saysTaken(err error) bool {
	if err == nil || !m.proposes() || PortOf(m.role, m.Proposed) == 0 {
		return false
	}
	text := Brief(err)
	return protocol.Says(protocol.SaysTaken, text) && strings.Contains(strings.ToLower(text), strings.ToLower(m.Proposed))
}

// listedIDs returns the ids of the course's form that a list of agents holds, as texts or
// names of members, but that of the agent with the endpoint, which is the agent's own.
func listedIDs(body []byte, role protocol.Role, endpoint string) map[string]bool {
	taken := make(map[string]bool)
	// What stands between quotes, also in JSON text.
	for _, text := range strings.FieldsFunc(string(body), func(r rune) bool { return r == '"' || r == '\\' }) {
		if id := IDAt(role, PortOf(role, text)); id != "" {
			taken[id] = true
		}
	}
	own, _ := dialect.FindAgent(body, "", endpoint)
	delete(taken, IDAt(role, PortOf(role, own)))
	return taken
}
