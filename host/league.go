// Package host assembles a whole league from its agents: a manager, referees
// and players, each with an endpoint of its own on a network of sockets or of
// memory. What the agents do is theirs; this package starts them in the right
// order, waits for them, and collects what was played.
//
// League is one league, for people to watch or to take part in. Driver plays
// the leagues of an experiment, with the same seats, draws and coins that the
// direct arena uses, so that the same plan gives the same records whichever
// way it is played.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// League is a league whose agents all live in this process.
type League struct {
	Network Network
	Manager manager.Config // Caller is filled in
	// Web, if set, returns what the manager serves beside its endpoint, such as pages. It
	// is called once, before anything is served.
	Web      func(*manager.Manager) http.Handler
	Referees []referee.Config
	// Seats are the players. Factory is required; endpoint, manager and caller are filled in.
	Seats []player.Config
	// Server configures every endpoint.
	Server jsonrpc.Config
	// MCP, if set, has every agent offer its messages as tools of the Model
	// Context Protocol, on the same path over HTTP. Name, instructions and tools
	// are filled in.
	MCP *mcptools.Config
	// Tap, if set, returns what receives an agent's messages. The agents are
	// called "manager", "REF01", "P01".
	Tap func(name string) jsonrpc.Tap
	// Started, if set, is called once everybody listens, with the manager's URL and
	// whether an earlier process has begun the league.
	Started func(managerURL string, begun bool)
	// Stay, if set, is called when the league is complete, while the manager still
	// answers. Play returns after it.
	Stay func(*Played)
	// Validation says how requests are validated against the contract of envelopes and
	// tools.
	Validation Validation

	tools *toolTables // shared by the leagues of a driver; nil makes new ones
}

// Played is what a league came to.
type Played struct {
	Matches   []league.Match // in the order of the schedule
	Standings []league.Standing
	Players   []*player.Player // by seat
	// Before says that the league was complete before: the data directory is
	// that of a league that has been played to its end, and nothing was done.
	Before bool
	Draws  league.Draws
}

// Play plays a league of its own seats from registration to completion. The
// seats register one after another, so that the first becomes P01. It returns
// when every agent has ended; the error is the first reason why one could not
// do its part.
func (l *League) Play(ctx context.Context) (_ *Played, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &assembly{league: l, known: l.known(), tools: cmp.Or(l.tools, new(toolTables)), ctx: ctx, cancel: cancel}
	a.serving, a.close = context.WithCancel(context.WithoutCancel(ctx))
	seated := make(chan struct{})
	defer func() { err = cmp.Or(a.end(), err) }()
	m, url, err := a.manager(seated)
	if err != nil {
		return nil, err
	}
	select {
	case <-m.Done():
		a.agents.Wait()
		return l.stay(&Played{Matches: m.Results(), Standings: m.Standings(), Draws: m.Draws(), Before: true}), nil
	default:
	}
	if m.Over() {
		// An earlier process ended before everybody had heard of the end. The
		// manager notifies those that can still be reached; its own agents have
		// nothing left to do.
		a.agents.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return l.stay(&Played{Matches: m.Results(), Standings: m.Standings(), Draws: m.Draws()}), nil
	}
	players, err := a.members(url)
	if err != nil {
		return nil, err
	}
	begun := m.Snapshot().Round > 0
	close(seated) // the manager may begin
	if l.Started != nil {
		l.Started(url, begun)
	}
	a.agents.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return l.stay(&Played{Matches: m.Results(), Standings: m.Standings(), Draws: m.Draws(), Players: players}), nil
}

// stay calls Stay, if there is one, and returns what was played.
func (l *League) stay(played *Played) *Played {
	if l.Stay != nil {
		l.Stay(played)
	}
	return played
}

// assembly is a league while it is put together and played.
type assembly struct {
	league   *League
	lead     *manager.Manager
	recorded map[string]string // where agents listened in an earlier process, by id
	known    *player.League    // what players know beforehand; nil where they have to ask
	tools    *toolTables
	ctx      context.Context
	cancel   context.CancelCauseFunc
	first    sync.Once
	failed   error

	agents  sync.WaitGroup // what does its part and ends
	servers sync.WaitGroup // what answers until everybody has ended
	clients []*jsonrpc.Client
	close   context.CancelFunc
	serving context.Context
}

// fail ends the league for a reason.
func (a *assembly) fail(err error) {
	if err == nil {
		return
	}
	a.first.Do(func() { a.failed = err })
	a.cancel(err)
}

// end waits for everything and returns the first failure.
func (a *assembly) end() error {
	a.cancel(nil)
	a.agents.Wait()
	a.close()
	a.servers.Wait()
	for _, c := range a.clients {
		a.fail(c.Close())
	}
	return a.failed
}

