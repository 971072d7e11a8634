package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/mcptools"
)

// TestEverythingIsServed asks for all there is, over both transports.
func TestEverythingIsServed(t *testing.T) {
	t.Parallel()
	srv := newServer(t, newTable().config())
	for name, c := range clients(t, srv, nil) {
		t.Run(name, func(t *testing.T) {
			if got := c.InitializeResult(); got.Instructions != "Use it." {
				t.Errorf("instructions %q", got.Instructions)
			}
			tools, err := c.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 8 || tools.Tools[1].Name != "double" || !tools.Tools[1].Annotations.ReadOnlyHint {
				t.Errorf("%+v, %v", tools, err)
			}
			if res := call(t, c, "double", map[string]int{"n": 21}); textOf(res) != `{"n":42}` || asJSON(res.StructuredContent) != `{"n":42}` || res.IsError {
				t.Errorf("%+v", res)
			}
			read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://hello"})
			if err != nil || read.Contents[0].Text != "# Hello" || read.Contents[0].MIMEType != "text/markdown" {
				t.Errorf("%+v, %v", read, err)
			}
			read, err = c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://items/one"})
			if err != nil || !bytes.Equal(read.Contents[0].Blob, []byte{1, 2, 3}) {
				t.Errorf("%+v, %v", read, err)
			}
			if _, err = c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://items/two"}); code(err) != sdkrpc.CodeInvalidParams {
				t.Errorf("a resource that is not there: %v", err)
			}
			prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Ada"}})
			if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Greet Ada" {
				t.Errorf("%+v, %v", prompt, err)
			}
			if _, err = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"whom": "Ada"}}); code(err) != sdkrpc.CodeInvalidParams || !strings.Contains(err.Error(), `"whom"`) {
				t.Errorf("a prompt with an argument that there is not: %v", err)
			}
		})
	}
}

// TestFailures: each kind of failure reaches the client in its own way.
func TestFailures(t *testing.T) {
	t.Parallel()
	cfg := newTable().config()
	var logged syncBuffer
	cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
	srv := newServer(t, cfg)
	for name, c := range clients(t, srv, nil) {
		t.Run(name, func(t *testing.T) {
			for _, f := range []struct {
				tool, input, text, structured string
			}{
				{"double", `{"n":"x"}`, `/n is of type string, want integer`, ""},
				{"double", `{}`, `/n is missing`, ""},
				{"fail", `{}`, "no dice: roll again", ""},
				{"choose_parity", `{}`, "not now", `{"code":"E007"}`}, // another name of it
			} {
				res := call(t, c, f.tool, json.RawMessage(f.input))
				if !res.IsError || !strings.Contains(textOf(res), f.text) {
					t.Errorf("%s %s: %q, want an error with %q", f.tool, f.input, textOf(res), f.text)
				}
				if f.structured != "" && asJSON(res.StructuredContent) != f.structured {
					t.Errorf("%s: structured content %v, want %s", f.tool, res.StructuredContent, f.structured)
				}
			}
			for _, tool := range []string{"panic", "wrong"} {
				_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
				if code(err) != sdkrpc.CodeInternalError || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v, want an internal error that gives nothing away", tool, err)
				}
			}
			if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); code(err) != sdkrpc.CodeInvalidParams {
				t.Errorf("an unknown tool: %v", err)
			}
			if _, err := c.ListTools(t.Context(), nil); err != nil {
				t.Errorf("after all this: %v", err)
			}
		})
	}
	for _, want := range []string{"tool panicked", "breaks its schema", "Path:/n Rule:type"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, logged.String())
		}
	}
	if strings.Contains(logged.String(), "level=INFO") {
		t.Errorf("the log tells of sessions:\n%s", logged.String())
	}
}

// TestProgressAndCancellation: a call tells how far it has come and ends when
// it is cancelled, over both transports.
func TestProgressAndCancellation(t *testing.T) {
	t.Parallel()
	tb := newTable()
	srv := newServer(t, tb.config())
	progress := make(chan string, 16)
	for name, c := range clients(t, srv, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			progress <- req.Params.Message
		},
	}) {
		t.Run(name, func(t *testing.T) {
			params := &mcp.CallToolParams{Name: "count"}
			params.SetProgressToken("tok")
			if _, err := c.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			if a, b := <-progress, <-progress; a != "one" || b != "three" {
				t.Errorf("progress %q, %q, want one, three", a, b)
			}
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
				failed <- err
			}()
			<-tb.entered
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("the client: %v", err)
			}
			if err := <-tb.left; !errors.Is(err, context.Canceled) {
				t.Errorf("the tool: %v", err)
			}
		})
	}
	select {
	case extra := <-progress:
		t.Errorf("progress %q that was not asked for or had not grown", extra)
	default:
	}
}

// TestNewSaysWhatIsWrong: a table that cannot be served is an error that says
// where.
func TestNewSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	do := func(context.Context, *mcptools.Call) (json.RawMessage, error) { return nil, nil }
	tool := func(t mcptools.Tool) mcptools.Config { return mcptools.Config{Name: "n", Tools: []mcptools.Tool{t}} }
	for want, cfg := range map[string]mcptools.Config{
		`input schema: json`:            tool(mcptools.Tool{Name: "a", Call: do, Input: json.RawMessage(`{"type":1}`)}),
		`output schema: `:               tool(mcptools.Tool{Name: "a", Call: do, Output: json.RawMessage(`{`)}),
		`this keyword is not supported`: tool(mcptools.Tool{Name: "a", Call: do, Input: json.RawMessage(`{"type":"object","$ref":"https://example.org/x.json"}`)}),
		`within "/required"`:            tool(mcptools.Tool{Name: "a", Call: do, Input: json.RawMessage(`{"type":"object","required":1}`)}),
		`tool "a": the name is in use`:  {Name: "n", Tools: []mcptools.Tool{{Name: "a", Call: do}, {Name: "a", Call: do}}},
	} {
		if _, err := mcptools.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want an error with %q", err, want)
		}
	}
}

func code(err error) int64 {
	if e, ok := errors.AsType[*sdkrpc.Error](err); ok {
		return e.Code
	}
	return 0
}

// asJSON returns a value as JSON, with keys in order.
func asJSON(v any) string {
	text, _ := json.Marshal(v) // is from JSON
	return string(text)
}

// syncBuffer is a buffer for a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
