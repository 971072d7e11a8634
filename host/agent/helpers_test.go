package agent_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// caller returns a caller to a handler on loopback, and the peer to call.
func caller(t *testing.T, d *dialect.Dialect, f func(req *jsonrpc.Request) jsonrpc.Response) (*wire.Caller, *wire.Peer) {
	client, url := jsonrpctest.Serve(t, f)
	return &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)}, wire.NewPeer(url, d)
}

func unknown() jsonrpc.Response {
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32601, Message: "Method not found"}}
}
