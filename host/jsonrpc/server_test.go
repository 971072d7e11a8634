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
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
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

func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	for _, size := range []int{1<<20 + 1, 3 << 20, 40 << 20} {
		for name, body := range map[string]io.Reader{
			"announced": bytes.NewReader(make([]byte, size)),
			"chunked":   io.LimitReader(zeros{}, int64(size)),
		} {
			res, answer := request(t, "POST", srv.URL(), "application/json", body)
			if got := readRefusal(t, res.StatusCode, answer); got.Status != 413 || got.Code != -32600 {
				t.Errorf("%s %d bytes: %+v, want 413 and -32600", name, size, got)
			}
		}
	}
	// A megabyte is allowed, however it comes.
	fits := func() io.Reader {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"m","params":["`, `"]}`
		return strings.NewReader(head + strings.Repeat("x", 1<<20-len(head)-len(tail)) + tail)
	}
	for name, body := range map[string]io.Reader{"announced": fits(), "chunked": io.MultiReader(fits())} {
		if res, answer := request(t, "POST", srv.URL(), "application/json", body); res.StatusCode != 200 {
			t.Errorf("%s body of 1 MiB: status %d: %.200s", name, res.StatusCode, answer)
		}
	}
}

// TestBodyTooLargeForSimplePeers: a peer that looks for the answer only after
// it has sent everything gets one, and may go on.
func TestBodyTooLargeForSimplePeers(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{MaxBody: 1 << 20}, echo)
	conn := dial(t, srv)
	answers := bufio.NewReader(conn)
	const size = 16 << 20
	for range 2 {
		if _, err := io.Copy(conn, io.MultiReader(strings.NewReader(fmt.Sprint(head, size, "\r\n\r\n")), io.LimitReader(zeros{}, size))); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 413 {
			t.Errorf("status %d, %s, %v, want 413", res.StatusCode, body, err)
		}
	}
	// Past all reason, the answer still comes first, then an orderly end. (For
	// this kind of request net/http by itself would break off.)
	if _, err := io.Copy(conn, io.MultiReader(strings.NewReader(fmt.Sprint(head, 64<<20, "\r\nConnection: close\r\n\r\n")), io.LimitReader(zeros{}, size+64<<10))); err != nil {
		t.Fatal(err)
	}
	if res, err := http.ReadResponse(answers, nil); err != nil || res.StatusCode != 413 || !res.Close {
		t.Errorf("status %+v, %v, want 413 and the end of the connection", res, err)
	}
	if _, err := io.ReadAll(answers); err != nil {
		t.Errorf("the connection ended with %v", err)
	}
	// One that asks before it sends is answered without sending.
	res, body := rawHTTP(t, srv, head+"2000000\r\nExpect: 100-continue\r\n\r\n")
	if got := readRefusal(t, res.StatusCode, body); got.Status != 413 {
		t.Errorf("with Expect: %+v, want 413", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// rawHTTP sends bytes over a connection and reads one response, without the
// help of a well-behaved client.
func rawHTTP(t *testing.T, srv *jsonrpc.Server, text string) (*http.Response, string) {
	t.Helper()
	conn := dial(t, srv)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("after %.60q: %v", text, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
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

func TestHeaderTooLarge(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{MaxHeader: 2000}, echo)
	// net/http allows 4096 bytes more than it is told.
	res, _ := rawHTTP(t, srv, "POST /mcp HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 8000)+"\r\n\r\n")
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d, want 431", res.StatusCode)
	}
}

const head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

func TestSlowBody(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{ReadTimeout: 50 * time.Millisecond}, echo)
	res, body := rawHTTP(t, srv, head+"100\r\n\r\n{")
	if got := readRefusal(t, res.StatusCode, body); got.Status != 408 || !strings.Contains(got.Detail, "in time") {
		t.Errorf("half a body: %+v, want 408", got)
	}
}

func TestSlowHeader(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{ReadTimeout: 50 * time.Millisecond}, echo)
	conn := dial(t, srv)
	if _, err := io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	// net/http hangs up, with or without a word.
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("half a header: %v, want the connection closed", err)
	}
}

func TestBodyCutShort(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	conn := dial(t, srv).(*net.TCPConn)
	if _, err := io.WriteString(conn, head+"100\r\n\r\n"+call); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if got := readRefusal(t, res.StatusCode, string(body)); got.Status != 400 || got.Code != -32700 {
		t.Errorf("%+v, want 400 and -32700", got)
	}
}

// TestSlowHandler: the time for reading a request must not end the context of
// its handler.
func TestSlowHandler(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{ReadTimeout: 20 * time.Millisecond}, jsonrpc.HandlerFunc(
		func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
			select {
			case <-ctx.Done():
				return jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: ctx.Err().Error()}}
			case <-time.After(150 * time.Millisecond):
				return jsonrpc.Response{Result: []byte("true")}
			}
		}))
	res, body := request(t, "POST", srv.URL(), "application/json", strings.NewReader(call))
	if res.StatusCode != 200 || !strings.Contains(body, `"result":true`) {
		t.Errorf("%d %s", res.StatusCode, body)
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
		web:  jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}),
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

// TestServeEnded: a server that is told to end before it begins ends.
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
