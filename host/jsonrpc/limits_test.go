package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// TestBusy fills a server up to a limit and checks that the next call is
// refused and that there is room again afterwards.
func TestBusy(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]jsonrpc.Config{"too many requests at once: ": {MaxConcurrent: 3}, "from this address": {MaxPerPeer: 3}} {
		for srv, client := range listeners(t, cfg) {
			h := newHolder()
			serve(t, srv, h)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					if _, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "hold"}); err != nil {
						t.Error(err)
					}
				})
			}
			for range 3 {
				<-h.entered
			}
			_, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"})
			checkBusy(t, err, want)
			close(h.release)
			wg.Wait()
			if !eventually(func() bool {
				_, err = client.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"})
				return err == nil
			}) {
				t.Errorf("after the others have left: %v", err)
			}
		}
	}
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

// hold is a call that is held.
const hold = `{"jsonrpc":"2.0","id":1,"method":"hold"}`

// TestMaxConns: a connection above the limit takes the place of the oldest one that is
// idle, and is closed while requests are being answered on all of them.
func TestMaxConns(t *testing.T) {
	t.Parallel()
	h := newHolder()
	srv := startHTTP(t, jsonrpc.Config{MaxConns: 2}, h)
	text := fmt.Sprintf("%s%d\r\n\r\n%s", head, len(hold), hold)
	idle, slow := dial(t, srv), dial(t, srv)
	if _, err := io.WriteString(slow, text); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	third := dial(t, srv)
	if _, err := io.WriteString(third, text); err != nil {
		t.Fatal(err)
	}
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("the idle connection is still open")
	}
	<-h.entered // the third one is served; now both are busy
	fourth := dial(t, srv)
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

// TestUnlimited: a negative limit is none.
func TestUnlimited(t *testing.T) {
	t.Parallel()
	cfg := jsonrpc.Config{MaxBody: -1, MaxConns: -1, MaxConcurrent: -1, MaxPerPeer: -1, ReadTimeout: -1, WriteTimeout: -1, Drain: -1}
	for _, w := range wires(t, cfg, echo) {
		_, got := w.exchange(t, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("m", 2<<20)+`"}`)
		if !strings.Contains(got[:min(len(got), 100)], `"result"`) {
			t.Errorf("%s: %.200s", w.transport, got)
		}
	}
}
