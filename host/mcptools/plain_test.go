package mcptools_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPlainRequests: who sends JSON-RPC by hand, without a header of the
// standard, is answered in JSON, each request by itself.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	srv := newServer(t, newTable().config())
	alone := httptest.NewServer(srv.Handler())
	t.Cleanup(alone.Close)
	shared, _ := listen(t, srv)
	const initialize = `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`
	for _, c := range []struct{ url, request, want string }{
		{shared, initialize, `"serverInfo"`},
		{shared, `"tools/list"`, `"name":"double"`},
		{shared, `"prompts/list"`, `"name":"greet"`},
		{shared, `"ping"`, `"league":"ping"`},
		{shared, `"tools/call","params":{"name":"double","arguments":{"n":4}}`, `"league":"tools/call"`},
		{alone.URL, initialize, `"serverInfo"`},
		{alone.URL, `"tools/list"`, `"name":"double"`},
		{alone.URL, `"tools/call","params":{"name":"double","arguments":{"n":4}}`, `"structuredContent":{"n":8}`},
		{alone.URL, `"tools/call","params":{"name":"double","arguments":{"n":"x"}}`, `"canonical":"INVALID_TOOL_INPUT"`},
	} {
		for _, accept := range []string{"", "*/*", "application/json"} {
			body, header := post(t, c.url, `{"jsonrpc":"2.0","id":"a","method":`+c.request+`}`, accept)
			if !strings.Contains(body, c.want) || !json.Valid([]byte(body)) || header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s with Accept %q is answered\n%s\nin session %q, want JSON with %s and no session",
					c.request, accept, body, header.Get("Mcp-Session-Id"), c.want)
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
		{call(`{"tool":"refuse"}`), 200, []string{`"code":-32000`, `not now`, `E007`}},
		{call(`{"tool":"panic"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
		{call(`{"tool":"wrong"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
		{call(`{"name":"double","arguments":{"n":4}}`), 200, []string{`"structuredContent":{"n":8}`}},
		{call(`{"name":"double","arguments":7}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`}},
		{call(`{"name":"triple","arguments":{}}`), 404, []string{unknown, `"canonical":"TOOL_NOT_FOUND"`}},
		{call(`{}`), 422, []string{input, `"canonical":"INVALID_TOOL_INPUT"`}},
		{call(`{"name":"fail"}`), 200, []string{`"isError":true`, `no dice: roll again`}},
		{call(`{"name":"panic"}`), 500, []string{`"code":-32603`, `"canonical":"INTERNAL_ERROR"`}},
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

// post sends a body with no header but the content's and, if it is not empty,
// Accept.
func post(t *testing.T, url, body, accept string) (string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer), res.Header
}
