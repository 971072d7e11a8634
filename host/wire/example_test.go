package wire_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// A chain validates the input of a tool before it calls the tool, and the
// output before it sends it.
func ExampleChain() {
	number := []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	tools, err := schema.NewRegistry(schema.Tool{Name: "answer", Input: number, Output: number})
	if err != nil {
		fmt.Println(err)
		return
	}
	chain := wire.New(wire.Config{
		Registry: tools,
		Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
			return jsonrpc.Response{Result: []byte(`{"tool":"answer","output":{"n":42}}`)}
		}),
	})
	for _, params := range []string{
		`{"tool":"answer","input":{"n":6}}`,
		`{"tool":"answer","input":{"n":"six"}}`,
		`{"tool":"question","input":{}}`,
	} {
		raw := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
		status, body := jsonrpc.Serve(context.Background(), &jsonrpc.Request{Raw: []byte(raw)}, chain, jsonrpc.Config{Refuse: chain.Refuse})
		fmt.Println(status, string(body))
	}
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"tool":"answer","output":{"n":42}}}
	// 422 {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid tool input","data":{"canonical":"INVALID_TOOL_INPUT","violations":[{"path":"/params/input/n","rule":"type"}]}}}
	// 404 {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Unknown tool","data":{"canonical":"TOOL_NOT_FOUND","violations":[{"path":"/params/tool","rule":"known"}]}}}
}
