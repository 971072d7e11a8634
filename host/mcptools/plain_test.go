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
	shared := listen(t, srv)
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
		{alone.URL, `"tools/call","params":{"name":"double","arguments":{"n":"x"}}`, `"isError":true`},
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
