package jsonrpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

func kindOf(err error) error {
	var failed *jsonrpc.CallError
	if errors.As(err, &failed) {
		return failed.Kind
	}
	return nil
}

// scripted is a peer that reads one HTTP request from each connection and then does as it is told.
func scripted(t *testing.T, act func(conn net.Conn, req *http.Request)) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				act(conn, req)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return "http://" + ln.Addr().String() + "/mcp"
}

// says is a peer that answers with text and hangs up.
func says(t *testing.T, text string) string {
	return scripted(t, func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, text) })
}

func answers(t *testing.T, status int, body string) string {
	return says(t, fmt.Sprintf("HTTP/1.1 %d X\r\nRetry-After: 7\r\nLocation: http://elsewhere/\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
}

func newClient(t *testing.T, cfg jsonrpc.ClientConfig) *jsonrpc.Client {
	t.Helper()
	c := jsonrpc.NewClient(jsonrpc.OverHTTP(), cfg)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestAnswers checks what counts as an answer, and as which.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status         int
		failed, asking bool
		body           string
	}{
		{200, false, false, `{"jsonrpc":"2.0","id":"ID","error":null,"result":null,"method":"m"}`},
		{200, false, false, `{"jsonrpc":"2.0","result":1}`},
		{200, true, false, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no","data":{"x":1}}}`},
		{401, true, false, `{"jsonrpc":"2.0","id":1,"error":{"code":12,"message":"no"}}`},
		{500, true, false, `{"jsonrpc":"2.0","id":"ID","result":{},"error":"bad \u0074oken"}`},
		{200, false, true, `{"jsonrpc":"2.0","method":"game_join_ack","params":{"accept":true},"id":9}`},
		{200, false, false, `{"message_type":"GAME_JOIN_ACK","method":"m","result":1}`},
		{404, false, false, `{"detail":"Not Found"}`},
		{200, false, false, ``},
		{202, false, false, " \n"},
	} {
		got, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), answers(t, c.status, c.body), jsonrpc.Message{Method: "m"})
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got.Status != c.status || got.IsError() != c.failed || got.IsRequest() != c.asking || string(got.Raw) != strings.TrimSpace(c.body) {
			t.Errorf("%s: status %d, an error %v, a request %v: %s", c.body, got.Status, got.IsError(), got.IsRequest(), got.Raw)
		}
	}
}

// randomID is the id of a call that has been given none.
var randomID = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f-]{27}"`)

// TestMessages checks what is sent.
func TestMessages(t *testing.T) {
	t.Parallel()
	got := make(chan *jsonrpc.Request, 1)
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		got <- req
		return jsonrpc.Response{Body: []byte(`{"jsonrpc":"2.0","id":7,"result":1}`)}
	})
	srv := startHTTP(t, jsonrpc.Config{Lenient: true}, h)
	client := newClient(t, jsonrpc.ClientConfig{})
	for _, c := range []struct {
		name string
		m    jsonrpc.Message
		want string
	}{
		{"call", jsonrpc.Message{Method: "m\n", Params: []byte(`{"a":1}`)}, `{"jsonrpc":"2.0","id":"ID","method":"m\n","params":{"a":1}}`},
		{"own id, no params", jsonrpc.Message{Method: "m", ID: []byte(`7`)}, `{"jsonrpc":"2.0","id":7,"method":"m"}`},
		{"notification", jsonrpc.Message{Method: "m", Notify: true, ID: []byte(`7`)}, `{"jsonrpc":"2.0","method":"m"}`},
		{"body", jsonrpc.Message{Method: "ignored", Body: []byte(`{"message_type":"X"}`)}, `{"message_type":"X"}`},
	} {
		c.m.Header = http.Header{"authorization": {"Bearer x"}}
		if _, err := client.Call(t.Context(), srv.URL(), c.m); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		req := <-got
		if got := randomID.ReplaceAllString(string(req.Raw), `"ID"`); got != c.want {
			t.Errorf("%s: sent %s, want %s", c.name, got, c.want)
		}
		if req.Header.Get("Authorization") != "Bearer x" || req.Header.Get("Accept") != "application/json" {
			t.Errorf("%s: header %v", c.name, req.Header)
		}
	}
}

// TestKeepAlive: calls one after the other share a connection, also after refusals and errors.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	peers := make(map[string]int)
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		peers[req.RemoteAddr]++
		return jsonrpc.Response{Result: []byte(`"` + strings.Repeat("x", 70_000) + `"`)}
	}))
	client := newClient(t, jsonrpc.ClientConfig{})
	const rounds = 10
	for range rounds {
		for _, body := range []string{call, `[]`, `{`, `{"jsonrpc":"2.0","method":"n"}`} {
			if _, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// net/http gives a connection up if an answer overtakes the end of its request by 50 ms, as on
	// a busy machine. One that a refusal or an error ended would be another in each round.
	if len(peers) >= rounds {
		t.Errorf("calls came from %d connections in %d rounds: %v", len(peers), rounds, peers)
	}
}

// TestNoProxy: the environment does not send calls to somebody else.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	// net/http never asks a proxy for loopback addresses, but for this one.
	url := strings.Replace(srv.URL(), "127.0.0.1", "0.0.0.0", 1)
	if _, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), url, jsonrpc.Message{Method: "m"}); err != nil {
		t.Error(err)
	}
}