// join assembles an agent, serves it and runs it. It returns the URL of its
// endpoint.
func (a *assembly) join(name string, role protocol.Role, create creator, beside http.Handler) (string, error) {
	l := a.league
	p := place{network: avoiding{l.Network, a.taken}, name: name, server: l.Server, mcp: l.MCP, validation: l.Validation, tools: a.tools, beside: beside}
	if l.Tap != nil {
		p.server.Tap = l.Tap(name)
	}
	one, err := assemble(a.ctx, p, role, create)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	a.clients = append(a.clients, one.client)
	a.servers.Go(func() {
		defer one.unmount()
		if err := one.Serve(a.serving, one.chain); err != nil {
			a.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
	a.agents.Go(func() {
		if err := one.agent.Run(a.ctx); err != nil && a.ctx.Err() == nil {
			a.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
	return one.URL(), nil
}

func (a *assembly) manager(seated <-chan struct{}) (m *manager.Manager, url string, err error) {
	cfg, launcher, pages := a.league.Manager, new(later), new(later)
	beside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch reads := r.Method == http.MethodGet || r.Method == http.MethodHead; {
		case r.URL.Path == startPath:
			launcher.ServeHTTP(w, r)
		case reads && pages.Handler != nil:
			pages.ServeHTTP(w, r)
		default: // others look for the endpoint
			notFound(w, path(a.league.Server))
		}
	})
	url, err = a.join("manager", protocol.RoleManager, func(caller *wire.Caller, listen func() (string, error)) (runner, error) {
		cfg.Caller, cfg.Ready = caller, seated
		if m, err = manager.New(cfg); err != nil {
			return nil, err
		}
		a.lead, a.recorded = m, m.Endpoints()
		launcher.Handler = launching(m.Launcher())
		if a.league.Web != nil {
			pages.Handler = a.league.Web(m)
		}
		if _, err = listen(); err != nil {
			return nil, errors.Join(err, m.Close())
		}
		return m, nil
	}, beside)
	return m, url, err
}

// taken reports whether the manager's journal has a URL as that of another agent.
func (a *assembly) taken(name, url string) bool {
	for id, endpoint := range a.recorded {
		if id != name && agent.SameEndpoint(endpoint, url) {
			return true
		}
	}
	return false
}

// member is a referee or a player of the league's own.
type member interface {
	runner
	ID() string
}

// awaited is a member that may end before the manager knows where it is; there says that
// nobody need wait for that.
type awaited struct {
	member
	there func()
}

// Run implements runner.
func (m awaited) Run(ctx context.Context) error {
	defer m.there()
	return m.member.Run(ctx)
}

// members has the referees and the players join. In a league that goes on the players come
// first: a referee calls those of its unfinished matches at once.
func (a *assembly) members(managerURL string) ([]*player.Player, error) {
	players := make([]*player.Player, len(a.league.Seats))
	roles := []func() error{
		func() error {
			for i := range a.league.Referees {
				if err := a.referee(i, managerURL); err != nil {
					return err
				}
			}
			return nil
		},
		func() (err error) {
			for i := range players {
				if players[i], err = a.player(i, managerURL); err != nil {
					return err
				}
			}
			return nil
		},
	}
	if len(a.recorded) > 0 {
		slices.Reverse(roles)
	}
	for _, join := range roles {
		if err := join(); err != nil {
			return nil, err
		}
	}
	return players, nil
}

// member has a referee or a player join, and waits until the manager knows where it is.
func (a *assembly) member(name string, role protocol.Role, cfg *agent.Config, managerURL string, create func() (member, error)) error {
	known := make(chan struct{})
	there, tell := sync.OnceFunc(func() { close(known) }), cfg.Registered // some register again
	cfg.Registered = func() {
		there()
		if tell != nil {
			tell()
		}
	}
	_, err := a.join(name, role, func(caller *wire.Caller, listen func() (string, error)) (runner, error) {
		url, err := listen()
		if err != nil {
			return nil, err
		}
		cfg.Endpoint, cfg.Caller, cfg.Manager = url, caller, wire.NewPeer(managerURL, dialect.Contracts)
		m, err := create()
		return awaited{m, there}, err
	}, nil)
	if err != nil {
		return err
	}
	select {
	case <-known:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

func (a *assembly) referee(i int, managerURL string) error {
	name, cfg := fmt.Sprintf("REF%02d", i+1), a.league.Referees[i]
	cfg.Name, cfg.ID = cmp.Or(cfg.Name, name), cmp.Or(cfg.ID, name)
	return a.member(name, protocol.RoleReferee, &cfg.Config, managerURL, func() (member, error) { return referee.New(cfg) })
}

func (a *assembly) player(i int, managerURL string) (p *player.Player, err error) {
	id, cfg := game.PlayerID(i), a.league.Seats[i]
	cfg.ID, cfg.Once = cmp.Or(cfg.ID, id), true
	if cfg.League == nil {
		cfg.League = a.known
	}
	tell := cfg.Events
	cfg.Events = func(e player.Event) {
		if e.Kind == player.Invited {
			a.lead.Invited(e.Match)
		}
		if tell != nil {
			tell(e)
		}
	}
	err = a.member(id, protocol.RolePlayer, &cfg.Config, managerURL, func() (member, error) {
		if p, err = player.New(cfg); err != nil || p.ID() != "" {
			return p, err
		}
		if err = a.readmit(cfg.Name); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		return p, nil
	})
	return p, err
}

// readmit lets a player without a token take its old place: an earlier process ended after
// the manager had recorded the registration and before the player had. Once the league has
// started, a player without a journal does not know what it has played; then the organiser
// decides.
func (a *assembly) readmit(name string) error {
	if len(a.recorded) == 0 {
		return nil
	}
	shot := a.lead.Snapshot()
	for _, known := range shot.Players {
		if shot.Rounds == 0 && known.Name == name && a.recorded[known.ID] != "" {
			return a.lead.SetStatus(a.ctx, known.ID, league.Active)
		}
	}
	return nil
}
