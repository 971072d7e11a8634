package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/strategylab/strategylab/host/mcptools"
)

// A client that knows only JSON-RPC calls a tool by a single POST.
func Example() {
	number := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	srv, err := mcptools.New(mcptools.Config{
		Name: "calculator",
		Tools: []mcptools.Tool{{
			Name: "double", Input: number, Output: number,
			Call: func(_ context.Context, call *mcptools.Call) (json.RawMessage, error) {
				var in struct{ N int }
				if err := json.Unmarshal(call.Input, &in); err != nil {
					return nil, err
				}
				return fmt.Appendf(nil, `{"n":%d}`, 2*in.N), nil
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	for _, arguments := range []string{`{"n":21}`, `{"n":"x"}`} {
		request := httptest.NewRequest("POST", "http://127.0.0.1/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"double","arguments":`+arguments+`}}`))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		srv.Handler().ServeHTTP(answer, request)
		fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"n\":42}"}],"structuredContent":{"n":42}}}
	// 422 {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid tool input","data":{"canonical":"INVALID_TOOL_INPUT","violations":[{"path":"/params/arguments/n","rule":"type"}]}}}
}
