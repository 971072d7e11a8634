package jsonrpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func kindOf(err error) error {
	var failed *jsonrpc.CallError
	if errors.As(err, &failed) {
		return failed.Kind
	}
	return nil
}

// scripted is a peer that reads one HTTP request from each connection and then
// does as it is told.
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
	c := jsonrpc.NewClient(jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}), cfg)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// closedPort returns the URL of a port on which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return "http://" + ln.Addr().String() + "/mcp"
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
		name      string
		url       string
		kind      error
		status    int
		retryable bool
		text      string
	}{
		{"nobody listens", closedPort(t), jsonrpc.ErrConnect, 0, true, "connection refused"},
		{"unknown host", "http://host.invalid/mcp", jsonrpc.ErrConnect, 0, true, "host.invalid"},
		{"TLS to a plain port", strings.Replace(hang("HTTP/1.1 400 X\r\n\r\n"), "http:", "https:", 1), jsonrpc.ErrConnect, 0, true, "TLS"},
		{"hangs up at once", says(t, ""), jsonrpc.ErrClosed, 0, true, "EOF"},
		{"hangs up in the header", says(t, ok+"Content-Type: te"), jsonrpc.ErrClosed, 0, true, "EOF"},
		{"hangs up in the body", says(t, ok+"Content-Length: 100\r\n\r\n{"), jsonrpc.ErrClosed, 200, true, "unexpected EOF"},
		{"hangs up in a chunk", says(t, ok+"Transfer-Encoding: chunked\r\n\r\n5\r\n{"), jsonrpc.ErrClosed, 200, true, "unexpected EOF"},
		{"never answers", hang(""), jsonrpc.ErrTimeout, 0, true, "timed out"},
		{"stops in the body", hang(ok + "Content-Length: 100\r\n\r\n{"), jsonrpc.ErrTimeout, 200, true, "timed out"},
		{"streams for ever", scripted(t, streamZeros), jsonrpc.ErrTooLarge, 200, false, "longer than 4096 bytes"},
		{"announces too much", says(t, ok+"Content-Length: 99999999999\r\n\r\n{"), jsonrpc.ErrTooLarge, 200, false, "longer than 4096 bytes"},
		{"not HTTP", says(t, "SSH-2.0-OpenSSH_9.6\r\n"), jsonrpc.ErrMalformed, 0, false, "malformed"},
		{"broken header", says(t, ok+"no colon\r\n\r\n"), jsonrpc.ErrMalformed, 0, false, "malformed"},
		{"endless header", says(t, ok+"X: "+strings.Repeat("x", 100_000)+"\r\n\r\n"), jsonrpc.ErrMalformed, 0, false, "header"},
		{"not JSON", answers(t, 200, "<html>"), jsonrpc.ErrMalformed, 200, false, "offset 0"},
		{"NaN", answers(t, 200, `{"jsonrpc":"2.0","id":1,"result":NaN}`), jsonrpc.ErrMalformed, 200, false, "/result"},
		{"duplicate name", answers(t, 200, `{"a":1,"a":2}`), jsonrpc.ErrMalformed, 200, false, "duplicate name at /a"},
		{"trailing data", answers(t, 200, `{} {}`), jsonrpc.ErrMalformed, 200, false, "after the end"},
		{"too deep", answers(t, 200, strings.Repeat("[", 200)), jsonrpc.ErrMalformed, 200, false, "deeper than 128"},
		{"an array", answers(t, 200, `[{"jsonrpc":"2.0","id":1,"result":1}]`), jsonrpc.ErrMalformed, 200, false, "not an object"},
		{"another version", answers(t, 200, `{"jsonrpc":"1.0","id":1,"result":1}`), jsonrpc.ErrMalformed, 200, false, "jsonrpc"},
		{"not found", answers(t, 404, "404 page not found"), jsonrpc.ErrStatus, 404, false, "HTTP 404 Not Found"},
		{"not found, empty", answers(t, 404, ""), jsonrpc.ErrStatus, 404, false, "HTTP 404"},
		{"server error", answers(t, 500, "oops"), jsonrpc.ErrStatus, 500, false, "HTTP 500"},
		{"redirect", answers(t, 307, ""), jsonrpc.ErrStatus, 307, false, `not followed, here to "http://elsewhere/"`},
		{"redirect with JSON", answers(t, 302, "{}"), jsonrpc.ErrStatus, 302, false, "not followed"},
		{"too many requests", answers(t, 429, "{}"), jsonrpc.ErrStatus, 429, true, "HTTP 429"},
		{"bad gateway", answers(t, 502, "<html>"), jsonrpc.ErrStatus, 502, true, "HTTP 502"},
		{"unavailable", answers(t, 503, ""), jsonrpc.ErrStatus, 503, true, "HTTP 503"},
		{"gateway timeout", answers(t, 504, ""), jsonrpc.ErrStatus, 504, true, "HTTP 504"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			answer, err := newClient(t, jsonrpc.ClientConfig{MaxAnswer: 4096}).Call(ctx, c.url, jsonrpc.Message{Method: "m"})
			var failed *jsonrpc.CallError
			if !errors.As(err, &failed) {
				t.Fatalf("Call = %v, %v, want a *CallError", answer, err)
			}
			if failed.Kind != c.kind || failed.Status != c.status || failed.Retryable() != c.retryable || failed.URL != c.url {
				t.Errorf("kind %v, status %d, retryable %v, URL %s; want %v, %d, %v", failed.Kind, failed.Status, failed.Retryable(), failed.URL, c.kind, c.status, c.retryable)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.url) {
				t.Errorf("error %q, want it to be %v, with %q", err, c.kind, c.text)
			}
			if want := c.kind == jsonrpc.ErrTimeout; errors.Is(err, context.DeadlineExceeded) != want {
				t.Errorf("error %q is a DeadlineExceeded: %v, want %v", err, !want, want)
			}
			if failed.Kind == jsonrpc.ErrStatus && c.retryable && failed.RetryAfter != 7*time.Second {
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
		if !errors.As(err, &failed) || !errors.Is(err, context.Canceled) || errors.Is(err, jsonrpc.ErrTimeout) || failed.Retryable() {
			t.Errorf("%s: %v, want context.Canceled, not retryable", srv.URL(), err)
		}
	}
}

// TestDefaultTimeout: a context without a deadline gets the client's.
func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	h := newHolder()
	network := new(jsonrpc.Loopback)
	srv := startLoopback(t, network, "", jsonrpc.Config{}, h)
	c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{Timeout: 20 * time.Millisecond})
	if _, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "hold"}); kindOf(err) != jsonrpc.ErrTimeout {
		t.Errorf("%v, want ErrTimeout", err)
	}
}

