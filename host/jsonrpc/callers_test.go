package jsonrpc_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestWhoMayCall: pages of other origins and names that may be theirs are kept out of
// every path, whatever else is wrong with the request.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cfg := jsonrpc.Config{
		Callers: jsonrpc.Callers{Origins: []string{"https://friend.example"}, Hosts: []string{"*.club.example"}},
		Routes: map[string]http.Handler{"/page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		})},
	}
	called := 0
	server := startHTTP(t, cfg, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		called++
		return jsonrpc.Response{Result: []byte("true")}
	}))
	base := strings.TrimSuffix(server.URL(), jsonrpc.DefaultPath)
	self := strings.TrimPrefix(base, "http://")
	for _, c := range []struct {
		header  []string
		trusted bool
	}{
		{nil, true},
		{[]string{"Origin", base}, true},
		{[]string{"Host", "localhost:8000", "Origin", "http://localhost:8000"}, true},
		{[]string{"Host", "[::1]:8000"}, true},
		{[]string{"Host", "192.168.1.7:8000"}, true},
		{[]string{"Host", "manager:8000"}, true},
		{[]string{"Host", "manager.local"}, true},
		{[]string{"Host", own}, true},
		{[]string{"Host", "LAB.club.example:8000"}, true},
		{[]string{"Origin", "https://friend.example"}, true},
		{[]string{"Host", "friend.example"}, true},
		{[]string{"Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "https://evil.example"}, false},
		{[]string{"Origin", "http://friend.example"}, false},
		{[]string{"Origin", "null"}, false},
		{[]string{"Origin", "http://" + self + "0"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Host", "evil.example:8000"}, false},
		{[]string{"Host", "club.example"}, false},
		{[]string{"Host", "127.0.0.1.evil.example"}, false},
		{[]string{"Host", "evil.example:8000", "Origin", "http://evil.example:8000"}, false},
	} {
		for _, r := range []struct {
			method, path, body string
			want               int
		}{
			{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"m"}`, 200},
			{"POST", "/mcp", `no JSON`, 400},
			{"OPTIONS", "/mcp", "", 405},
			{"GET", "/page", "", 204},
			{"POST", "/page", "", 204},
			{"GET", "/nowhere", "", 404},
		} {
			want, before := r.want, called
			if !c.trusted {
				want = 403
			}
			if got, _ := request(t, r.method, base+r.path, strings.NewReader(r.body), c.header...); got.StatusCode != want {
				t.Errorf("%s %s %q: %d, want %d", r.method, r.path, c.header, got.StatusCode, want)
			}
			if !c.trusted && called != before {
				t.Errorf("%s %s %q: the handler was called", r.method, r.path, c.header)
			}
		}
	}
	for method, want := range map[string]int{"GET": 204, "POST": 403} { // a link from another page, a form of it
		if got, _ := request(t, method, base+"/page", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); got.StatusCode != want {
			t.Errorf("%s from another page: %d, want %d", method, got.StatusCode, want)
		}
	}
}
