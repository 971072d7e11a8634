package mcptools_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/mcptools"
)

// browser asks a handler without sockets.
type browser struct {
	t *testing.T
	h http.Handler
}

// ask sends a request; the header is given as name, value, name, value.
func (b browser) ask(ctx context.Context, method, body string, header ...string) *httptest.ResponseRecorder {
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000}
	req := httptest.NewRequestWithContext(context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(local)), method, "/mcp", strings.NewReader(body))
	req.Host = "127.0.0.1:8000"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		switch header[i] {
		case "Host":
			req.Host = header[i+1]
		case "Remote":
			req.RemoteAddr = header[i+1]
		default:
			if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
				req.Header.Del(header[i])
			}
		}
	}
	res := httptest.NewRecorder()
	b.h.ServeHTTP(res, req)
	return res
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

func tool(name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, name)
}

// open begins a session and returns its id.
func (b browser) open(header ...string) string {
	b.t.Helper()
	res := b.ask(b.t.Context(), "POST", initialize, header...)
	id := res.Header().Get("Mcp-Session-Id")
	if res.Code != 200 || id == "" {
		b.t.Fatalf("initialize: %d %s", res.Code, res.Body)
	}
	if res := b.ask(b.t.Context(), "POST", initialized, append(header, "Mcp-Session-Id", id)...); res.Code != 202 {
		b.t.Fatalf("initialized: %d %s", res.Code, res.Body)
	}
	return id
}

// alive returns the status of a ping in a session.
func (b browser) alive(id string) int {
	return b.ask(b.t.Context(), "POST", ping, "Mcp-Session-Id", id).Code
}

// inBubble runs a test on a server whose clock is the bubble's, and which must
// leave no goroutine behind.
func inBubble(t *testing.T, change func(*mcptools.Config), test func(t *testing.T, b browser, tb *table, srv *mcptools.Server)) {
	synctest.Test(t, func(t *testing.T) {
		tb := newTable()
		cfg := tb.config()
		change(&cfg)
		srv, err := mcptools.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		test(t, browser{t, srv.Handler()}, tb, srv)
	})
}

func asItIs(*mcptools.Config) {}

// TestSessionsEnd: by DELETE, which cancels what is in progress, when nothing is
// asked for a long time, and with the server.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, asItIs, func(t *testing.T, b browser, tb *table, srv *mcptools.Server) {
		deleted, idle, last := b.open(), b.open(), b.open()
		var calls sync.WaitGroup
		for _, id := range []string{deleted, last} {
			calls.Go(func() { b.ask(t.Context(), "POST", tool("wait"), "Mcp-Session-Id", id) })
			<-tb.entered
		}
		if res := b.ask(t.Context(), "DELETE", "", "Mcp-Session-Id", deleted); res.Code != 204 {
			t.Errorf("DELETE: %d %s", res.Code, res.Body)
		}
		if err := <-tb.left; err == nil {
			t.Error("the call goes on in a session that has ended")
		}
		if got := b.alive(deleted); got != 404 {
			t.Errorf("after DELETE: %d, want 404", got)
		}
		time.Sleep(29 * time.Minute)
		if got := b.alive(idle); got != 200 {
			t.Errorf("after a while: %d, want 200", got)
		}
		time.Sleep(31 * time.Minute)
		if got := b.alive(idle); got != 404 {
			t.Errorf("after a long time: %d, want 404", got)
		}
		if got := b.alive(last); got != 200 {
			t.Errorf("in the middle of a call: %d, want 200", got)
		}
		srv.Close()
		if err := <-tb.left; err == nil {
			t.Error("the call goes on in a server that has been closed")
		}
		calls.Wait()
		if got := b.alive(last); got != 404 {
			t.Errorf("after the end: %d, want 404", got)
		}
		if got := b.ask(t.Context(), "POST", initialize).Code; got != 503 {
			t.Errorf("a session after the end: %d, want 503", got)
		}
	})
}

