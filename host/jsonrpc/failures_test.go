package jsonrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

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
		{"nobody listens", "http://" + jsonrpctest.Address(t) + "/mcp", jsonrpc.ErrConnect, 0, true, "connection refused"},
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
