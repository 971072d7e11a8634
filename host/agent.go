package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
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
	// Tap, if set, receives every message in and out.
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
	// Conventional has the agent introduce itself by the id that the course
	// expects at its port, unless its Config has one, and listen at the port of the
	// id that the manager gives it, too (see agent.Ports), on Host. It is for HTTP
	// over TCP.
	Conventional bool
	Host         string
	// Expected, if set, is called where the agent's id belongs to another port: with
	// the URL there, and a nil error if the agent listens at it, too.
	Expected func(id, url string, err error)
	// Validation says how requests are validated against the contract of envelopes and
	// tools, whichever way they come.
	Validation Validation
}

// Player runs a player until it is done; it fills in endpoint, manager and caller
// of cfg. The agent listens before it registers.
func (a Agent) Player(ctx context.Context, cfg player.Config) error {
	return a.run(ctx, protocol.RolePlayer, &cfg.Config, func() (runner, error) { return player.New(cfg) })
}

// Referee runs a referee until it is done; it fills in endpoint, manager and
// caller of cfg.
func (a Agent) Referee(ctx context.Context, cfg referee.Config) error {
	return a.run(ctx, protocol.RoleReferee, &cfg.Config, func() (runner, error) { return referee.New(cfg) })
}

func (a Agent) run(ctx context.Context, role protocol.Role, cfg *agent.Config, create func() (runner, error)) (err error) {
	a.Server.Tap = a.Tap
	p := place{network: a.Network, name: a.Name, server: a.Server, mcp: a.MCP, validation: a.Validation, tools: new(toolTables)}
	home := &homePort{role: role, host: a.Host, said: a.Expected}
	one, err := assemble(ctx, p, role, func(caller *wire.Caller, listen func() (string, error)) (runner, error) {
		url, err := listen()
		if err != nil {
			return nil, err
		}
		cfg.Endpoint, cfg.Caller, cfg.Manager = cmp.Or(a.Public, url), caller, wire.GuessPeer(a.Manager, dialect.Contracts)
		if a.Conventional {
			home.prepare(ctx, url, cfg)
		}
		return create()
	})
	if err != nil {
		return errors.Join(err, home.release())
	}
	defer func() { err = errors.Join(err, one.client.Close()) }()
	defer one.unmount()
	if a.Listening != nil {
		a.Listening(cfg.Endpoint)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var server sync.WaitGroup
	var served, piped error
	if a.Conventional {
		home.open(serving, &server, one)
	}
	running, fail := context.WithCancelCause(ctx)
	server.Go(func() {
		if served = one.Serve(serving, one.chain); served != nil {
			fail(served)
		}
	})
	if a.Stdin != nil {
		server.Go(func() {
			piped = a.serveStdio(serving, one)
			fail(cmp.Or(piped, errInputEnded))
		})
	}
	err = one.agent.Run(running)
	fail(nil)
	stop() // the last acknowledgements have been given while Run waited
	server.Wait()
	return errors.Join(err, served, piped)
}

// serveStdio answers what comes on Stdin.
func (a Agent) serveStdio(ctx context.Context, one *assembled) (err error) {
	cfg := a.Server
	cfg.Refuse = one.refuse
	if cfg.Beside, err = one.beside(); err != nil {
		return err
	}
	if a.Validation.Deterministic {
		cfg.MaxConcurrent = 1 // in the order in which they come
	}
	return jsonrpc.ServeStdio(ctx, a.Stdin, a.Stdout, one.chain, cfg)
}

// errInputEnded ends an agent whose messages came from a program that has ended.
var errInputEnded = errors.New("the input has ended")
