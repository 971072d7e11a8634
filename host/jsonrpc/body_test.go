package jsonrpc_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	for _, size := range []int{1<<20 + 1, 3 << 20, 40 << 20} {
		for name, body := range map[string]io.Reader{
			"announced": bytes.NewReader(make([]byte, size)),
			"chunked":   io.LimitReader(zeros{}, int64(size)),
		} {
			res, answer := request(t, "POST", srv.URL(), body)
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
		if res, answer := request(t, "POST", srv.URL(), body); res.StatusCode != 200 {
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