// TestAnswersInAnyForm: an answer is read with a byte order mark, compressed though that
// was not asked for, and as a stream of events in any case of its name.
func TestAnswersInAnyForm(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`
	for name, write := range map[string]func(http.ResponseWriter){
		"a byte order mark": func(w http.ResponseWriter) { _, _ = io.WriteString(w, string(mark)+answer) },
		"compressed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, zipped(t, answer))
		},
		"events": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "Text/Event-Stream")
			_, _ = io.WriteString(w, "data: "+answer+"\n\n")
		},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w) }))
		got, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), srv.URL+"/mcp", jsonrpc.Message{Method: "m", ID: []byte("1")})
		if err != nil || string(got.Members.Get("result")) != `{"ok":true}` {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		srv.Close()
	}
}

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

// TestFailures meets a peer for each way in which a call can fail.
func TestFailures(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	hang := func(first string) string {
		return scripted(t, func(conn net.Conn, _ *http.Request) {
			_, _ = io.WriteString(conn, first)
			_, _ = io.Copy(io.Discard, conn) // until the caller leaves
		})
	}
	for _, c := range []struct {
		name   string
		url    string
		kind   error
		status int
		text   string
	}{
		{"nobody listens", "http://" + jsonrpctest.Address(t) + "/mcp", jsonrpc.ErrConnect, 0, "connection refused"},
		{"unknown host", "http://host.invalid/mcp", jsonrpc.ErrConnect, 0, "host.invalid"},
		{"TLS to a plain port", strings.Replace(hang("HTTP/1.1 400 X\r\n\r\n"), "http:", "https:", 1), jsonrpc.ErrConnect, 0, "TLS"},
		{"hangs up at once", says(t, ""), jsonrpc.ErrClosed, 0, "EOF"},
		{"hangs up in the header", says(t, ok+"Content-Type: te"), jsonrpc.ErrClosed, 0, "EOF"},
		{"hangs up in the body", says(t, ok+"Content-Length: 100\r\n\r\n{"), jsonrpc.ErrClosed, 200, "unexpected EOF"},
		{"hangs up in a chunk", says(t, ok+"Transfer-Encoding: chunked\r\n\r\n5\r\n{"), jsonrpc.ErrClosed, 200, "unexpected EOF"},
		{"never answers", hang(""), jsonrpc.ErrTimeout, 0, "timed out"},
		{"stops in the body", hang(ok + "Content-Length: 100\r\n\r\n{"), jsonrpc.ErrTimeout, 200, "timed out"},
		{"streams for ever", scripted(t, streamZeros), jsonrpc.ErrTooLarge, 200, "longer than 4096 bytes"},
		{"announces too much", says(t, ok+"Content-Length: 99999999999\r\n\r\n{"), jsonrpc.ErrTooLarge, 200, "longer than 4096 bytes"},
		{"not HTTP", says(t, "SSH-2.0-OpenSSH_9.6\r\n"), jsonrpc.ErrMalformed, 0, "malformed"},
		{"broken header", says(t, ok+"no colon\r\n\r\n"), jsonrpc.ErrMalformed, 0, "malformed"},
		{"endless header", says(t, ok+"X: "+strings.Repeat("x", 100_000)+"\r\n\r\n"), jsonrpc.ErrMalformed, 0, "header"},
		{"not JSON", answers(t, 200, "<html>"), jsonrpc.ErrMalformed, 200, "offset 0"},
		{"NaN", answers(t, 200, `{"jsonrpc":"2.0","id":1,"result":NaN}`), jsonrpc.ErrMalformed, 200, "/result"},
		{"duplicate name", answers(t, 200, `{"a":1,"a":2}`), jsonrpc.ErrMalformed, 200, "duplicate name at /a"},
		{"trailing data", answers(t, 200, `{} {}`), jsonrpc.ErrMalformed, 200, "after the end"},
		{"too deep", answers(t, 200, strings.Repeat("[", 200)), jsonrpc.ErrMalformed, 200, "deeper than 128"},
		{"an array", answers(t, 200, `[{"jsonrpc":"2.0","id":1,"result":1},{}]`), jsonrpc.ErrMalformed, 200, "not an object"},
		{"another version", answers(t, 200, `{"jsonrpc":"1.0","id":1,"result":1}`), jsonrpc.ErrMalformed, 200, "jsonrpc"},
		{"not found", answers(t, 404, "404 page not found"), jsonrpc.ErrStatus, 404, "HTTP 404 Not Found"},
		{"not found, empty", answers(t, 404, ""), jsonrpc.ErrStatus, 404, "HTTP 404"},
		{"server error", answers(t, 500, "oops"), jsonrpc.ErrStatus, 500, "HTTP 500"},
		{"redirect", answers(t, 307, ""), jsonrpc.ErrStatus, 307, `not followed, here to "http://elsewhere/"`},
		{"redirect with JSON", answers(t, 302, "{}"), jsonrpc.ErrStatus, 302, "not followed"},
		{"too many requests", answers(t, 429, "{}"), jsonrpc.ErrStatus, 429, "HTTP 429"},
		{"bad gateway", answers(t, 502, "<html>"), jsonrpc.ErrStatus, 502, "HTTP 502"},
		{"unavailable", answers(t, 503, ""), jsonrpc.ErrStatus, 503, "HTTP 503"},
		{"gateway timeout", answers(t, 504, ""), jsonrpc.ErrStatus, 504, "HTTP 504"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var err error
			var failed *jsonrpc.CallError
			moreAndMore(func(patience time.Duration) bool {
				if c.kind != jsonrpc.ErrTimeout {
					patience = most
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				var answer *jsonrpc.Answer
				answer, err = newClient(t, jsonrpc.ClientConfig{MaxAnswer: 4096}).Call(ctx, c.url, jsonrpc.Message{Method: "m"})
				if !errors.As(err, &failed) {
					t.Fatalf("Call = %v, %v, want a *CallError", answer, err)
				}
				return failed.Status == c.status
			})
			if failed.Kind != c.kind || failed.Status != c.status || failed.URL != c.url {
				t.Errorf("kind %v, status %d, URL %s; want %v, %d", failed.Kind, failed.Status, failed.URL, c.kind, c.status)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.url) {
				t.Errorf("error %q, want it to be %v, with %q", err, c.kind, c.text)
			}
			if want := c.kind == jsonrpc.ErrTimeout; errors.Is(err, context.DeadlineExceeded) != want {
				t.Errorf("error %q is a DeadlineExceeded: %v, want %v", err, !want, want)
			}
			if failed.Kind == jsonrpc.ErrStatus && jsonrpc.RetryableStatus(c.status) && failed.RetryAfter != 7*time.Second {
				t.Errorf("RetryAfter = %v, want 7s", failed.RetryAfter)
			}
		})
	}
}

func streamZeros(conn net.Conn, _ *http.Request) {
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	_, _ = io.Copy(conn, zeros{})
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	h := newHolder()
	for srv, c := range listeners(t, jsonrpc.Config{}) {
		serve(t, srv, h)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-h.entered; cancel() }()
		_, err := c.Call(ctx, srv.URL(), jsonrpc.Message{Method: "hold"})
		var failed *jsonrpc.CallError
		if !errors.As(err, &failed) || !errors.Is(err, context.Canceled) || errors.Is(err, jsonrpc.ErrTimeout) {
			t.Errorf("%s: %v, want context.Canceled", srv.URL(), err)
		}
	}
}

func TestCannotBeSent(t *testing.T) {
	t.Parallel()
	client := newClient(t, jsonrpc.ClientConfig{})
	if _, err := client.Call(t.Context(), "http://127.0.0.1:1/", jsonrpc.Message{}); err == nil {
		t.Error("an empty message was sent")
	}
	for _, url := range []string{"", "127.0.0.1:80", "ftp://x/", "http://", "http:///mcp", "http://a b/", "file:///etc/passwd"} {
		_, err := client.Call(t.Context(), url, jsonrpc.Message{Method: "m"})
		var failed *jsonrpc.CallError
		if !errors.As(err, &failed) || failed.Kind != nil {
			t.Errorf("URL %q: %v, want an error of no kind", url, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"3":                             3 * time.Second,
		"0":                             0,
		"-1":                            0,
		"soon":                          0,
		"999999999":                     time.Hour,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0,
	} {
		url := says(t, "HTTP/1.1 503 X\r\nRetry-After: "+header+"\r\nContent-Length: 0\r\n\r\n")
		_, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), url, jsonrpc.Message{Method: "m"})
		var failed *jsonrpc.CallError
		if !errors.As(err, &failed) || failed.RetryAfter != want {
			t.Errorf("Retry-After %q: %v, want %v", header, err, want)
		}
	}
}

func TestSequentialIDs(t *testing.T) {
	t.Parallel()
	next := jsonrpc.SequentialIDs("42")
	// Computed by uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID,
	// "jsonrpc.SequentialIDs"), "42/1"), and "42/2", of Python's uuid.
	want := []string{"42907376-edb7-5c88-bb9a-f4f22980b9b3", "1eceefc0-52b1-5908-9b02-7e00ac7d2ce9"}
	got := []string{next(), next()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if other := jsonrpc.SequentialIDs("43")(); other == got[0] {
		t.Error("another seed gives the same id")
	}
}
