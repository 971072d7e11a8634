package jsonrpc_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// A redirect that keeps the method is followed to another path of the same server,
// once, and to nowhere else.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for location, follows := range map[string]bool{"/mcp/": true, "mcp/": true, "/mcp": false, "http://127.0.0.1:1/mcp/": false, "//elsewhere/mcp/": false, "/again": false} {
		for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect, http.StatusFound} {
			got := ""
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/mcp/" {
					w.Header().Set("Location", location)
					w.WriteHeader(status)
					return
				}
				body, _ := io.ReadAll(r.Body)
				got = string(body)
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			}))
			_, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), srv.URL+"/mcp", jsonrpc.Message{Method: "m", ID: []byte("1")})
			if want := follows && status != http.StatusFound; (err == nil) != want || (got != "") != want {
				t.Errorf("%d to %q: %v, the other path got %q", status, location, err, got)
			}
			srv.Close()
		}
	}
}
