package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// Seat is one player of a league. Of its configuration Factory is required;
// endpoint, manager and caller are filled in.
type Seat struct{ player.Config }

// League is a league whose agents all live in this process.
type League struct {
	Network  Network
	Manager  manager.Config // Caller is filled in
	Referees []referee.Config
	Seats    []Seat
	// Server configures every endpoint.
	Server jsonrpc.Config
	// MCP, if set, has every agent offer its messages as tools of the Model
	// Context Protocol, on the same path over HTTP. Name, instructions and tools
	// are filled in.
	MCP *mcptools.Config
	// Tap, if set, returns what is told of an agent's messages. The agents are
	// called "manager", "REF01", "P01".
	Tap func(agent string) jsonrpc.Tap
	// Started, if set, is called once everybody listens, with the manager's URL.
	Started func(managerURL string)
	// Validation says how requests are held to the contract of envelopes and
	// tools.
	Validation Validation

	tools *toolTables // shared by the leagues of a driver; nil makes new ones
}

// Played is what a league came to.
type Played struct {
	Matches   []manager.Match // in the order of the schedule
	Standings []manager.Standing
	Players   []*player.Player // by seat
	// Before says that the league was complete before: the data directory is
	// that of a league that has been played to its end, and nothing was done.
	Before bool
}

// Play plays a league of its own seats from registration to completion. The
// seats register one after another, so that the first becomes P01. It returns
// when every agent has ended; the error is the first reason why one could not
// do its part.
func (l *League) Play(ctx context.Context) (_ *Played, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &assembly{league: l, known: l.known(), tools: cmp.Or(l.tools, new(toolTables)), ctx: ctx, cancel: cancel}
	defer func() { err = cmp.Or(a.end(), err) }()
	m, url, err := a.manager()
	if err != nil {
		return nil, err
	}
	select {
	case <-m.Done():
		a.agents.Wait()
		return &Played{Matches: m.Results(), Standings: m.Standings(), Before: true}, nil
	default:
	}
	if m.Over() {
		// An earlier process ended before everybody had heard of the end. The
		// manager tells those who can still be reached; its own agents have
		// nothing left to do.
		a.agents.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return &Played{Matches: m.Results(), Standings: m.Standings()}, nil
	}
	for i := range l.Referees {
		if err := a.referee(i, url); err != nil {
			return nil, err
		}
	}
	players := make([]*player.Player, len(l.Seats))
	for i := range l.Seats {
		if players[i], err = a.player(i, url); err != nil {
			return nil, err
		}
	}
	if l.Started != nil {
		l.Started(url)
	}
	a.agents.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return &Played{Matches: m.Results(), Standings: m.Standings(), Players: players}, nil
}

// assembly is a league while it is put together and played.
type assembly struct {
	league *League
	known  *player.League // what players are told; nil where they have to ask
	tools  *toolTables
	ctx    context.Context
	cancel context.CancelCauseFunc
	first  sync.Once
	failed error

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
	if a.close != nil {
		a.close()
	}
	a.servers.Wait()
	for _, c := range a.clients {
		a.fail(c.Close())
	}
	return a.failed
}

// endpoint opens an agent's endpoint and its way to the others.
func (a *assembly) endpoint(name string, beside ...route) (*opened, *wire.Caller, error) {
	if a.serving == nil {
		a.serving, a.close = context.WithCancel(context.WithoutCancel(a.ctx))
	}
	cfg := a.league.Server
	if a.league.Tap != nil {
		cfg.Tap = a.league.Tap(name)
	}
	cfg.Routes = withRoutes(cfg.Routes, beside)
	srv, err := open(a.ctx, a.league.Network, name, cfg, a.league.MCP)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	client := jsonrpc.NewClient(a.league.Network.From(name), jsonrpc.ClientConfig{Tap: cfg.Tap})
	a.clients = append(a.clients, client)
	return srv, &wire.Caller{Client: client, Codec: protocol.NewCodec(protocol.Tolerant)}, nil
}

