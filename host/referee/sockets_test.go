package referee_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// What players may do to a connection: the match is lost, and the league goes on.
func TestPlayersThatMisbehaveOnSockets(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() },
		"closes in mid-body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0",`))
			panic(http.ErrAbortHandler)
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"streams for ever": func(w http.ResponseWriter, req *http.Request) {
			for req.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
		"answers with a page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"redirects":           func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/x"); w.WriteHeader(307) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				_, _ = io.Copy(io.Discard, req.Body) // or the server does not see that the client has left
				handler(w, req)
			}))
			defer odd.Close()
			client := jsonrpc.OverHTTP()
			r := newRig(t, func(c *referee.Config) {
				// Long enough for the good player on a busy machine, too.
				c.JoinTimeout, c.ChoiceTimeout, c.Timeout = 3*time.Second, 30*time.Second, 30*time.Second
				c.Backoff = game.Backoff{Retries: 1, First: time.Millisecond, Most: time.Millisecond}
				c.Caller = &wire.Caller{Client: jsonrpc.NewClient(client, jsonrpc.ClientConfig{MaxAnswer: 1 << 20}), Codec: dialect.NewCodec(protocol.Tolerant)}
			})
			serve := func(who string, s script) string {
				srv, err := jsonrpc.Listen(r.ctx, "127.0.0.1:0", jsonrpc.Config{})
				if err != nil {
					t.Fatal(err)
				}
				r.serving.Go(func() {
					_ = srv.Serve(r.ctx, jsonrpc.HandlerFunc(func(ctx context.Context, req *jsonrpc.Request) jsonrpc.Response {
						return s(ctx, r.hear(who, req))
					}))
				})
				return srv.URL()
			}
			r.cfg.Manager = wire.NewPeer(serve("manager", keeps), dialect.Contracts)
			good := serve("P01", plays("even"))
			r.run()
			r.must(round(with(match("R1M1", "P01", "P02"), "player_A_endpoint", good, "player_B_endpoint", odd.URL+"/mcp")))
			result := r.reports(1)[0].body["result"].(obj)
			if score := fmt.Sprint(result["score"]); score != "map[P01:3 P02:0]" {
				t.Errorf("reported %v", result)
			}
			r.end()
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
