package agent_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// caller returns a caller to a handler on loopback, and the peer to call.
func caller(t *testing.T, d *dialect.Dialect, f func(req *jsonrpc.Request) jsonrpc.Response) (*wire.Caller, *wire.Peer) {
	t.Helper()
	var net jsonrpc.Loopback
	srv, err := net.Listen("x", jsonrpc.Config{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ctx, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response { return f(req) }))
	}()
	t.Cleanup(func() { stop(); <-done })
	return &wire.Caller{Client: jsonrpc.NewClient(net.From("y"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
		wire.NewPeer(srv.URL(), d)
}

func unknown() jsonrpc.Response {
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32601, Message: "Method not found"}}
}
