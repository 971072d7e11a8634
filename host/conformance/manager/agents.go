package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// member is one of our own players or referees. All that it is sent, and all that it
// sends, passes its tap.
type member struct {
	*kit.Agent
	role    protocol.Role
	name    string // it introduces itself by
	display string

	// What follows is guarded by the peers' lock until it has joined. The first answer is to an
	// attempt exactly as the protocol says; nil without any.
	first, last *kit.Answer
	verifier    credential.Verifier
}

// signature returns the sender and the token of its messages.
func (a *member) signature() (sender, token string) { return protocol.Sender(a.role, a.ID), a.Token }

// open makes the agents, which register when the first check needs them.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	if err := s.AwaitAgent(ctx); err != nil {
		return nil, err
	}
	s.Peer = wire.GuessPeer(s.URL, dialect.Contracts)
	p := &peers{
		Company: s.Company(ctx), run: jsonrpc.RandomID()[:8],
		answers: map[string]*kit.Answer{}, missing: map[string]string{}, announced: map[int]int{},
	}
	p.Life = p.Alive
	for i := range s.Players + referees {
		a := &member{role: protocol.RolePlayer, name: fmt.Sprintf("player-%d", i+1)}
		if i >= s.Players {
			a.role, a.name = protocol.RoleReferee, fmt.Sprintf("referee-%d", i-s.Players+1)
		}
		a.display = fmt.Sprintf("Conformance %s %s", a.name, p.run)
		err := p.make(a, i)
		p.agents = append(p.agents, a)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make an agent of the league: %w", err), p.Close())
		}
	}
	// It may be called by its id before it knows that it has it.
	p.AlsoAt(p.lastPlayer().Agent, agent.PortOf(protocol.RolePlayer, p.wantedID()))
	return p, nil
}

// make makes an agent and has it served; it does not register yet.
func (p *peers) make(a *member, i int) error {
	// Some managers call their agents at the first ports of their role, whatever they register.
	port, _ := agent.Ports(a.role)
	a.Agent = &kit.Agent{
		Port: port + i%p.Session.Players, Manager: p.Session.Peer,
		Send:    func(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) { return p.send(ctx, a, out) },
		Receive: func(in *kit.Message) kit.Response { return p.receive(a, in) },
	}
	return p.Enlist(a.Agent, func(common agent.Config, failed func(error)) (kit.Runner, error) {
		common.Name, common.Proposed = a.display, a.name
		if a.role == protocol.RoleReferee {
			return referee.New(referee.Config{
				Config: common, JoinTimeout: p.Session.Timeout, ChoiceTimeout: p.Session.Timeout,
				Draw: func(referee.Match) (int, error) { return number, nil },
				Events: func(e referee.Event) {
					if e.Kind == referee.Waiting {
						failed(errors.New(e.Error))
					}
				},
			})
		}
		if i == p.Session.Players-1 {
			common.ID, common.Proposed = p.wantedID(), ""
		}
		return player.New(player.Config{
			Config: common, Factory: scripted{p, i}, Watch: -1, Patience: patient, League: &player.League{},
			Events: func(e player.Event) {
				if e.Kind == player.Waiting {
					failed(errors.New(e.Error))
				}
			},
		})
	})
}

// patient is how long a player waits for the call for its choice before it sends
// its join as a message of its own.
const patient = 750 * time.Millisecond

// join has an agent register, and ends the check if the manager does not let it.
func (t T) join(a *member) {
	err := a.Join()
	if t.tooEarly && err != nil {
		t.Skip("the league has begun already; see manager.start.early")
	}
	if err != nil {
		t.Fail("the registration of %s failed: %v", a.name, err)
	}
}

// applied keeps the answer to an attempt of an agent to register, and who it is then.
func (p *peers) applied(a *member, answer *kit.Answer) {
	p.Lock()
	defer p.Unlock()
	defer p.Notify()
	a.first, a.last = cmp.Or(a.first, answer), answer
	granted, yes := dialect.FindAcceptance(answer.Reply.Document(), answer.Status)
	if !yes || answer.Refused {
		return
	}
	a.ID, a.Token = cmp.Or(granted.ID, a.ID, a.name), cmp.Or(granted.Token, a.Token) // without an id, it keeps its name
	a.verifier = credential.NewVerifier(a.Token)
	p.leagueID = cmp.Or(granted.League, p.leagueID)
	// Some referees call it there, whatever it has registered.
	p.AlsoAt(a.Agent, agent.PortOf(a.role, a.ID))
}

// registerAll registers all agents but the last, with which some leagues begin: it registers when
// the league is played. The first is a player, which finds out how the manager is spoken to; then
// come the referees, since some leagues start with the last player. A manager that refuses a referee
// plays the matches itself. The check is skipped if a player is refused: that is for another to find.
func (t T) registerAll() {
	for _, a := range slices.Concat(t.agents[:1], t.referees(), t.agents[1:t.Session.Players-1]) {
		if a.role == protocol.RoleReferee && t.referees()[0].Failed != nil {
			continue
		}
		if why, ended := t.Catch(func() { t.join(a) }); ended && a.role == protocol.RolePlayer {
			t.Skip("not all agents can be registered: %s", why)
		}
	}
}

// number is the one that is drawn in every match: who chose even wins.
const number = 8

// script says what each of the first five players chooses, even or odd, against each other, or that
// it fails, and so on for more players, so that there are wins, ties, and technical losses of one and
// of both. The final order is 5 1 4 2 3: 5 is before 1 by wins, 4 before 2 by technical losses, 2
// before 3 by the number. If rounds are made by the circle method, matches among the tied decide after
// the last round but one.
var script = [5]string{".oooe", "o.oo-", "oo.o-", "ooo.o", "oe-e."}

// scripted is the strategy of all players, and its own factory.
type scripted struct {
	p   *peers
	own int // index of the player
}

// Info implements strategies.Factory.
func (s scripted) Info() strategies.Info { return strategies.Info{Name: "script"} }

// New implements strategies.Factory.
func (s scripted) New(context.Context, strategies.Setup) (strategies.Strategy, error) { return s, nil }

// Choose implements strategies.Strategy.
func (s scripted) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	choice, other := byte('.'), 0
	s.p.Do(func() { other = slices.Index(s.p.players(), s.p.withID(t.Opponent)) })
	if other >= 0 { // it is of the suite
		choice = script[s.own%len(script)][other%len(script)]
	}
	switch choice {
	case 'e':
		return strategies.Play(game.Even), nil
	case '-':
		return 0, errors.New("by the script of the suite, it has a technical loss")
	}
	return strategies.Play(game.Odd), nil
}

// Observe implements strategies.Strategy.
func (s scripted) Observe(context.Context, *strategies.Outcome) error { return nil }

// Close implements strategies.Factory and strategies.Strategy.
func (s scripted) Close() error { return nil }
