package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// Config says what a server offers. The zero value of a limit means the
// default named with it.
type Config struct {
	// Name and Version identify the server; Name is required. Instructions tell
	// a model how to use the server.
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

	// MaxBody is the longest request that is read, in bytes: 1 MiB.
	MaxBody int64
	// MaxCalls is the number of concurrent tool calls: 64. Further ones are
	// refused as busy.
	MaxCalls int
	// MaxSessions is the number of HTTP sessions: 512. Further ones are refused
	// as busy. MaxSessionsPerPeer is the same for one remote address: 64; a
	// further one ends the session of that address that has been idle longest.
	MaxSessions, MaxSessionsPerPeer int
}

const (
	maxOutput   = 4 << 20          // bytes of an output of a tool
	sessionIdle = 30 * time.Minute // after which an idle session ends
)

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Version = cmp.Or(c.Version, "0.0.0")
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxCalls = cmp.Or(c.MaxCalls, 64)
	c.MaxSessions = cmp.Or(c.MaxSessions, 512)
	c.MaxSessionsPerPeer = cmp.Or(c.MaxSessionsPerPeer, 64)
	return c
}

// Server serves a table of tools. Its methods are safe for concurrent use.
type Server struct {
	cfg   Config
	sdk   *mcp.Server
	chain *wire.Chain
	tools map[string]*boundTool

	// closing ends when Close is called, and with it every call.
	closing context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	held     sync.WaitGroup    // what Close waits for; see hold
	inFlight map[*running]bool // the calls
	idle     *sync.Cond        // inFlight has become empty
	streams  map[*lines]bool   // STDIO
}

// running is a call in flight, of a session if it has one.
type running struct {
	session string
	cancel  context.CancelFunc
}

// toolName matches the names that the MCP standard allows.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`) })

// New returns a server for the entries of cfg. The error names an entry that
// cannot be served, and the reason.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if cfg.Name == "" {
		return nil, errors.New("mcptools: a server needs a name")
	}
	s := &Server{cfg: cfg, tools: map[string]*boundTool{}, inFlight: map[*running]bool{}, streams: map[*lines]bool{}}
	s.idle = sync.NewCond(&s.mu)
	s.closing, s.close = context.WithCancel(context.Background())
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: cfg.Name, Version: cfg.Version}, &mcp.ServerOptions{
		Instructions: cfg.Instructions,
		Logger:       debugLogger(cfg.Logger),
		// The table never changes, and log messages are not sent to clients.
		Capabilities: &mcp.ServerCapabilities{},
	})
	s.sdk.AddReceivingMiddleware(s.rename)
	s.chain = wire.New(wire.Config{Tools: jsonrpc.HandlerFunc(s.callByTool), Log: cfg.Validation})
	if err := errors.Join(s.addTools(), s.addResources(), s.addPrompts()); err != nil {
		return nil, fmt.Errorf("mcptools: %w", err)
	}
	return s, nil
}

// rename gives a call by another name of one of the protocol's messages the name of its tool.
func (s *Server) rename(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, is := req.GetParams().(*mcp.CallToolParamsRaw); is && s.tools[call.Name] == nil {
			t, _ := protocol.TypeOfMethod(call.Name)
			if about, known := protocol.Describe(t); known && s.tools[about.Method] != nil {
				call.Name = about.Method
			}
		}
		return next(ctx, method, req)
	}
}

func (s *Server) addTools() error {
	schemas := compiler{}
	for _, t := range s.cfg.Tools {
		if !toolName().MatchString(t.Name) {
			return fmt.Errorf("tool %q: a name has letters, digits, '_', '-' and '.', at most 128", t.Name)
		}
		if s.tools[t.Name] != nil {
			return fmt.Errorf("tool %q is listed twice", t.Name)
		}
		b, err := bind(t, schemas)
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		s.tools[t.Name] = b
		err = registered(func() {
			s.sdk.AddTool(b.describe(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return s.call(ctx, b, req)
			})
		})
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		if t.ChecksInput {
			continue
		}
		if err := s.chain.Registry().Add(b.contract()); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	return nil
}

// registered adds something to the SDK, which panics on what is invalid.
func registered(add func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	add()
	return nil
}

func (s *Server) addResources() error {
	seen := map[string]bool{}
	for _, r := range s.cfg.Resources {
		at, err := url.Parse(r.URI)
		switch {
		case !r.Template && (err != nil || !at.IsAbs()):
			return fmt.Errorf("resource %q: the URI must be absolute, such as lab://name", r.URI)
		case seen[r.URI]:
			return fmt.Errorf("resource %q is listed twice", r.URI)
		case r.Name == "" || r.Read == nil:
			return fmt.Errorf("resource %q needs a name and a function to read it", r.URI)
		}
		seen[r.URI] = true
		if err := registered(func() { s.addResource(r) }); err != nil {
			return fmt.Errorf("resource %q: %w", r.URI, err)
		}
	}
	return nil
}

func (s *Server) addPrompts() error {
	seen := map[string]bool{}
	for _, p := range s.cfg.Prompts {
		switch {
		case p.Name == "" || p.Render == nil:
			return fmt.Errorf("prompt %q needs a name and a function to render it", p.Name)
		case seen[p.Name]:
			return fmt.Errorf("prompt %q is listed twice", p.Name)
		}
		seen[p.Name] = true
		s.addPrompt(p)
	}
	return nil
}

// Close ends every session, cancels the calls in flight and waits for them, even
// for a tool that ignores its context.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	streams := slices.Collect(maps.Keys(s.streams))
	s.mu.Unlock()
	s.close()
	for _, l := range streams {
		l.end()
	}
	s.held.Wait() // after it there are no new sessions
	for session := range s.sdk.Sessions() {
		_ = session.Close() // what fails in closing is gone already
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.inFlight) > 0 {
		s.idle.Wait()
	}
}

// debugLogger returns a logger for the SDK that logs everything at level Debug,
// since the SDK takes every mistake of a client for an error.
func debugLogger(l *slog.Logger) *slog.Logger { return slog.New(debugHandler{l.Handler()}) }

type debugHandler struct{ to slog.Handler }

func (d debugHandler) Enabled(ctx context.Context, _ slog.Level) bool {
	return d.to.Enabled(ctx, slog.LevelDebug)
}

// Handle removes session ids, which are secrets.
func (d debugHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, slog.LevelDebug, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "session_id" {
			out.AddAttrs(a)
		}
		return true
	})
	return d.to.Handle(ctx, out)
}

func (d debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{d.to.WithAttrs(attrs)}
}

func (d debugHandler) WithGroup(name string) slog.Handler { return debugHandler{d.to.WithGroup(name)} }

// begin counts a new call and returns its context, which also ends when the
// client deletes the session or the server is closed.
func (s *Server) begin(ctx context.Context, session string) (_ context.Context, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errors.New("the server is shutting down")
	case len(s.inFlight) >= s.cfg.MaxCalls:
		return nil, nil, fmt.Errorf("%d calls are running already: try again in a moment", len(s.inFlight))
	}
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.closing, cancel)
	one := &running{session, cancel}
	s.inFlight[one] = true
	return ctx, func() {
		detach()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.inFlight, one); len(s.inFlight) == 0 {
			s.idle.Broadcast()
		}
	}, nil
}

// cancelCalls cancels the calls of a session.
func (s *Server) cancelCalls(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.inFlight {
		if one.session == session {
			one.cancel()
		}
	}
}

// hold makes Close wait until held.Done is called. It reports false if Close has
// been called.
func (s *Server) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.held.Add(1)
	return true
}
