package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// Agent is a single agent that takes part in a league somewhere else.
type Agent struct {
	Network Network
	Name    string // what the network knows its endpoint by
	Server  jsonrpc.Config
	Manager string // URL
	// Public is the URL under which others reach the agent, where that is not
	// the one it listens on.
	Public string
	// Tap, if set, is told of every message in and out.
	Tap jsonrpc.Tap
	// MCP, if set, has the agent offer its messages as tools of the Model
	// Context Protocol, on the same path over HTTP and on the same streams. Name,
	// instructions and tools are filled in.
	MCP *mcptools.Config
	// Stdin, if set, is a second way to the agent: one JSON document a line, as
	// jsonrpc.ServeStdio reads them, answered on Stdout. The agent ends with it.
	Stdin  io.Reader
	Stdout io.Writer
	// Listening, if set, is called with the URL once the agent listens.
	Listening func(url string)
	// Validation says how requests are held to the contract of envelopes and
	// tools, whichever way they come.
	Validation Validation
}

// runner is what Player and Referee have in common.
type runner interface {
	Endpoint() *wire.Endpoint
	Run(ctx context.Context) error
}

// Player runs a player until it is done; of cfg, endpoint, manager and caller
// are filled in. It listens before it registers.
func (a Agent) Player(ctx context.Context, cfg player.Config) error {
	return a.run(ctx, protocol.RolePlayer, func(url string, caller *wire.Caller, manager *wire.Peer) (runner, error) {
		cfg.Endpoint, cfg.Caller, cfg.Manager = url, caller, manager
		return player.New(cfg)
	})
}

// Referee runs a referee until it is done; of cfg, endpoint, manager and caller
// are filled in.
func (a Agent) Referee(ctx context.Context, cfg referee.Config) error {
	return a.run(ctx, protocol.RoleReferee, func(url string, caller *wire.Caller, manager *wire.Peer) (runner, error) {
		cfg.Endpoint, cfg.Caller, cfg.Manager = url, caller, manager
		return referee.New(cfg)
	})
}

func (a Agent) run(ctx context.Context, role protocol.Role, make func(string, *wire.Caller, *wire.Peer) (runner, error)) (err error) {
	a.Server.Tap = a.Tap
	srv, err := open(ctx, a.Network, a.Name, a.Server, a.MCP)
	if err != nil {
		return err
	}
	client := jsonrpc.NewClient(a.Network.From(a.Name), jsonrpc.ClientConfig{Tap: a.Tap})
	defer func() { err = errors.Join(err, client.Close()) }()
	url := cmp.Or(a.Public, srv.URL())
	caller := &wire.Caller{Client: client, Codec: protocol.NewCodec(protocol.Tolerant)}
	ag, err := make(url, caller, wire.NewPeer(a.Manager, protocol.Contracts))
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	pipe, err := a.Validation.pipeline(new(toolTables), role, ag.Endpoint())
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	srv.mount(role, ag.Endpoint(), pipe)
	defer srv.unmount()
	if a.Listening != nil {
		a.Listening(url)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var server sync.WaitGroup
	var served, piped error
	running, fail := context.WithCancelCause(ctx)
	server.Go(func() {
		if served = srv.Serve(serving, pipe); served != nil {
			fail(served)
		}
	})
	if a.Stdin != nil {
		server.Go(func() {
			cfg := a.Server
			cfg.Refuse = srv.refuse
			if cfg.Beside, piped = srv.beside(); piped != nil {
				fail(piped)
				return
			}
			if a.Validation.Deterministic {
				cfg.MaxConcurrent = 1 // in the order in which they come
			}
			piped = jsonrpc.ServeStdio(serving, a.Stdin, a.Stdout, pipe, cfg)
			fail(cmp.Or(piped, errInputEnded))
		})
	}
	err = ag.Run(running)
	fail(nil)
	stop() // the last acknowledgements have been given while Run waited
	server.Wait()
	return errors.Join(err, served, piped)
}

// errInputEnded ends an agent whose messages came from a program that has ended.
var errInputEnded = errors.New("the input has ended")
