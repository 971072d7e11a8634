package jsonrpc_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

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
