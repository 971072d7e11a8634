package jsonrpc_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

const call = `{"jsonrpc":"2.0","id":1,"method":"m"}`

// request sends any HTTP request on a connection of its own.
func request(t *testing.T, method, url, contentType string, body io.Reader) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, body, err := try(req)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// try sends a request that may be cut off.
func try(req *http.Request) (*http.Response, string, error) {
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// tryCall sends a call that may be cut off.
func tryCall(t *testing.T, srv *jsonrpc.Server, verb string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), verb, srv.URL(), strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return try(req)
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	for contentType, want := range map[string]int{
		"application/json":                   200,
		"application/json; charset=utf-8":    200,
		"Application/JSON;charset=\"UTF-8\"": 200,
		"application/json; x=1":              200,
		"application/json; charset=latin1":   415,
		"application/jsonx":                  415,
		"application/json;;;=":               415,
		"text/plain":                         415,
		"application/x-www-form-urlencoded":  415,
		"":                                   415,
	} {
		res, body := request(t, "POST", srv.URL(), contentType, strings.NewReader(call))
		if res.StatusCode != want {
			t.Errorf("Content-Type %q: status %d, want %d", contentType, res.StatusCode, want)
		}
		if want == 415 {
			readRefusal(t, 415, body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL(), strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	if res, _ := do(t, req); res.StatusCode != 415 {
		t.Errorf("Content-Encoding gzip: status %d, want 415", res.StatusCode)
	}
}

func TestVerbs(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	for _, verb := range []string{"GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "BREW"} {
		res, body := request(t, verb, srv.URL(), "application/json", strings.NewReader(call))
		if res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
			t.Errorf("%s: status %d, Allow %q, want 405 and POST", verb, res.StatusCode, res.Header.Get("Allow"))
		}
		if verb != "HEAD" {
			readRefusal(t, 405, body)
		}
	}
}

func TestAnswerHeader(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 100_000) // beyond what net/http counts by itself
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		return jsonrpc.Response{Result: fmt.Appendf(nil, "%q", long)}
	}))
	res, body := request(t, "POST", srv.URL(), "application/json", strings.NewReader(call))
	if res.Header.Get("Content-Type") != "application/json" || res.ContentLength != int64(len(body)) || len(body) < len(long) {
		t.Errorf("header %v, length %d of a body of %d", res.Header, res.ContentLength, len(body))
	}
}

// rawHTTP sends bytes over a connection and reads one response, without the
// help of a well-behaved client.
func rawHTTP(t *testing.T, srv *jsonrpc.Server, text string) (*http.Response, string) {
	t.Helper()
	res, body, err := tryRaw(t, srv, text)
	if err != nil {
		t.Fatalf("after %.60q: %v", text, err)
	}
	return res, body
}

// tryRaw is rawHTTP for what may be cut off.
func tryRaw(t *testing.T, srv *jsonrpc.Server, text string) (*http.Response, string, error) {
	t.Helper()
	conn := dial(t, srv)
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, "", err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func dial(t *testing.T, srv *jsonrpc.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

// TestSlowHandler: the time for reading a request must not end the context of
// its handler.
func TestSlowHandler(t *testing.T) {
	t.Parallel()
	if !moreAndMore(func(limit time.Duration) bool {
		var read atomic.Bool
		srv := startHTTP(t, jsonrpc.Config{ReadTimeout: limit}, jsonrpc.HandlerFunc(
			func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
				read.Store(true)
				select {
				case <-ctx.Done():
					return jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: ctx.Err().Error()}}
				case <-time.After(3 * limit):
					return jsonrpc.Response{Result: []byte("true")}
				}
			}))
		res, body, err := tryCall(t, srv, "POST")
		if read.Load() && (err != nil || res.StatusCode != 200 || !strings.Contains(body, `"result":true`)) {
			t.Errorf("%v %s %v", res, body, err)
		}
		return read.Load()
	}) {
		t.Error("no request is read in time")
	}
}

func TestPeerGoesAway(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(
		func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
			close(entered)
			<-ctx.Done()
			close(left)
			return jsonrpc.Response{}
		}))
	conn := dial(t, srv)
	if _, err := fmt.Fprintf(conn, "%s%d\r\n\r\n%s", head, len(call), call); err != nil {
		t.Fatal(err)
	}
	<-entered
	_ = conn.Close()
	<-left
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	_, err := jsonrpc.Listen(t.Context(), srv.Addr().String(), jsonrpc.Config{})
	if err == nil || !strings.Contains(err.Error(), srv.Addr().String()) {
		t.Errorf("Listen on a taken port: %v", err)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:0": "http://127.0.0.1:PORT/x",
		"localhost:0": "http://127.0.0.1:PORT/x",
		":0":          "http://127.0.0.1:PORT/x",
		"0.0.0.0:0":   "http://127.0.0.1:PORT/x",
	} {
		srv, err := jsonrpc.Listen(t.Context(), addr, jsonrpc.Config{Path: "/x"})
		if err != nil {
			t.Fatal(err)
		}
		port := fmt.Sprint(srv.Addr().(*net.TCPAddr).Port)
		if got, want := srv.URL(), strings.Replace(want, "PORT", port, 1); got != want {
			t.Errorf("listening on %s: URL %s, want %s", addr, got, want)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestConnectBeforeServe: who comes between Listen and Serve waits.
func TestConnectBeforeServe(t *testing.T) {
	t.Parallel()
	network := new(jsonrpc.Loopback)
	web, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := network.Listen("", jsonrpc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for srv, rt := range map[server]jsonrpc.RoundTripper{
		web:  jsonrpc.OverHTTP(),
		loop: network.From("me"),
	} {
		c := jsonrpc.NewClient(rt, jsonrpc.ClientConfig{})
		answered := make(chan error, 1)
		go func() {
			_, err := c.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "early"})
			answered <- err
		}()
		serve(t, srv, echo)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		_ = c.Close()
	}
}

// TestServeEnded: a server that is asked to end before it begins ends.
func TestServeEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for srv := range listeners(t, jsonrpc.Config{}) {
		if err := srv.Serve(ctx, echo); err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	}
}

func TestServeAfterClose(t *testing.T) {
	t.Parallel()
	srv, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(t.Context(), echo); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve after Close = %v, want net.ErrClosed", err)
	}
}