// TestServersAreNotFilled: beyond the limits a client is told to wait, or its
// oldest session that is not used makes room.
func TestServersAreNotFilled(t *testing.T) {
	t.Parallel()
	limited := func(cfg *mcptools.Config) { cfg.MaxCalls = 2 }
	inBubble(t, limited, func(t *testing.T, b browser, tb *table, _ *mcptools.Server) {
		var ids []string
		for range 64 {
			ids = append(ids, b.open("Remote", "10.0.0.1:1"))
			time.Sleep(time.Second)
		}
		b.alive(ids[0]) // is younger than ids[1] now
		ids = append(ids, b.open("Remote", "10.0.0.1:2"))
		synctest.Wait() // for the end of the one that made room
		for i, want := range map[int]int{0: 200, 1: 404, 2: 200, 64: 200} {
			if got := b.alive(ids[i]); got != want {
				t.Errorf("session %d: %d, want %d", i, got, want)
			}
		}
		for i := range 512 - 64 {
			b.open("Remote", fmt.Sprintf("10.0.1.%d:1", i/64))
		}
		res := b.ask(t.Context(), "POST", initialize, "Remote", "10.0.0.3:1")
		if res.Code != 503 || res.Header().Get("Retry-After") == "" {
			t.Errorf("a session too many: %d %s", res.Code, res.Body)
		}
		ctx, leave := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		for _, id := range []string{ids[0], ids[2]} {
			busy.Go(func() { b.ask(ctx, "POST", tool("wait"), "Mcp-Session-Id", id) })
			<-tb.entered
		}
		if res := b.ask(t.Context(), "POST", tool("count"), "Mcp-Session-Id", ids[64]); !strings.Contains(res.Body.String(), "2 calls are running already") {
			t.Errorf("a call too many: %d %s", res.Code, res.Body)
		}
		leave()
		busy.Wait()
	})
}

// TestHeaders: what is wrong with a request is said by its status.
func TestHeaders(t *testing.T) {
	t.Parallel()
	inBubble(t, asItIs, func(t *testing.T, b browser, _ *table, _ *mcptools.Server) {
		id := b.open()
		for _, c := range []struct {
			what, method, body string
			header             []string
			want               int
		}{
			{"no session", "GET", "", nil, 405},
			{"no session to delete", "DELETE", "", nil, 405},
			{"an unknown session", "POST", ping, []string{"Mcp-Session-Id", "nobody"}, 404},
			{"an unknown session to delete", "DELETE", "", []string{"Mcp-Session-Id", "nobody"}, 404},
			{"an unknown version", "POST", ping, []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "1999-01-01"}, 400},
			{"a version of the future", "POST", ping, []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "2999-01-01"}, 400},
			{"an Accept without a stream", "POST", ping, []string{"Mcp-Session-Id", id, "Accept", "application/json"}, 400},
			{"any Accept", "POST", ping, []string{"Mcp-Session-Id", id, "Accept", "*/*"}, 200},
			{"another verb", "PUT", ping, []string{"Mcp-Session-Id", id}, 405},
			{"another media type", "POST", ping, []string{"Mcp-Session-Id", id, "Content-Type", "text/plain"}, 415},
			{"no JSON", "POST", "nonsense", []string{"Mcp-Session-Id", id}, 400},
			{"too long a body", "POST", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`, []string{"Mcp-Session-Id", id}, 413},
			{"a call before a session", "POST", tool("count"), nil, 200},
		} {
			if got := b.ask(t.Context(), c.method, c.body, c.header...); got.Code != c.want {
				t.Errorf("%s: %d %s, want %d", c.what, got.Code, got.Body, c.want)
			}
		}
		if got := b.alive(id); got != 200 {
			t.Errorf("after all this the session is gone: %d", got)
		}
	})
}

// TestToolsKnowWhoCalls: what a client sends cannot pass for what the server
// knows.
func TestToolsKnowWhoCalls(t *testing.T) {
	t.Parallel()
	inBubble(t, asItIs, func(t *testing.T, b browser, _ *table, _ *mcptools.Server) {
		id := b.open()
		res := b.ask(t.Context(), "POST", tool("whence"), "Mcp-Session-Id", id, "X-Test", "yes", ":from", "127.0.0.1:9", "Remote", "10.1.2.3:4")
		want := `"structuredContent":{"host":"127.0.0.1:8000","remote":"10.1.2.3:4","route":"/mcp","transport":"http","x":"yes"}`
		if !strings.Contains(res.Body.String(), want) {
			t.Errorf("%s, want %s", res.Body, want)
		}
	})
}

// TestStreamsDoNotHoldUpTheEnd: a server of a league ends at once though a
// client listens.
func TestStreamsDoNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	url, end := listen(t, newServer(t, newTable().config()))
	overHTTP(t, url, nil, "2025-06-18") // listens from its beginning on
	end()
}
