package jsonrpc_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestRoutes sends requests to an endpoint alone, with another handler beside it, and with
// paths of their own, which are served within the endpoint's limits; what Divert sends
// beside it is in TestDivertSeesTheBody.
func TestRoutes(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "other %s %s %s %v", r.Method, r.URL.Path, body, err)
	})
	routes := map[string]http.Handler{
		"/start": tell, "/mcp": http.NotFoundHandler(),
		"/slow": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-release }),
	}
	alone := startHTTP(t, jsonrpc.Config{}, echo)
	beside := startHTTP(t, jsonrpc.Config{Other: tell}, echo)
	routed := startHTTP(t, jsonrpc.Config{Routes: routes, MaxBody: 100, MaxConcurrent: 1}, echo)
	long := strings.Repeat("x", 101)

	const rpc = `{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":"absent"}}`
	for _, c := range []struct {
		srv                *jsonrpc.Server
		method, path, body string
		status             int
		want               string // a part of it
	}{
		{alone, "POST", "/mcp", call, 200, rpc},
		{alone, "GET", "/mcp", "", 405, "-32600"},
		{alone, "HEAD", "/mcp", "", 405, ""},
		{alone, "OPTIONS", "/mcp", "", 405, "-32600"},
		{alone, "BREW", "/mcp", call, 405, "-32600"},
		{alone, "GET", "/", "", 404, "/mcp"},
		{alone, "POST", "/MCP", call, 404, "/mcp"},
		{beside, "POST", "/mcp", call, 200, rpc},
		{beside, "GET", "/mcp", "", 200, "other GET /mcp"},
		{beside, "DELETE", "/mcp", "", 200, "other DELETE /mcp"},
		{beside, "POST", "/start_league", call, 200, "other POST /start_league " + call},
		{beside, "GET", "/", "", 200, "other GET /"},
		{routed, "POST", "/start", "{}", 200, "other POST /start {} <nil>"},
		{routed, "GET", "/start", "", 200, "other GET /start  <nil>"},
		{routed, "POST", "/start", long, 200, "request body too large"},
		{routed, "POST", "/mcp", call, 200, rpc},
		{routed, "GET", "/mcp", "", 405, "-32600"},
		{routed, "GET", "/start/", "", 404, "/mcp"},
	} {
		res, body := request(t, c.method, "http://"+c.srv.Addr().String()+c.path, strings.NewReader(c.body))
		if res.StatusCode != c.status || !strings.Contains(body, c.want) || (res.Header.Get("Allow") == "POST") != (c.status == 405) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, body, c.status, c.want)
		}
	}
	base := "http://" + routed.Addr().String()
	slow := make(chan struct{})
	go func() {
		defer close(slow)
		request(t, "GET", base+"/slow", nil)
	}()
	<-entered
	if res, _ := request(t, "GET", base+"/start", nil); res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("beyond the limit: status %d", res.StatusCode)
	}
	close(release)
	<-slow
}

// TestOtherHasNoLimits: what is beside the endpoint may be slow and many.
func TestOtherHasNoLimits(t *testing.T) {
	t.Parallel()
	if !moreAndMore(func(writeTimeout time.Duration) bool { return besideStreams(t, writeTimeout) }) {
		t.Error("a call beside two streams is not answered")
	}
}

// besideStreams reports whether a call beside two streams was answered in time.
func besideStreams(t *testing.T, writeTimeout time.Duration) bool {
	t.Helper()
	entered, release := make(chan struct{}, 2), make(chan struct{})
	other := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "late")
	})
	srv := startHTTP(t, jsonrpc.Config{Other: other, MaxConcurrent: 1, WriteTimeout: writeTimeout}, echo)
	late := make(chan string, 2)
	for range 2 {
		go func() {
			_, body := request(t, "GET", srv.URL(), nil)
			late <- body
		}()
	}
	<-entered
	<-entered
	res, _, err := try(t, "POST", srv.URL(), strings.NewReader(call))
	if err == nil && res.StatusCode != 200 {
		t.Errorf("a call beside two streams: status %d", res.StatusCode)
	}
	<-time.After(2 * writeTimeout)
	close(release)
	for range 2 {
		if got := <-late; got != "late" {
			t.Errorf("a stream past the write timeout got %q", got)
		}
	}
	return err == nil
}