func (a *assembly) serve(name string, srv *opened, h jsonrpc.Handler) {
	a.servers.Go(func() {
		defer srv.unmount()
		if err := srv.Serve(a.serving, h); err != nil {
			a.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

func (a *assembly) run(name string, run func(context.Context) error) {
	a.agents.Go(func() {
		if err := run(a.ctx); err != nil && a.ctx.Err() == nil {
			a.fail(fmt.Errorf("%s: %w", name, err))
		}
	})
}

func (a *assembly) manager() (*manager.Manager, string, error) {
	launcher := new(later)
	srv, caller, err := a.endpoint("manager", route{manager.StartPath, launcher})
	if err != nil {
		return nil, "", err
	}
	cfg := a.league.Manager
	cfg.Caller = caller
	m, err := manager.New(cfg)
	if err != nil {
		return nil, "", errors.Join(err, srv.Close())
	}
	launcher.Handler = m.StartHandler()
	pipe, err := a.league.Validation.pipeline(a.tools, protocol.RoleManager, m.Endpoint())
	if err != nil {
		return nil, "", errors.Join(err, srv.Close())
	}
	srv.mount(protocol.RoleManager, m.Endpoint(), pipe)
	a.serve("manager", srv, pipe)
	a.run("manager", m.Run)
	return m, srv.URL(), nil
}

func (a *assembly) referee(i int, managerURL string) error {
	name := fmt.Sprintf("REF%02d", i+1)
	srv, caller, err := a.endpoint(name)
	if err != nil {
		return err
	}
	cfg := a.league.Referees[i]
	cfg.Endpoint, cfg.Caller, cfg.Manager = srv.URL(), caller, wire.NewPeer(managerURL, protocol.Contracts)
	cfg.Name, cfg.ID = cmp.Or(cfg.Name, name), cmp.Or(cfg.ID, name)
	registered := make(chan struct{})
	first := sync.OnceFunc(func() { close(registered) }) // some register again
	tell := cfg.Events
	cfg.Events = func(e referee.Event) {
		if e.Kind == referee.Registered {
			first()
		}
		if tell != nil {
			tell(e)
		}
	}
	r, err := referee.New(cfg)
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	pipe, err := a.league.Validation.pipeline(a.tools, protocol.RoleReferee, r.Endpoint())
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	srv.mount(protocol.RoleReferee, r.Endpoint(), pipe)
	a.serve(name, srv, pipe)
	known := r.ID() != "" // from its journal: it does not register again
	a.run(name, r.Run)
	if known {
		return nil
	}
	return a.await(registered)
}

func (a *assembly) player(i int, managerURL string) (*player.Player, error) {
	id := game.PlayerID(i)
	srv, caller, err := a.endpoint(id)
	if err != nil {
		return nil, err
	}
	cfg := a.league.Seats[i].Config
	cfg.Endpoint, cfg.Caller, cfg.Manager = srv.URL(), caller, wire.NewPeer(managerURL, protocol.Contracts)
	cfg.ID, cfg.Once = cmp.Or(cfg.ID, id), true
	if cfg.League == nil {
		cfg.League = a.known
	}
	registered := make(chan struct{})
	first := sync.OnceFunc(func() { close(registered) }) // some register again
	tell := cfg.Events
	cfg.Events = func(e player.Event) {
		if e.Kind == player.Registered {
			first()
		}
		if tell != nil {
			tell(e)
		}
	}
	p, err := player.New(cfg)
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	pipe, err := a.league.Validation.pipeline(a.tools, protocol.RolePlayer, p.Endpoint())
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	srv.mount(protocol.RolePlayer, p.Endpoint(), pipe)
	a.serve(id, srv, pipe)
	known := p.ID() != ""
	a.run(id, p.Run)
	if known {
		return p, nil
	}
	return p, a.await(registered)
}

// await returns when an agent is registered, or the league has failed.
func (a *assembly) await(registered <-chan struct{}) error {
	select {
	case <-registered:
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}
