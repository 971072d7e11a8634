package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/wire"
)

// Suite returns the checks of a manager, in the order in which they run: those
// before the start of the league come first, then those that read the record
// of the league.
func Suite() kit.Suite {
	return kit.Suite{Role: kit.Manager, Open: open, Checks: slices.Concat(
		[]kit.Check{earlyCheck()}, registrationChecks(), queryChecks(), inputChecks(), faultyRegistrationChecks(), authChecks(),
		startChecks(), roundChecks(), messageChecks(), acceptedReportChecks(), refusedReportChecks(),
		standingsChecks(), roundEndChecks(), leagueEndChecks(), lateChecks(), recordedQueryChecks(), retryChecks(), loadChecks(),
	)}
}

// conventional returns the port of an agent by the convention of the protocol:
// some managers call their agents there, whatever they register.
func conventional(i, players int) int {
	if i < players {
		return 8101 + i
	}
	return 8001 + i - players
}

// open starts the agents, which register when the first check needs them.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	if err := s.AwaitAgent(ctx); err != nil {
		return nil, err
	}
	s.Meet(wire.GuessPeer(s.URL, dialect.Contracts))
	p := &peers{
		session: s, run: jsonrpc.RandomID()[:8], play: playLeague,
		desk: (&kit.T{Session: s}).Record(), joining: map[protocol.Role]*agent.Registrar{},
	}
	p.life, p.end = context.WithCancel(ctx)
	for i := range s.Players + referees {
		a := &member{role: protocol.RolePlayer, name: fmt.Sprintf("player-%d", i+1)}
		if i >= s.Players {
			a.role, a.name = protocol.RoleReferee, fmt.Sprintf("referee-%d", i-s.Players+1)
		}
		a.display = fmt.Sprintf("Conformance %s %s", a.name, p.run)
		var err error
		if a.endpoint, err = kit.ListenAs(ctx, s.Listen, conventional(i, s.Players)); err != nil {
			return nil, errors.Join(fmt.Errorf("listen as an agent of the league: %w", err), p.Close())
		}
		p.agents = append(p.agents, a)
	}
	p.players()[s.Players-1].name = p.wantedID()
	p.listenAs(p.players()[s.Players-1], p.wantedID()) // it may be called before it knows that it has it
	for _, a := range p.agents {
		a.endpoint.Handle(func(in *trace.Exchange, _ http.Header) kit.Response { return p.receive(a, in) })
	}
	return p, nil
}
