package jsonrpc_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// listeners opens a server on HTTP and one on loopback, with a client of each.
func listeners(t *testing.T, cfg jsonrpc.Config) map[server]*jsonrpc.Client {
	t.Helper()
	network := new(jsonrpc.Loopback)
	web, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	loop, err := network.Listen("P01", cfg)
	if err != nil {
		t.Fatal(err)
	}
	clients := map[server]*jsonrpc.Client{
		web:  jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}),
		loop: jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{}),
	}
	for _, c := range clients {
		t.Cleanup(func() { _ = c.Close() })
	}
	return clients
}

// TestDrainFinishes: a request in hand is answered after the server was told
// to end, and a new one is refused.
func TestDrainFinishes(t *testing.T) {
	t.Parallel()
	for srv, c := range listeners(t, jsonrpc.Config{}) {
		h := newHolder()
		stop := serve(t, srv, h)
		answered := make(chan error, 1)
		go func() {
			_, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "hold"})
			answered <- err
		}()
		<-h.entered
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		if !eventually(func() bool {
			_, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "m"})
			return err != nil
		}) {
			t.Errorf("%s still takes calls while it drains", srv.URL())
		}
		select {
		case err := <-stopped:
			t.Fatalf("Serve returned %v with a request in hand", err)
		default:
		}
		close(h.release)
		if err := <-answered; err != nil {
			t.Errorf("the call in hand: %v", err)
		}
		if err := <-stopped; err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	}
}

// TestDrainWaitsForHandlers: Serve outlives every handler, also one that is deaf to its context.
func TestDrainWaitsForHandlers(t *testing.T) {
	t.Parallel()
	for srv, c := range listeners(t, jsonrpc.Config{Drain: time.Millisecond}) {
		entered, release := make(chan struct{}), make(chan struct{})
		stop := serve(t, srv, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
			close(entered)
			<-release
			return jsonrpc.Response{}
		}))
		answered := make(chan error, 1)
		go func() {
			_, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "m"})
			answered <- err
		}()
		<-entered
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		if err := <-answered; kindOf(err) != jsonrpc.ErrClosed {
			t.Errorf("the call: %v, want ErrClosed", err)
		}
		select {
		case <-stopped:
			t.Error("Serve returned before the handler")
		case <-time.After(20 * time.Millisecond):
		}
		close(release)
		if err := <-stopped; err == nil || !strings.Contains(err.Error(), "1 requests were cut off after 1ms") {
			t.Errorf("Serve = %v, want one request cut off", err)
		}
	}
}

// TestDrainCutsOffPipelined: net/http does not notice the end of a connection
// while a further request waits on it, so the context must be ended besides.
func TestDrainCutsOffPipelined(t *testing.T) {
	t.Parallel()
	srv, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{Drain: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	h := newHolder()
	stop := serve(t, srv, h)
	text := stdioCall(1, "hold")
	text = fmt.Sprint(head, len(text), "\r\n\r\n", text)
	conn := dial(t, srv)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	<-h.entered
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err == nil {
		t.Error("Serve = nil, want an error")
	}
}

// TestDrainClosesUnused: a connection on which nothing was sent does not hold
// up the end of the server, nor does an idle one.
func TestDrainClosesUnused(t *testing.T) {
	t.Parallel()
	// net/http by itself would wait five seconds for the unused one, every time; a slow
	// machine may do so once.
	var took time.Duration
	for range 5 {
		if took = endingWithUnused(t); took < 4*time.Second {
			return
		}
	}
	t.Errorf("ending took %v", took)
}

// endingWithUnused returns how long a server takes to end that has an idle connection
// and one on which nothing was sent.
func endingWithUnused(t *testing.T) time.Duration {
	srv, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{Drain: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, srv, echo)
	unused := dial(t, srv)
	c := jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{})
	defer c.Close()
	if _, err := c.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	took := time.Since(start)
	if _, err := io.ReadAll(unused); err != nil {
		t.Logf("the unused connection ended with %v", err)
	}
	return took
}
