package jsonrpctest

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Serve serves a lenient endpoint on a Loopback of its own until the test ends, and
// returns a client that knows no other, and the endpoint's URL.
func Serve(t testing.TB, f func(req *jsonrpc.Request) jsonrpc.Response) (client *jsonrpc.Client, url string) {
	t.Helper()
	var network jsonrpc.Loopback
	srv, err := network.Listen("server", jsonrpc.Config{Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- srv.Serve(ctx, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response { return f(req) }))
	}()
	t.Cleanup(func() {
		stop()
		<-ended // a handler may outlast the drain period, as one does that is not meant to answer
	})
	return jsonrpc.NewClient(network.From("test"), jsonrpc.ClientConfig{}), srv.URL()
}
