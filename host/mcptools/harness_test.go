package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/mcptools"
)

// table is a server's tools in tests. Its functions wait for nothing but what
// a test hands them.
type table struct {
	entered chan struct{} // wait has been called
	left    chan error    // why wait returned
}

func newTable() *table { return &table{make(chan struct{}, 16), make(chan error, 16)} }

func (tb *table) config() mcptools.Config {
	number := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	object := json.RawMessage(`{"type":"object"}`)
	return mcptools.Config{
		Name: "test", Version: "1.2.3", Instructions: "Use it.",
		Tools: []mcptools.Tool{
			{Name: "double", Title: "Double", Description: "doubles n", Input: number, Output: number, ReadOnly: true,
				Call: func(_ context.Context, c *mcptools.Call) (json.RawMessage, error) {
					var in struct{ N int }
					if err := json.Unmarshal(c.Input, &in); err != nil {
						return nil, err
					}
					return fmt.Appendf(nil, `{"n":%d}`, 2*in.N), nil
				}},
			{Name: "wait", Input: object, Call: func(ctx context.Context, _ *mcptools.Call) (json.RawMessage, error) {
				tb.entered <- struct{}{}
				<-ctx.Done()
				tb.left <- ctx.Err()
				return nil, ctx.Err()
			}},
			{Name: "count", Input: object, Call: func(_ context.Context, c *mcptools.Call) (json.RawMessage, error) {
				c.Progress(1, 3, "one")
				c.Progress(1, 3, "again")
				c.Progress(3, 3, "three")
				return json.RawMessage(`{"counted":3}`), nil
			}},
			{Name: "fail", Call: func(context.Context, *mcptools.Call) (json.RawMessage, error) {
				return nil, fmt.Errorf("no dice: roll again")
			}},
			{Name: "parity_choose", Output: json.RawMessage(`{"type":"object","required":["code"]}`),
				Call: func(context.Context, *mcptools.Call) (json.RawMessage, error) {
					return nil, &mcptools.Refusal{Text: "not now", Structured: json.RawMessage(`{"code":"E007"}`)}
				}},
			{Name: "panic", Call: func(context.Context, *mcptools.Call) (json.RawMessage, error) { panic("secret") }},
			{Name: "wrong", Output: number, Call: func(context.Context, *mcptools.Call) (json.RawMessage, error) {
				return json.RawMessage(`{"n":"secret"}`), nil
			}},
			{Name: "whence", Call: func(_ context.Context, c *mcptools.Call) (json.RawMessage, error) {
				return json.Marshal(map[string]string{
					"transport": string(c.From.Transport), "route": c.From.Route, "remote": c.From.RemoteAddr, "host": c.From.Host, "x": c.From.Header.Get("X-Test"),
				})
			}},
		},
		Resources: []mcptools.Resource{
			{URI: "test://hello", Name: "hello", MIME: "text/markdown",
				Read: func(context.Context, string) ([]byte, error) { return []byte("# Hello"), nil }},
			{URI: "test://items/{name}", Template: true, Name: "items", MIME: "application/octet-stream",
				Read: func(_ context.Context, uri string) ([]byte, error) {
					if uri != "test://items/one" {
						return nil, mcptools.ErrNoResource
					}
					return []byte{1, 2, 3}, nil
				}},
		},
		Prompts: []mcptools.Prompt{{Name: "greet", Arguments: []*mcptools.Argument{{Name: "who"}},
			Render: func(_ context.Context, args map[string]string) (string, error) { return "Greet " + args["who"], nil }}},
	}
}

func newServer(t *testing.T, cfg mcptools.Config) *mcptools.Server {
	t.Helper()
	srv, err := mcptools.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// listen serves srv over HTTP beside an endpoint that echoes methods, until end is called.
func listen(t *testing.T, srv *mcptools.Server) (url string, end func()) {
	t.Helper()
	s, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{Other: srv.Handler(), Divert: mcptools.Wanted, Drain: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.Serve(ctx, echo); err != nil {
			t.Error(err)
		}
	})
	end = func() {
		cancel()
		served.Wait()
	}
	t.Cleanup(end)
	return s.URL(), end
}

// echo answers with the method.
var echo = jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
	result, err := json.Marshal(map[string]string{"league": req.Method})
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Result: result}
})

// clients connects a client over each transport, in both generations of the
// protocol.
func clients(t *testing.T, srv *mcptools.Server, opts *mcp.ClientOptions) map[string]*mcp.ClientSession {
	t.Helper()
	all := map[string]*mcp.ClientSession{}
	url, _ := listen(t, srv)
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		all["HTTP "+version] = overHTTP(t, url, opts, version)
		all["STDIO "+version] = overPipe(t, srv, opts, version)
	}
	return all
}

func overHTTP(t *testing.T, url string, opts *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	return connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: own}}, opts, version)
}

// overPipe serves srv on a pair of pipes.
func overPipe(t *testing.T, srv *mcptools.Server, opts *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var served sync.WaitGroup
	served.Go(func() {
		if err := srv.ServeStdio(t.Context(), toServer, fromServer); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		fromServer.Close()
	})
	session := connect(t, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, opts, version)
	t.Cleanup(served.Wait)
	t.Cleanup(func() { fromClient.Close() })
	return session
}

func connect(t *testing.T, transport mcp.Transport, opts *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, opts).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call calls a tool that is expected to be answered.
func call(t *testing.T, session *mcp.ClientSession, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

// textOf returns the text of a result.
func textOf(res *mcp.CallToolResult) string {
	all := ""
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			all += text.Text
		}
	}
	return all
}
