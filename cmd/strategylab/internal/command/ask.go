package command

import (
	"context"
	"errors"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Ask says which manager to ask and with which token.
type Ask struct {
	Manager string // URL
	Token   string // may be empty
	League  string // its name
	Timeout time.Duration
	Tap     jsonrpc.Tap // may be nil
}

// Tell sends one message as the launcher and returns the answer.
func (a Ask) Tell(ctx context.Context, now time.Time, m protocol.Message) (_ protocol.Message, err error) {
	network := host.NewSockets()
	defer func() { err = errors.Join(err, network.Close()) }()
	caller := &wire.Caller{
		Client: jsonrpc.NewClient(network.From("launcher"), jsonrpc.ClientConfig{Tap: a.Tap}), Codec: dialect.NewCodec(protocol.Tolerant),
	}
	h := m.Head()
	*h = protocol.NewHeader(h.MessageType, string(protocol.RoleLauncher), protocol.Timestamp(now), jsonrpc.RandomID())
	h.AuthToken, h.LeagueID = a.Token, a.League
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	return caller.Call(ctx, wire.NewPeer(a.Manager, dialect.Contracts), m)
}
