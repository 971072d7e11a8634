package jsonrpc_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func TestLoopbackNames(t *testing.T) {
	t.Parallel()
	network := new(jsonrpc.Loopback)
	var urls []string
	for _, host := range []string{"P01", "manager:8000"} {
		srv, err := network.Listen(host, jsonrpc.Config{})
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, srv.URL())
	}
	want := []string{"http://P01/mcp", "http://manager:8000/mcp"}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := network.Listen("P01", jsonrpc.Config{}); err == nil {
		t.Error("a name was taken twice")
	}
	if _, err := network.Listen("P01", jsonrpc.Config{Path: "/other"}); err != nil {
		t.Errorf("another path under the same name: %v", err)
	}
	c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{})
	for _, url := range []string{"http://P02/mcp", "http://P01/", "http://p01/mcp", ""} {
		if _, err := c.Call(t.Context(), url, jsonrpc.Message{Method: "m"}); kindOf(err) != jsonrpc.ErrConnect {
			t.Errorf("calling %q: %v, want ErrConnect", url, err)
		}
	}
}

// TestLoopbackClose: who waits for a server that never serves gets an error.
func TestLoopbackClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := new(jsonrpc.Loopback)
		srv, err := network.Listen("P01", jsonrpc.Config{})
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() {
			c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{})
			_, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "m"})
			waiting <- err
		}()
		synctest.Wait()
		if err := errors.Join(srv.Close(), srv.Close()); err != nil {
			t.Error(err)
		}
		if err := <-waiting; kindOf(err) != jsonrpc.ErrConnect {
			t.Errorf("%v, want ErrConnect", err)
		}
		if _, err := network.Listen("P01", jsonrpc.Config{}); err != nil {
			t.Errorf("the name is not free afterwards: %v", err)
		}
	})
}

// TestLoopbackTimeout: the caller leaves at its deadline to the second, though
// the handler does not look at its context.
func TestLoopbackTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := new(jsonrpc.Loopback)
		srv, err := network.Listen("P01", jsonrpc.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{})
		start := time.Now()
		_, err = c.Call(context.Background(), srv.URL(), jsonrpc.Message{Method: "m"})
		if d := time.Since(start); kindOf(err) != jsonrpc.ErrTimeout || d != 10*time.Second {
			t.Errorf("nobody serves: %v after %v, want ErrTimeout after 10s", err, d)
		}
		stop := serve(t, srv, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
			<-time.After(time.Minute)
			return jsonrpc.Response{Result: []byte("1")}
		}))
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		start = time.Now()
		_, err = c.Call(ctx, srv.URL(), jsonrpc.Message{Method: "m"})
		if d := time.Since(start); kindOf(err) != jsonrpc.ErrTimeout || d != 5*time.Second {
			t.Errorf("a deaf handler: %v after %v, want ErrTimeout after 5s", err, d)
		}
		if err := stop(); err == nil {
			t.Error("Serve = nil, want an error: the deaf handler outlived the drain period")
		}
	})
}

// TestLoopbackMemory: neither side can change what the other holds.
func TestLoopbackMemory(t *testing.T) {
	t.Parallel()
	cached := []byte(`{"message_type":"X"}`)
	var kept *jsonrpc.Request
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		kept = req
		return jsonrpc.Response{Body: cached}
	})
	network := new(jsonrpc.Loopback)
	srv := startLoopback(t, network, "P01", jsonrpc.Config{}, h)
	c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{})
	body, header := []byte(call), http.Header{"X": {"1"}}
	answer, err := c.Call(context.Background(), srv.URL(), jsonrpc.Message{Body: body, Header: header})
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	clear(answer.Raw)
	header.Set("X", "2")
	if string(kept.Raw) != call || kept.Header.Get("X") != "1" || !bytes.Equal(cached, []byte(`{"message_type":"X"}`)) {
		t.Errorf("the handler holds %q with %v and %q", kept.Raw, kept.Header, cached)
	}
}

// TestLoopbackCancelled: a handler's answer to a caller that has gone is nobody's, though the
// caller was not waiting for it yet.
func TestLoopbackCancelled(t *testing.T) {
	t.Parallel()
	network := new(jsonrpc.Loopback)
	cancels := make(chan context.CancelFunc, 1)
	srv := startLoopback(t, network, "P01", jsonrpc.Config{}, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		(<-cancels)()
		return jsonrpc.Response{Result: []byte("1")}
	}))
	c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{})
	for range 2000 { // enough to meet the one that does not wait yet
		ctx, cancel := context.WithCancel(t.Context())
		cancels <- cancel
		if _, err := c.Call(ctx, srv.URL(), jsonrpc.Message{Method: "m"}); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, want context.Canceled", err)
		}
	}
}

func TestLoopbackAnswerTooLarge(t *testing.T) {
	t.Parallel()
	network := new(jsonrpc.Loopback)
	srv := startLoopback(t, network, "P01", jsonrpc.Config{}, echo)
	c := jsonrpc.NewClient(network.From("me"), jsonrpc.ClientConfig{MaxAnswer: 20})
	if _, err := c.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); kindOf(err) != jsonrpc.ErrTooLarge {
		t.Errorf("%v, want ErrTooLarge", err)
	}
}
