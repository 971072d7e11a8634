package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// bound is a tool with its schemas compiled.
type bound struct {
	tool                   Tool
	input, output, refusal *schema
	shown                  json.RawMessage // the output schema that clients see
}

func bind(t Tool) (*bound, error) {
	if t.Call == nil {
		return nil, errors.New("it has no function to call")
	}
	if t.Input == nil {
		t.Input = json.RawMessage(`{"type":"object"}`)
	}
	b := &bound{tool: t, shown: t.Output}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		to   **schema
	}{{"input", t.Input, &b.input}, {"output", t.Output, &b.output}, {"refusal", t.Refusal, &b.refusal}} {
		if part.raw == nil {
			continue
		}
		compiled, err := compile(part.raw)
		if err != nil {
			return nil, fmt.Errorf("its %s schema: %w", part.name, err)
		}
		*part.to = compiled
	}
	if t.Output != nil && t.Refusal != nil {
		var err error
		if b.shown, err = either(t.Output, t.Refusal); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// call serves one tools/call. The error it returns is one of the protocol;
// what the tool itself has to say is in the result.
func (s *Server) call(ctx context.Context, b *bound, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	session := req.Session.ID()
	ctx, done, err := s.begin(ctx, session)
	if err != nil {
		return told(err), nil
	}
	defer done()
	input := json.RawMessage(req.Params.Arguments)
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	if err := b.admit(input); err != nil {
		return told(fmt.Errorf("the input of %s is not valid: %w; see its input schema", b.tool.Name, err)), nil
	}
	c := &Call{Tool: b.tool.Name, Input: input, Session: session}
	whence(c, req)
	stop := report(ctx, c, req)
	output, err := s.guarded(ctx, b, c)
	stop()
	if err != nil {
		return s.refused(ctx, b, err)
	}
	return s.answered(ctx, b, output)
}

// admit holds input to what every input must keep, and to the schema.
func (b *bound) admit(input json.RawMessage) error {
	if !jsontext.Value(input).IsValid() {
		return errors.New("it is not JSON in UTF-8 without duplicate names")
	}
	if jsontext.Value(input).Kind() != '{' {
		return errors.New("it is no JSON object")
	}
	if b.tool.Guarded {
		return nil
	}
	return b.input.check(input)
}

// errPanicked stands for a tool that panicked; it is logged where it happened.
var errPanicked = errors.New("the tool panicked")

func (s *Server) guarded(ctx context.Context, b *bound, c *Call) (output json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a tool panicked", slog.String("tool", c.Tool),
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
			err = errPanicked
		}
	}()
	return b.tool.Call(ctx, c)
}

// answered sends what a tool returned, if it may be sent.
func (s *Server) answered(ctx context.Context, b *bound, output json.RawMessage) (*mcp.CallToolResult, error) {
	if output == nil && b.output == nil {
		return &mcp.CallToolResult{}, nil
	}
	if len(output) > s.cfg.MaxOutput {
		return told(fmt.Errorf("the answer of %s is longer than %d bytes: ask for less", b.tool.Name, s.cfg.MaxOutput)), nil
	}
	if err := s.sendable(ctx, b, "output", b.output, output); err != nil {
		return nil, err
	}
	return structured(output, string(output)), nil
}

// refused tells the client what a tool refused.
func (s *Server) refused(ctx context.Context, b *bound, err error) (*mcp.CallToolResult, error) {
	if errors.Is(err, errPanicked) {
		return nil, internal()
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || refusal.Structured == nil {
		return told(err), nil
	}
	if err := s.sendable(ctx, b, "refusal", b.refusal, refusal.Structured); err != nil {
		return nil, err
	}
	res := structured(refusal.Structured, string(refusal.Structured))
	if refusal.Text != "" {
		res.Content = append([]mcp.Content{&mcp.TextContent{Text: refusal.Text}}, res.Content...)
	}
	res.IsError = true
	return res, nil
}

// sendable reports, as an error of the protocol, that something must not be
// sent because it does not keep its own schema. That is the tool's fault: it is
// logged, and the client learns no more than that.
func (s *Server) sendable(ctx context.Context, b *bound, what string, schema *schema, doc json.RawMessage) error {
	err := errors.New("it is no JSON object without duplicate names")
	if v := jsontext.Value(doc); v.IsValid() && v.Kind() == '{' {
		err = schema.check(doc)
	}
	if err == nil {
		return nil
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a tool does not keep its own schema",
		slog.String("tool", b.tool.Name), slog.String("schema", what), slog.String("error", err.Error()))
	return internal()
}

// structured is a result with structured content, and beside it a text of it
// for clients that read no other.
func structured(doc json.RawMessage, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{StructuredContent: doc, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// told is a failure told by the text of an error.
func told(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}

// internal is the canonical INTERNAL_ERROR.
func internal() error {
	row, err := protocol.Canonical(protocol.CanonicalInternalError)
	if err != nil {
		return err
	}
	return &sdkrpc.Error{
		Code: int64(row.RPC), Message: row.Message,
		Data: json.RawMessage(`{"canonical":"` + row.Code + `","violations":[]}`),
	}
}

// begin counts a call that begins and returns its context, which also ends
// when the session is given up or the server is closed.
func (s *Server) begin(ctx context.Context, session string) (_ context.Context, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errors.New("the server is shutting down")
	case s.calls >= s.cfg.MaxCalls:
		return nil, nil, fmt.Errorf("%d calls are under way already: try again in a moment", s.calls)
	}
	s.calls++
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.closing, cancel)
	one := &ongoing{cancel}
	if s.hanging[session] == nil {
		s.hanging[session] = map[*ongoing]bool{}
	}
	s.hanging[session][one] = true
	return ctx, func() {
		detach()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hanging[session], one)
		if len(s.hanging[session]) == 0 {
			delete(s.hanging, session)
		}
		if s.calls--; s.calls == 0 {
			s.idle.Broadcast()
		}
	}, nil
}

// giveUp cancels the calls of a session.
func (s *Server) giveUp(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.hanging[session] {
		one.cancel()
	}
}

// progressEvery is how often progress is told at most.
const progressEvery = 100 * time.Millisecond

// report has c tell its progress to the client that asked for it, until stop.
func report(ctx context.Context, c *Call, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	var (
		mu      sync.Mutex
		stopped bool
		last    = -1.0
		at      time.Time
	)
	c.progress = func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		now, final := time.Now(), total > 0 && done >= total
		if stopped || done <= last || (!final && now.Sub(at) < progressEvery) {
			return
		}
		last, at = done, now
		// A client that is gone hears of no progress; the call goes on.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: total, Message: message,
		})
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
	}
}

// whence fills in where a call came from.
func whence(c *Call, req *mcp.CallToolRequest) {
	if req.Extra == nil || req.Extra.Header == nil {
		c.Transport, c.Route, c.RemoteAddr = jsonrpc.TransportSTDIO, "stdio", "stdio"
		return
	}
	h := req.Extra.Header.Clone()
	take := func(name string) string {
		value := ""
		if v := h[name]; len(v) > 0 {
			value = v[0]
		}
		delete(h, name)
		return value
	}
	c.Transport = jsonrpc.TransportHTTP
	c.Route, c.RemoteAddr, c.Host = take(pseudoRoute), take(pseudoRemote), take(pseudoHost)
	c.Header = h
}