// TestAnswers checks the classification of everything that is an answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	v := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   jsonrpc.Answer // without Status, Header and Raw
	}{
		{"result", 200, `{"jsonrpc":"2.0","id":"ID","result":{"a":1}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`"ID"`), Echoed: true, Result: v(`{"a":1}`)}},
		{"result, id escaped otherwise", 200, `{"jsonrpc":"2.0","id":"\u0049D","result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`"\u0049D"`), Echoed: true, Result: v(`1`)}},
		{"result null", 200, `{"jsonrpc":"2.0","id":"ID","result":null}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`"ID"`), Echoed: true, Result: v(`null`)}},
		{"result string", 200, `{"jsonrpc":"2.0","id":"ID","result":"{}"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`"ID"`), Echoed: true, Result: v(`"{}"`)}},
		{"error null beside a result", 200, `{"jsonrpc":"2.0","id":"ID","error":null,"result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`"ID"`), Echoed: true, Result: v(`1`)}},
		{"another id", 200, `{"jsonrpc":"2.0","id":1,"result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, ID: v(`1`), Result: v(`1`)}},
		{"no id", 200, `{"jsonrpc":"2.0","result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"error", 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no","data":{"x":1}}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`null`), Error: &jsonrpc.Error{Code: -32601, Message: "no", Data: v(`{"x":1}`)}}},
		{"error with status", 401, `{"jsonrpc":"2.0","id":"ID","error":{"code":12,"message":"no"}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{Code: 12, Message: "no"}}},
		{"error beside a result", 500, `{"jsonrpc":"2.0","id":"ID","result":{},"error":{"code":1.2e1}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{Code: 12}}},
		{"error code as a string", 200, `{"jsonrpc":"2.0","id":"ID","error":{"code":"-32601","message":5}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{Code: -32601}}},
		{"error codes that are none", 200, `{"jsonrpc":"2.0","id":"ID","error":{"code":1e99,"Code":3}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{}}},
		{"error code with a fraction", 200, `{"jsonrpc":"2.0","id":"ID","error":{"code":1.5}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{}}},
		{"error is a string", 200, `{"jsonrpc":"2.0","id":"ID","error":"bad \u0074oken"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{Message: "bad token"}}},
		{"error is a number", 200, `{"jsonrpc":"2.0","id":"ID","error":5}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError, ID: v(`"ID"`), Echoed: true, Error: &jsonrpc.Error{}}},
		{"a request", 200, `{"jsonrpc":"2.0","method":"game_join_ack","params":{"accept":true},"id":9}`, jsonrpc.Answer{Kind: jsonrpc.AnswerRequest, ID: v(`9`), Method: "game_join_ack", Params: v(`{"accept":true}`)}},
		{"bare", 200, `{"message_type":"GAME_JOIN_ACK","result":1,"error":2,"id":3}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject, ID: v(`3`)}},
		{"bare with status", 404, `{"detail":"Not Found"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject}},
		{"JSON-RPC without anything", 200, `{"jsonrpc":"2.0","id":"ID"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject, ID: v(`"ID"`), Echoed: true}},
		{"empty", 200, ``, jsonrpc.Answer{Kind: jsonrpc.AnswerNone}},
		{"blank", 202, " \n", jsonrpc.Answer{Kind: jsonrpc.AnswerNone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, jsonrpc.ClientConfig{NewID: func() string { return "ID" }})
			got, err := client.Call(t.Context(), answers(t, c.status, c.body), jsonrpc.Message{Method: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.status || got.Header.Get("Retry-After") != "7" {
				t.Errorf("status %d, header %v", got.Status, got.Header)
			}
			if c.want.Kind != jsonrpc.AnswerNone && string(got.Raw) != c.body {
				t.Errorf("Raw = %s", got.Raw)
			}
			got.Status, got.Header, got.Raw = 0, nil, nil
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMessages checks what is sent.
func TestMessages(t *testing.T) {
	t.Parallel()
	got := make(chan *jsonrpc.Request, 1)
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		got <- req
		return jsonrpc.Response{Body: []byte(`{"jsonrpc":"2.0","id":7,"result":1}`)}
	})
	srv := startHTTP(t, jsonrpc.Config{AcceptObjects: true}, h)
	client := newClient(t, jsonrpc.ClientConfig{NewID: func() string { return `a"b` }})
	for _, c := range []struct {
		name   string
		m      jsonrpc.Message
		want   string
		echoed bool
	}{
		{"call", jsonrpc.Message{Method: "m", Params: []byte(`{"a":1}`)}, `{"jsonrpc":"2.0","id":"a\"b","method":"m","params":{"a":1}}`, false},
		{"no params", jsonrpc.Message{Method: "m\n"}, `{"jsonrpc":"2.0","id":"a\"b","method":"m\n"}`, false},
		{"own id", jsonrpc.Message{Method: "m", ID: []byte(`7`)}, `{"jsonrpc":"2.0","id":7,"method":"m"}`, true},
		{"notification", jsonrpc.Message{Method: "m", Notify: true, ID: []byte(`7`)}, `{"jsonrpc":"2.0","method":"m"}`, false},
		{"body", jsonrpc.Message{Method: "ignored", Body: []byte(`{"message_type":"X"}`)}, `{"message_type":"X"}`, false},
		{"body and its id", jsonrpc.Message{Body: []byte(`{"id":7}`), ID: []byte(`7`)}, `{"id":7}`, true},
	} {
		c.m.Header = http.Header{"authorization": {"Bearer x"}}
		answer, err := client.Call(t.Context(), srv.URL(), c.m)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		req := <-got
		if string(req.Raw) != c.want || answer.Echoed != c.echoed {
			t.Errorf("%s: sent %s, echoed %v; want %s, %v", c.name, req.Raw, answer.Echoed, c.want, c.echoed)
		}
		if req.Header.Get("Authorization") != "Bearer x" || req.Header.Get("Accept") != "application/json" {
			t.Errorf("%s: header %v", c.name, req.Header)
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
		if !errors.As(err, &failed) || failed.Kind != nil || failed.Retryable() {
			t.Errorf("URL %q: %v, want an error of no kind", url, err)
		}
	}
}

// TestKeepAlive: calls one after the other share a connection, also after
// refusals and errors.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	peers := make(map[string]int)
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		peers[req.RemoteAddr]++
		return jsonrpc.Response{Result: []byte(`"` + strings.Repeat("x", 70_000) + `"`)}
	}))
	client := newClient(t, jsonrpc.ClientConfig{})
	for range 10 {
		for _, body := range []string{call, `[]`, `{`, `{"jsonrpc":"2.0","method":"n"}`} {
			if _, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(peers) != 1 {
		t.Errorf("calls came from %d connections, want 1: %v", len(peers), peers)
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
