package mcptools_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPlainRequests: who sends JSON-RPC by hand, without a header of the
// standard, is answered in JSON, each request by itself.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	b := browser{t, newServer(t, newTable().config()).Handler()}
	for request, want := range map[string]string{
		`"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`: `"serverInfo"`,
		`"tools/list"`: `"name":"double"`,
		`"tools/call","params":{"name":"double","arguments":{"n":4}}`:   `"structuredContent":{"n":8}`,
		`"tools/call","params":{"name":"double","arguments":{"n":"x"}}`: `"canonical":"INVALID_TOOL_INPUT"`,
	} {
		for _, accept := range []string{"", "*/*", "application/json"} {
			res := b.ask(t.Context(), "POST", `{"jsonrpc":"2.0","id":"a","method":`+request+`}`, "Accept", accept)
			if body := res.Body.String(); !strings.Contains(body, want) || !json.Valid([]byte(body)) || res.Header().Get("Mcp-Session-Id") != "" {
				t.Errorf("%s with Accept %q is answered\n%s\nin session %q, want JSON with %s and no session", request, accept, body, res.Header().Get("Mcp-Session-Id"), want)
			}
		}
	}
}

// TestPlainEnvelopes: outside a session, the errors of envelopes and tools are the
// canonical ones, over HTTP with their status and over STDIO alike.
func TestPlainEnvelopes(t *testing.T) {
	t.Parallel()
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":` + params + `}`
	}
	envelope, input, unknown := `"code":-32600`, `"code":-32602`, `"code":-32001`
	for _, c := range []struct {
		request string
		status  int
		want    []string
	}{
		{`{"jsonrpc":"2.0","id":"a"}`, 400, []string{envelope, `"canonical":"INVALID_ENVELOPE"`}},
		{`{"jsonrpc":"1.0","id":"a","method":"tools/list"}`, 400, []string{envelope, `"canonical":"INVALID_ENVELOPE"`}},
		{`{"id":"a","method":"tools/call"}`, 400, []string{envelope, `"canonical":"INVALID_ENVELOPE"`}},
		{`[]`, 400, []string{envelope, `"canonical":"INVALID_ENVELOPE"`}},
		{call(`{"tool":"double","input":{"n":4}}`), 200, []string{`"result":{"output":{"n":8},"tool":"double"}`}},
		{call(`{"tool":"double","input":{"n":"x"}}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`, `/params/input/n`}},
		{call(`{"tool":"triple","input":{}}`), 404, []string{unknown, `"canonical":"TOOL_NOT_FOUND"`}},
		{call(`{"tool":"double","name":"double"}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`}},
		{call(`{"tool":"fail"}`), 200, []string{`"code":-32000`, `no dice: roll again`}},
		{call(`{"tool":"parity_choose"}`), 200, []string{`"code":-32000`, `not now`, `E007`}},
		{call(`{"tool":"panic"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
		{call(`{"tool":"wrong"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
		{call(`{"name":"double","arguments":{"n":4}}`), 200, []string{`"structuredContent":{"n":8}`}},
		{call(`{"name":"double","arguments":7}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`}},
		{call(`{"name":"triple","arguments":{}}`), 404, []string{unknown, `"canonical":"TOOL_NOT_FOUND"`}},
		{call(`{}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`}},
		{call(`{"name":"fail"}`), 200, []string{`"isError":true`, `no dice: roll again`}},
		{call(`{"name":"panic"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, 200, []string{`"name":"double"`}},
		{`{"jsonrpc":"2.0","id":"a","method":"resources/read"}`, 200, []string{`"code":-32600`}},
		{`{"jsonrpc":"2.0","id":"a","method":"dance"}`, 200, []string{`"code":-32601`}},
		{`{"jsonrpc":"2.0","id":"a","method":"ping"}`, 200, []string{`"result":{}`}},
	} {
		srv := newServer(t, newTable().config())
		res := httptest.NewRecorder()
		srv.Handler().ServeHTTP(res, httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(c.request)))
		var line syncBuffer
		if err := srv.ServeStdio(t.Context(), strings.NewReader(c.request+"\n"), &line); err != nil {
			t.Fatal(err)
		}
		if body := strings.TrimSpace(res.Body.String()); body != strings.TrimSpace(line.String()) {
			t.Errorf("%s is answered\n%s over HTTP and\n%s over STDIO", c.request, body, line.String())
		}
		if res.Code != c.status || res.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s has status %d and type %q, want %d", c.request, res.Code, res.Header().Get("Content-Type"), c.status)
		}
		for _, want := range c.want {
			if !strings.Contains(res.Body.String(), want) || strings.Contains(res.Body.String(), "secret") {
				t.Errorf("%s is answered %s, want %s", c.request, res.Body, want)
			}
		}
	}
}
