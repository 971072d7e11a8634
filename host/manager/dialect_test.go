package manager_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// speaks makes an agent that speaks a dialect and understands no other.
func (r *rig) speaks(role protocol.Role, name string, d *dialect.Dialect) *scripted {
	r.t.Helper()
	s := r.silent(role, name)
	s.dialct, s.calls.Codec = d, dialect.NewCodec(protocol.Tolerant)
	s.listen(name)
	return s
}

func TestEveryAgentIsAddressedAsItRegistered(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode, c.Players = protocol.Tolerant, len(dialect.OfProtocol()) })
	heard := make(map[string]*watched[string])
	r.run()
	referee := r.speaks(protocol.RoleReferee, "north", dialect.Envelope).conducts(fair).register()
	var players []*scripted
	for _, d := range dialect.OfProtocol() {
		calls := new(watched[string])
		heard[d.Name] = calls
		p := r.speaks(protocol.RolePlayer, "speaks-"+d.Name, d)
		for _, kind := range []protocol.Type{protocol.TypeRoundAnnouncement, protocol.TypeLeagueCompleted} {
			p.on(kind, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				calls.add(in.Dialect.Name)
				return nil, nil
			})
		}
		players = append(players, p.register())
	}
	r.finish()
	for _, d := range dialect.OfProtocol() {
		for _, name := range heard[d.Name].all() {
			if name != d.Name {
				t.Errorf("an agent that speaks %s was addressed in %s", d.Name, name)
			}
		}
		if n := len(heard[d.Name].all()); n != 6 {
			t.Errorf("an agent that speaks %s was sent %d of 6 messages", d.Name, n)
		}
	}
	if n := len(r.m.Results()); n != 10 {
		t.Errorf("%d results of 10 matches", n)
	}
	for _, p := range append(players, referee) {
		for _, e := range r.events.all() {
			if e.Kind == manager.AgentState && e.Agent == p.id && e.State == league.Suspended {
				t.Errorf("%s was suspended", p.name)
			}
		}
	}
}

// In tolerant mode a dialect without JSON-RPC errors gets refusals as text.
func TestABareRegistrationIsRejectedByStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	r.player("ada")
	s := r.silent(protocol.RolePlayer, "ada")
	s.dialct, s.url, s.calls.Codec = dialect.Bare, "http://elsewhere/mcp", dialect.NewCodec(protocol.Tolerant)
	answer, err := s.call(s.application())
	if err != nil {
		t.Fatal(err)
	}
	wantRejected(t, answer.(*protocol.LeagueRegisterResponse))
}
