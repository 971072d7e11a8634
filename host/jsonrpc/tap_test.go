package jsonrpc_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// recorder is a tap that keeps what it is told as lines of text:
// direction, peer without port, status, body, kind of error.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) tap(opening jsonrpc.Event) func(jsonrpc.Event) {
	r.add(opening, opening.Latency == 0)
	return func(closing jsonrpc.Event) { r.add(closing, closing.Latency > 0) }
}

func (r *recorder) add(e jsonrpc.Event, timed bool) {
	host := strings.TrimPrefix(e.Peer, "http://")
	host, _, _ = strings.Cut(host, ":")
	line := fmt.Sprintf("%s %s %d %s", e.Direction, host, e.Status, e.Body)
	if e.Err != nil {
		line += fmt.Sprintf(" (%v)", kindOf(e.Err))
	}
	if !timed {
		line += fmt.Sprintf(" with latency %v", e.Latency)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// take returns the first two lines, which are one exchange, and forgets all.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines[:min(2, len(lines))]
}

// count returns the number of exchanges.
func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.lines) / 2
}

func TestServerTap(t *testing.T) {
	t.Parallel()
	rec := new(recorder)
	places := map[jsonrpc.Transport]string{
		jsonrpc.TransportHTTP:     "127.0.0.1",
		jsonrpc.TransportLoopback: "me",
		jsonrpc.TransportSTDIO:    "stdio",
	}
	for _, w := range wires(t, jsonrpc.Config{Tap: rec.tap, MaxBody: 100}, echo) {
		for _, c := range []struct {
			body, seen string
			status     int
		}{
			{body: call, seen: call, status: 200},
			{body: `{"jsonrpc":"2.0","method":"m"}`, seen: `{"jsonrpc":"2.0","method":"m"}`, status: 202},
			{body: `[]`, seen: `[]`, status: 400},
			{body: strings.Repeat("x", 101), seen: ``, status: 413},
		} {
			// An answer is recorded before it is sent.
			_, answer := w.exchange(t, c.body)
			want := []string{
				fmt.Sprintf("in %s 0 %s", places[w.transport], c.seen),
				fmt.Sprintf("out %s %d %s", places[w.transport], c.status, answer),
			}
			if diff := cmp.Diff(want, rec.take()); diff != "" {
				t.Errorf("%s, %.40s (-want +got):\n%s", w.transport, c.body, diff)
			}
		}
	}
}

func TestClientTap(t *testing.T) {
	t.Parallel()
	rec := new(recorder)
	cfg := jsonrpc.ClientConfig{Tap: rec.tap}
	network := new(jsonrpc.Loopback)
	srv := startLoopback(t, network, "P01:1", jsonrpc.Config{}, echo)
	loop := jsonrpc.NewClient(network.From("me"), cfg)
	web := newClient(t, cfg)
	for _, c := range []struct {
		client     *jsonrpc.Client
		url, place string
		want       string
	}{
		{loop, srv.URL(), "P01", `200 {"jsonrpc":"2.0","id":"1","result":{"method":"m","params":"absent"}}`},
		{loop, "http://P02:1/mcp", "P02", `0  (could not connect)`},
		{web, answers(t, 404, "{}"), "127.0.0.1", `404 {}`},
		{web, answers(t, 404, "nothing"), "127.0.0.1", `404 nothing (HTTP status)`},
		{web, answers(t, 200, "<html>"), "127.0.0.1", `200 <html> (malformed answer)`},
		{web, says(t, ""), "127.0.0.1", `0  (connection closed before the answer)`},
		{web, "nonsense", "nonsense", `0  (<nil>)`},
	} {
		_, _ = c.client.Call(t.Context(), c.url, jsonrpc.Message{Method: "m", ID: []byte(`"1"`)})
		want := []string{
			"out " + c.place + ` 0 {"jsonrpc":"2.0","id":"1","method":"m"}`,
			"in " + c.place + " " + c.want,
		}
		if diff := cmp.Diff(want, rec.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.url, diff)
		}
	}
}
