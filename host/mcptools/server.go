package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// Config says what a server offers.
type Config struct {
	// Name and Version identify the server. Instructions tell a model how to use it.
	Name, Version, Instructions string

	Tools     []Tool
	Resources []Resource
	Prompts   []Prompt

	// Validation receives a record of every call, but for tools that check their
	// own input, and of every request outside the standard; nil for none. It must be closed after the server.
	Validation *eventlog.Log
	// Logger receives failures of tools at level Error, and events of sessions at
	// level Debug. By default nothing is logged.
	Logger *slog.Logger
	// MaxCalls is the number of concurrent tool calls, by default 64. Further ones are refused as busy.
	MaxCalls int
}

// maxBody is the longest request that is read, in bytes.
const maxBody = 2 << 20

// Server serves a table of tools. Its methods are safe for concurrent use.
type Server struct {
	cfg   Config
	sdk   *mcp.Server
	chain *wire.Chain
	tools map[string]Tool

	closing context.Context // ends when Close is called, and with it every call
	close   context.CancelFunc
	held    sync.WaitGroup // what Close waits for

	mu    sync.Mutex
	calls map[*Call]context.CancelFunc // in flight
}

// New returns a server for the entries of cfg. The error names a tool whose schemas
// cannot be used, and the reason. It panics on a resource whose URI is not valid.
func New(cfg Config) (*Server, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Version = cmp.Or(cfg.Version, "0.0.0")
	cfg.MaxCalls = cmp.Or(cfg.MaxCalls, 64)
	s := &Server{cfg: cfg, tools: map[string]Tool{}, calls: map[*Call]context.CancelFunc{}}
	s.closing, s.close = context.WithCancel(context.Background())
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: cfg.Name, Version: cfg.Version}, &mcp.ServerOptions{
		Instructions: cfg.Instructions,
		Logger:       slog.New(debugHandler{cfg.Logger.Handler()}),
		// The table never changes, and log messages are not sent to clients.
		Capabilities: &mcp.ServerCapabilities{},
	})
	s.sdk.AddReceivingMiddleware(s.rename)
	var all []schema.Tool
	for _, t := range cfg.Tools {
		all = append(all, checked(t))
	}
	tools, err := schema.NewRegistry(all...)
	for _, t := range cfg.Tools {
		if err == nil {
			_, err = tools.LoadToolIO(t.Name) // report its errors now
		}
		if err != nil {
			return nil, fmt.Errorf("mcptools: %w", err)
		}
		s.addTool(t)
	}
	s.chain = wire.New(wire.Config{Registry: tools, Tools: jsonrpc.HandlerFunc(s.callByTool), Log: cfg.Validation, Errors: cfg.Logger})
	for _, r := range cfg.Resources {
		s.addResource(r)
	}
	for _, p := range cfg.Prompts {
		s.addPrompt(p)
	}
	return s, nil
}

// anything is the schema of every object.
var anything = jsontext.Value(`{"type":"object"}`)

// checked returns what the chain checks of a tool.
func checked(t Tool) schema.Tool {
	c := schema.Tool{Name: t.Name, Input: jsontext.Value(t.Input), Output: jsontext.Value(t.Output)}
	if t.Input == nil || t.ChecksInput {
		c.Input = anything
	}
	if t.Output == nil {
		c.Output = anything
	}
	return c
}

// addTool adds a tool to what clients see.
func (s *Server) addTool(t Tool) {
	shown := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Input,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, IdempotentHint: t.Idempotent,
			DestructiveHint: &t.Destructive, OpenWorldHint: &t.OpenWorld,
		},
	}
	if t.Input == nil {
		shown.InputSchema = anything
	}
	if t.Output != nil {
		shown.OutputSchema = t.Output
	}
	s.tools[t.Name] = t
	s.sdk.AddTool(shown, s.call)
}

// rename gives a call by another name of one of the protocol's messages the name of its tool.
func (s *Server) rename(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, is := req.GetParams().(*mcp.CallToolParamsRaw); is && s.tools[call.Name].Call == nil {
			t, _ := protocol.TypeOfMethod(call.Name)
			if about, known := protocol.Describe(t); known && s.tools[about.Method].Call != nil {
				call.Name = about.Method
			}
		}
		return next(ctx, method, req)
	}
}

// Close ends every session, cancels the calls in flight and waits for them, even
// for a tool that ignores its context.
func (s *Server) Close() {
	s.mu.Lock()
	s.close()
	s.mu.Unlock()
	s.held.Wait() // after it there are no new sessions
	for session := range s.sdk.Sessions() {
		_ = session.Close() // what fails in closing is gone already
	}
}

// hold makes Close cancel the context that it returns, and wait until release is called.
// It reports false if Close has been called.
func (s *Server) hold(ctx context.Context) (_ context.Context, release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return nil, nil, false
	}
	s.held.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.closing, cancel)
	return ctx, func() {
		detach()
		cancel()
		s.held.Done()
	}, true
}

// busy is why a request is not served now.
type busy string

func (b busy) Error() string { return string(b) }

const errClosing = busy("the server is shutting down")

// begin counts a new call and returns its context, which also ends when the
// client deletes the session or the server is closed.
func (s *Server) begin(ctx context.Context, c *Call) (_ context.Context, done func(), err error) {
	ctx, release, ok := s.hold(ctx)
	if !ok {
		return nil, nil, errClosing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.calls); n >= s.cfg.MaxCalls {
		release()
		return nil, nil, busy(fmt.Sprintf("%d calls are running already: try again in a moment", n))
	}
	ctx, s.calls[c] = context.WithCancel(ctx)
	return ctx, func() {
		s.mu.Lock()
		delete(s.calls, c)
		s.mu.Unlock()
		release() // and with it the context
	}, nil
}

// cancelCalls cancels the calls of a session.
func (s *Server) cancelCalls(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, cancel := range s.calls {
		if c.session == session {
			cancel()
		}
	}
}

// debugHandler logs what the SDK does at level Debug, since the SDK takes every mistake
// of a client for an error, and without the ids of sessions, which are secrets.
type debugHandler struct{ slog.Handler }

func (d debugHandler) Enabled(ctx context.Context, _ slog.Level) bool {
	return d.Handler.Enabled(ctx, slog.LevelDebug)
}

func (d debugHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, slog.LevelDebug, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "session_id" {
			out.AddAttrs(a)
		}
		return true
	})
	return d.Handler.Handle(ctx, out)
}
