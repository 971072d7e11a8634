package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
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

// TestBusy fills a server up to a limit and checks that the next call is
// refused and that there is room again afterwards.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  jsonrpc.Config
		want string
	}{
		{"overall", jsonrpc.Config{MaxConcurrent: 3}, "too many requests at once: "},
		{"one peer", jsonrpc.Config{MaxPerPeer: 3}, "from this address"},
	} {
		for _, transport := range []jsonrpc.Transport{jsonrpc.TransportHTTP, jsonrpc.TransportLoopback} {
			t.Run(fmt.Sprint(c.name, "/", transport), func(t *testing.T) {
				t.Parallel()
				h := newHolder()
				client, url := dialHeld(t, transport, c.cfg, h)
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if _, err := client.Call(t.Context(), url, jsonrpc.Message{Method: "hold"}); err != nil {
							t.Error(err)
						}
					})
				}
				for range 3 {
					<-h.entered
				}
				_, err := client.Call(t.Context(), url, jsonrpc.Message{Method: "m"})
				checkBusy(t, err, c.want)
				close(h.release)
				wg.Wait()
				if !eventually(func() bool {
					_, err = client.Call(t.Context(), url, jsonrpc.Message{Method: "m"})
					return err == nil
				}) {
					t.Errorf("after the others have left: %v", err)
				}
			})
		}
	}
}

func dialHeld(t *testing.T, transport jsonrpc.Transport, cfg jsonrpc.Config, h jsonrpc.Handler) (*jsonrpc.Client, string) {
	t.Helper()
	rt, url := jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}), ""
	if transport == jsonrpc.TransportLoopback {
		network := new(jsonrpc.Loopback)
		rt, url = network.From("me"), startLoopback(t, network, "", cfg, h).URL()
	} else {
		url = startHTTP(t, cfg, h).URL()
	}
	client := jsonrpc.NewClient(rt, jsonrpc.ClientConfig{})
	t.Cleanup(func() { _ = client.Close() })
	return client, url
}

func checkBusy(t *testing.T, err error, detail string) {
	t.Helper()
	var failed *jsonrpc.CallError
	switch {
	case !errors.As(err, &failed) || failed.Kind != jsonrpc.ErrStatus || failed.Status != 503:
		t.Fatalf("error %v, want a 503", err)
	case !failed.Retryable() || failed.RetryAfter != time.Second:
		t.Errorf("retryable %v after %v, want true after 1s", failed.Retryable(), failed.RetryAfter)
	case !strings.Contains(string(failed.Body), `"error":{"code":48,`):
		t.Errorf("answer %s, want an error with code 48", failed.Body)
	case !strings.Contains(string(failed.Body), detail):
		t.Errorf("body %s, want %q in it", failed.Body, detail)
	}
}

// TestPeersAreCountedApart: one caller at its limit leaves the others alone.
func TestPeersAreCountedApart(t *testing.T) {
	t.Parallel()
	h := newHolder()
	network := new(jsonrpc.Loopback)
	srv := startLoopback(t, network, "", jsonrpc.Config{MaxPerPeer: 1}, h)
	greedy := jsonrpc.NewClient(network.From("greedy"), jsonrpc.ClientConfig{})
	modest := jsonrpc.NewClient(network.From("modest"), jsonrpc.ClientConfig{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := greedy.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "hold"}); err != nil {
			t.Error(err)
		}
	})
	<-h.entered
	_, err := greedy.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"})
	checkBusy(t, err, "from this address")
	if _, err := modest.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); err != nil {
		t.Error(err)
	}
	close(h.release)
	wg.Wait()
}

// TestMaxConns: a connection above the limit is served once another ends.
func TestMaxConns(t *testing.T) {
	t.Parallel()
	srv := startHTTP(t, jsonrpc.Config{MaxConns: 2}, echo)
	text := fmt.Sprintf("%s%d\r\n\r\n%s", head, len(call), call)
	first, second := dial(t, srv), dial(t, srv)
	buf := make([]byte, 1)
	for _, conn := range []io.ReadWriter{first, second} {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	third := dial(t, srv)
	if _, err := io.WriteString(third, text); err != nil {
		t.Fatal(err)
	}
	if err := third.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := third.Read(buf); err == nil {
		t.Fatalf("a third connection was served: %q", buf[:n])
	}
	_ = first.Close()
	if err := third.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(buf); err != nil {
		t.Errorf("after another one ended: %v", err)
	}
}

// TestUnlimited: a negative limit is none.
func TestUnlimited(t *testing.T) {
	t.Parallel()
	cfg := jsonrpc.Config{MaxBody: -1, MaxDepth: -1, MaxHeader: -1, MaxConns: -1, MaxConcurrent: -1, MaxPerPeer: -1, ReadTimeout: -1, WriteTimeout: -1, IdleTimeout: -1, Drain: -1}
	for _, w := range wires(t, cfg, echo) {
		params := strings.Repeat("[", 5000) + strings.Repeat("]", 5000) // jsontext itself stops at 10,000
		_, got := w.exchange(t, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("m", 2<<20)+`","params":`+params+`}`)
		if !strings.Contains(got[:min(len(got), 100)], `"result"`) {
			t.Errorf("%s: %.200s", w.transport, got)
		}
	}
}
