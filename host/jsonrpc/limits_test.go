package jsonrpc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// holder is a handler that holds calls until they are released.
type holder struct {
	entered chan struct{}
	release chan struct{}
}

func newHolder() *holder {
	return &holder{entered: make(chan struct{}, 64), release: make(chan struct{})}
}

func (h *holder) Handle(ctx context.Context, req *jsonrpc.Request) jsonrpc.Response {
	if req.Method == "hold" {
		h.entered <- struct{}{}
		select {
		case <-h.release:
		case <-ctx.Done():
		}
	}
	return jsonrpc.Response{Result: []byte("true")}
}

// hold is a call that is held.
const hold = `{"jsonrpc":"2.0","id":1,"method":"hold"}`

// TestMaxConns: a connection above the limit takes the place of the oldest one that is
// idle, and is closed while requests are being answered on all of them.
func TestMaxConns(t *testing.T) {
	t.Parallel()
	h := newHolder()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		jsonrpc.Answering(r.Context())
		h.Handle(r.Context(), &jsonrpc.Request{Method: "hold"})
	}))
	jsonrpc.LimitConnections(srv.Config, 2, 2)
	srv.Start()
	defer srv.Close()
	text := fmt.Sprintf("%s%d\r\n\r\n%s", head, len(hold), hold)
	idle, slow := dial(t, srv.Listener), dial(t, srv.Listener)
	if _, err := io.WriteString(slow, text); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	third := dial(t, srv.Listener)
	if _, err := io.WriteString(third, text); err != nil {
		t.Fatal(err)
	}
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("the idle connection is still open")
	}
	<-h.entered // the third one is served; now both are busy
	fourth := dial(t, srv.Listener)
	if n, err := fourth.Read(make([]byte, 1)); err == nil {
		t.Fatalf("a third connection was served: %d bytes", n)
	}
	close(h.release)
	if _, err := slow.Read(make([]byte, 1)); err != nil {
		t.Errorf("the answer that was under way: %v", err)
	}
}

// TestManyIdleConnections: 600 connections of one address, of which half send a part of a
// request, do not keep a request from being answered, nor a busy connection from its answer.
func TestManyIdleConnections(t *testing.T) {
	t.Parallel()
	h := newHolder()
	srv := startHTTP(t, jsonrpc.Config{}, h)
	text := fmt.Sprintf("%s%d\r\n\r\n%s", head, len(hold), hold)
	busy := dial(t, srv)
	if _, err := io.WriteString(busy, text); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	var closed atomic.Int64
	var reading sync.WaitGroup
	t.Cleanup(reading.Wait) // once the connections are closed
	for i := range 600 {
		conn := dial(t, srv)
		if i%2 == 1 {
			if _, err := io.WriteString(conn, text[:len(text)-1]); err != nil {
				t.Logf("connection %d: %v", i, err) // closed already
			}
		}
		reading.Go(func() {
			_, _ = io.Copy(io.Discard, conn)
			closed.Add(1)
		})
	}
	if !eventually(func() bool { return closed.Load() >= 600-256 }) { // all but the last
		t.Errorf("%d connections were closed", closed.Load())
	}
	close(h.release)
	client := jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{})
	t.Cleanup(func() { _ = client.Close() })
	if _, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); err != nil {
		t.Errorf("a request beside 600 connections: %v", err)
	}
	if _, err := busy.Read(make([]byte, 1)); err != nil {
		t.Errorf("the answer that was under way: %v", err)
	}
}

// TestBodyTooLarge: a megabyte is allowed, however it comes, and no more.
func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	for size, want := range map[int]int{1 << 20: 200, 1<<20 + 1: 413, 20 << 20: 413} {
		text := call + strings.Repeat(" ", size-len(call))
		for name, body := range map[string]io.Reader{"announced": strings.NewReader(text), "chunked": io.MultiReader(strings.NewReader(text))} {
			res, answer := request(t, "POST", srv.URL(), body)
			if res.StatusCode != want || want == 413 && readRefusal(t, want, answer).Code != -32600 {
				t.Errorf("%s %d bytes: %d %.200s, want %d", name, size, res.StatusCode, answer, want)
			}
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

func TestHeaderTooLarge(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	res, _ := rawHTTP(t, srv, "POST /mcp HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 32<<10)+"\r\n\r\n")
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d, want 431", res.StatusCode)
	}
}

func TestSlowBody(t *testing.T) {
	t.Parallel()
	var res *http.Response
	var body string
	if !moreAndMore(func(limit time.Duration) (ok bool) { // the limit is of the header too
		var err error
		res, body, err = tryRaw(t, startHTTP(t, jsonrpc.Config{ReadTimeout: limit}, echo), head+"100\r\n\r\n{")
		return err == nil
	}) {
		t.Fatal("half a body is not answered")
	}
	if got := readRefusal(t, res.StatusCode, body); got.Status != 408 || !strings.Contains(got.Detail, "in time") {
		t.Errorf("half a body: %+v, want 408", got)
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
