package jsonrpc_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// A handler refuses what it does not know and echoes the rest. The same code
// serves over sockets: Listen and OverHTTP take the place of the Loopback.
func Example() {
	handler := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		if req.Method != "echo" {
			return jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}}
		}
		return jsonrpc.Response{Result: req.Params}
	})

	var network jsonrpc.Loopback
	srv, err := network.Listen("player", jsonrpc.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, handler) }()

	client := jsonrpc.NewClient(network.From("referee"), jsonrpc.ClientConfig{})
	for _, method := range []string{"echo", "shout"} {
		answer, err := client.Call(ctx, srv.URL(), jsonrpc.Message{Method: method, Params: []byte(`{"round":1}`)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.IsError(), answer.Members.Get("result", "error"))
	}

	stop()
	fmt.Println(<-ended)
	// Output:
	// false {"round":1}
	// true {"code":-32601,"message":"Method not found"}
	// <nil>
}
