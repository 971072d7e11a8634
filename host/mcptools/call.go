package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// maxOutput bounds the output of a tool, in bytes.
const maxOutput = 4 << 20

// newCall returns a call whose input may be absent.
func newCall(from *jsonrpc.Request, tool string, input json.RawMessage) *Call {
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	return &Call{Tool: tool, Input: input, From: from}
}

// call serves one tools/call by the standard. The error is one of the MCP protocol; an
// error of the tool is part of the result.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := newCall(requestOf(ctx, req.Extra), req.Params.Name, req.Params.Arguments)
	c.session = req.Session.ID()
	c.report(ctx, req)
	output, err := s.checked(ctx, c)
	if refusal := wire.Canonical(err); refusal != nil && refusal.Canonical == protocol.CanonicalInvalidToolInput {
		err = fmt.Errorf("the input of %s is not valid: %w; see its input schema", c.Tool, s.broken(c))
	}
	return result(output, err)
}

// broken lists what the input of a call breaks, without repeating values.
func (s *Server) broken(c *Call) error {
	if v := jsontext.Value(c.Input); !v.IsValid() || v.Kind() != '{' {
		return errors.New("it is no JSON object in UTF-8 without duplicate names")
	}
	v, err := schema.Compile(jsontext.Value(s.tools[c.Tool].Input)) // as New did, which keeps no words
	if err != nil {
		return err
	}
	found, err := v.ValidateJSON(jsontext.Value(c.Input))
	if err != nil {
		return err
	}
	var all []string
	for _, f := range found {
		all = append(all, f.String())
	}
	slices.Sort(all)
	return errors.New(cmp.Or(strings.Join(slices.Compact(all), "; "), "it has too many values"))
}

// result returns what the standard sends for the end of a call.
func result(output json.RawMessage, err error) (*mcp.CallToolResult, error) {
	refusal, refused := errors.AsType[*Refusal](err)
	switch broken := wire.Canonical(err); {
	case broken != nil:
		e := wire.Response(broken).Error
		return nil, &sdkrpc.Error{Code: int64(e.Code), Message: e.Message, Data: json.RawMessage(e.Data)}
	case refused:
		return &mcp.CallToolResult{IsError: true, StructuredContent: output, Content: texts(refusal.Text, string(output))}, nil
	case err != nil:
		return &mcp.CallToolResult{IsError: true, Content: texts(err.Error())}, nil
	}
	return &mcp.CallToolResult{StructuredContent: output, Content: texts(string(output))}, nil
}

func texts(all ...string) []mcp.Content {
	var out []mcp.Content
	for _, text := range all {
		out = append(out, &mcp.TextContent{Text: text})
	}
	return out
}

// checked takes a call through the chain: the tool must exist, the input must keep its
// schema before the tool is called, and the output, or the content of a *Refusal, before
// it is sent. The error is canonical, or the tool's own, for the client.
func (s *Server) checked(ctx context.Context, c *Call) (json.RawMessage, error) {
	var declined *Refusal
	output, err := s.chain.Call(ctx, c.From, c.Tool, jsontext.Value(c.Input), func(ctx context.Context) (jsontext.Value, error) {
		output, err := s.run(ctx, c)
		if errors.As(err, &declined) {
			return jsontext.Value(declined.Structured), nil
		}
		return jsontext.Value(output), err
	})
	if err == nil && declined != nil {
		err = declined
	}
	return json.RawMessage(output), err
}

// run runs the tool of a call. The error is the tool's own or, if it panicked, canonical.
func (s *Server) run(ctx context.Context, c *Call) (output json.RawMessage, err error) {
	ctx, done, err := s.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	defer done()
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "tool panicked", slog.String("tool", c.Tool),
				slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
			err = &protocol.Error{Canonical: protocol.CanonicalInternalError}
		}
	}()
	output, err = s.tools[c.Tool].Call(ctx, c)
	if len(output) > maxOutput {
		err = fmt.Errorf("the answer of %s is longer than %d bytes: ask for less", c.Tool, maxOutput)
	}
	return output, err
}

// progressEvery is the shortest interval between reports of progress.
const progressEvery = 100 * time.Millisecond

// report makes c report progress until ctx ends, if the client has asked for it.
func (c *Call) report(ctx context.Context, req *mcp.CallToolRequest) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	var (
		mu   sync.Mutex
		last = -1.0
		at   time.Time
	)
	c.progress = func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		now, final := time.Now(), total > 0 && done >= total
		if ctx.Err() != nil || done <= last || (!final && now.Sub(at) < progressEvery) {
			return
		}
		last, at = done, now
		// The call continues even if the client is gone.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: total, Message: message,
		})
	}
}
