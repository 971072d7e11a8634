package mcptools

import (
	"cmp"
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
	"github.com/strategylab/strategylab/host/wire"
)

// call serves one tools/call. The error is one of the MCP protocol; an error of
// the tool is part of the result.
func (s *Server) call(ctx context.Context, b *boundTool, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	session := req.Session.ID()
	ctx, done, err := s.begin(ctx, session)
	if err != nil {
		return errorResult(err), nil
	}
	defer done()
	input := json.RawMessage(req.Params.Arguments)
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	if v := jsontext.Value(input); !v.IsValid() || v.Kind() != '{' {
		return errorResult(b.invalid(errors.New("it is no JSON object in UTF-8 without duplicate names"))), nil
	}
	c := &Call{Tool: b.tool.Name, Input: input, Session: session}
	origin(c, req)
	stop := report(ctx, c, req)
	output, err := s.runChecked(ctx, b, c)
	stop()
	if refusal := wire.Canonical(err); refusal != nil && refusal.Canonical == protocol.CanonicalInvalidToolInput {
		err = b.invalid(cmp.Or(b.input.check(c.Input), error(refusal)))
	}
	return s.result(ctx, b, output, err)
}

// result returns what the standard sends for the end of a call.
func (s *Server) result(ctx context.Context, b *boundTool, output json.RawMessage, err error) (*mcp.CallToolResult, error) {
	if err != nil {
		return s.refused(ctx, b, err)
	}
	if output == nil {
		return &mcp.CallToolResult{}, nil
	}
	return structured(output, string(output)), nil
}

// errOutput stands for an output that breaks its schema; checkOwn has logged it.
var errOutput = errors.New("the tool breaks its own schema")

// runChecked takes a call through the chain: the input must keep its schema
// before the tool is called, and the output before it is sent. The chain does
// not see a call of a tool that checks its own input. It refuses a tool that does
// not exist, which is nil.
func (s *Server) runChecked(ctx context.Context, b *boundTool, c *Call) (json.RawMessage, error) {
	if b != nil && b.tool.ChecksInput {
		output, err := s.runTool(ctx, b, c)
		if err == nil {
			err = s.checkOwn(ctx, b, "output", b.output, output)
		}
		return output, err
	}
	var output json.RawMessage
	var own error // of the tool itself
	_, err := s.chain.Call(ctx, wire.Call{
		Transport: c.Transport, Route: c.Route, Tool: c.Tool, Input: jsontext.Value(c.Input),
	}, func(ctx context.Context) (_ jsontext.Value, err error) {
		output, err = s.runTool(ctx, b, c)
		if errors.Is(err, errPanicked) {
			return nil, err
		}
		if own = err; own != nil {
			err = wire.ErrDeclined
		}
		return jsontext.Value(output), err
	})
	if own != nil {
		return nil, own
	}
	switch refusal := wire.Canonical(err); {
	case refusal == nil:
		return output, err
	case refusal.Canonical != protocol.CanonicalInternalError:
		return nil, refusal
	default:
		return nil, cmp.Or(s.checkOwn(ctx, b, "output", b.output, output), err) // which logs what is wrong
	}
}

// invalid returns the error for an input that breaks its schema.
func (b *boundTool) invalid(err error) error {
	return fmt.Errorf("the input of %s is not valid: %w; see its input schema", b.tool.Name, err)
}

// errPanicked stands for a panic of a tool; runTool has logged it.
var errPanicked = errors.New("the tool panicked")

func (s *Server) runTool(ctx context.Context, b *boundTool, c *Call) (output json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "tool panicked", slog.String("tool", c.Tool),
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
			err = errPanicked
		}
	}()
	output, err = b.tool.Call(ctx, c)
	switch {
	case b.tool.ChecksInput || err != nil:
	case output == nil && b.output == nil:
		output = json.RawMessage(`{}`)
	case len(output) > maxOutput:
		err = fmt.Errorf("the answer of %s is longer than %d bytes: ask for less", c.Tool, maxOutput)
	}
	return output, err
}

// refused returns the result for an error of a tool.
func (s *Server) refused(ctx context.Context, b *boundTool, err error) (*mcp.CallToolResult, error) {
	refusal, ok := errors.AsType[*Refusal](err)
	broken := wire.Canonical(err) != nil
	switch {
	case broken, errors.Is(err, errPanicked), errors.Is(err, errOutput):
		return nil, internal()
	case !ok || refusal.Structured == nil:
		return errorResult(err), nil
	}
	if s.checkOwn(ctx, b, "refusal", b.refusal, refusal.Structured) != nil {
		return nil, internal()
	}
	res := structured(refusal.Structured, string(refusal.Structured))
	if refusal.Text != "" {
		res.Content = append([]mcp.Content{&mcp.TextContent{Text: refusal.Text}}, res.Content...)
	}
	res.IsError = true
	return res, nil
}

// checkOwn validates what a tool returned against the tool's own schema. It logs a
// violation, which is a bug of the tool, and returns errOutput.
func (s *Server) checkOwn(ctx context.Context, b *boundTool, what string, schema *validator, doc json.RawMessage) error {
	err := errors.New("it is no JSON object without duplicate names")
	if v := jsontext.Value(doc); v.IsValid() && v.Kind() == '{' {
		err = schema.check(doc)
	}
	if err == nil {
		return nil
	}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "tool breaks its own schema",
		slog.String("tool", b.tool.Name), slog.String("schema", what), slog.String("error", err.Error()))
	return errOutput
}

// structured returns a result with structured content, and a text for clients that
// do not read that.
func structured(doc json.RawMessage, text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{StructuredContent: doc, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// errorResult returns a failed result with the text of an error.
func errorResult(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}

// internal returns the canonical INTERNAL_ERROR.
func internal() error {
	e := wire.Response(&protocol.Error{Canonical: protocol.CanonicalInternalError}).Error
	return &sdkrpc.Error{Code: int64(e.Code), Message: e.Message, Data: json.RawMessage(e.Data)}
}

// origin sets the fields of a call that describe its request.
func origin(c *Call, req *mcp.CallToolRequest) {
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

// progressEvery is the shortest interval between reports of progress.
const progressEvery = 100 * time.Millisecond

// report makes c report progress until stop, if the client has asked for it.
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
		// The call continues even if the client is gone.
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
