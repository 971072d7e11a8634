package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire"
)

// servePlain serves a client that knows only JSON-RPC.
func (w *web) servePlain(res http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(res, req.Body, w.cfg.MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		http.Error(res, "the body is too long", http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		return // nobody waits for an answer
	}
	rpc := &jsonrpc.Request{
		Raw: raw, Transport: jsonrpc.TransportHTTP, Route: req.URL.Path, RemoteAddr: req.RemoteAddr, Host: req.Host, Header: req.Header,
	}
	standard := false
	status, body := jsonrpc.Serve(req.Context(), rpc, jsonrpc.HandlerFunc(func(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
		if standard = Wanted(rpc); standard {
			return jsonrpc.Response{Result: jsontext.Value("null")}
		}
		return w.Server.plain(ctx, rpc)
	}), jsonrpc.Config{MaxBody: w.cfg.MaxBody, Refuse: w.chain.Refuse, Logger: w.cfg.Logger})
	if standard {
		req = marked(req)
		req.Body = io.NopCloser(bytes.NewReader(raw))
		req.Header.Set("Accept", "application/json, text/event-stream")
		w.plain.ServeHTTP(res, req)
		return
	}
	if len(body) > 0 {
		res.Header().Set("Content-Type", "application/json")
	}
	res.WriteHeader(status)
	_, _ = res.Write(body) // the client may be gone
}

// plain answers a request outside a session of MCP. A call by params.name is
// answered with a result of MCP, one by params.tool with {tool, output}.
func (s *Server) plain(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	if rpc.Method != methodCall || rpc.Params.Kind() != '{' {
		return s.chain.Handle(ctx, rpc)
	}
	params, err := rawjson.Parse(rpc.Params)
	if err != nil || params.Get("tool") != nil || params.Get("input") != nil {
		return s.chain.Handle(ctx, rpc)
	}
	c := plainCall(rpc, params.Text("name"), params.Get("arguments"))
	b := s.tools[c.Tool]
	ctx, done, err := s.begin(ctx, "")
	if err != nil {
		return failed(http.StatusServiceUnavailable, codeDeclined, err.Error(), nil)
	}
	defer done()
	output, err := s.runChecked(ctx, b, c)
	if refusal := wire.Canonical(err); refusal != nil {
		return wire.Response(refusal)
	}
	res, err := s.result(ctx, b, output, err)
	if broken, is := errors.AsType[*sdkrpc.Error](err); is {
		return failed(http.StatusInternalServerError, int(broken.Code), broken.Message, broken.Data)
	}
	raw, err := json.Marshal(res)
	if err != nil {
		return failed(0, jsonrpc.CodeInternal, err.Error(), nil)
	}
	return jsonrpc.Response{Result: raw}
}

// methodCall is the method of a tool call, in MCP and by params.tool.
const methodCall = "tools/call"

// codeDeclined is the JSON-RPC code of a valid call that a tool declines, with the
// reason as the message.
const codeDeclined = -32000

// failed returns an error; status 0 is that of any answer.
func failed(status, code int, message string, data json.RawMessage) jsonrpc.Response {
	return jsonrpc.Response{Status: status, Error: &jsonrpc.Error{Code: code, Message: message, Data: jsontext.Value(data)}}
}

func plainCall(rpc *jsonrpc.Request, tool string, input jsontext.Value) *Call {
	return &Call{
		Tool: tool, Input: json.RawMessage(cmp.Or(string(input), "{}")), Transport: rpc.Transport, Route: rpc.Route,
		RemoteAddr: rpc.RemoteAddr, Host: rpc.Host, Header: rpc.Header,
	}
}

// callByTool is the Config.Tools of the chain: it answers calls by params.tool,
// which the chain has checked, and what is no call.
func (s *Server) callByTool(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	switch {
	case rpc.Method == "ping", strings.HasPrefix(rpc.Method, "notifications/"):
		return jsonrpc.Response{Result: jsontext.Value("{}")}
	case rpc.Method != methodCall:
		return failed(0, jsonrpc.CodeMethodNotFound, "Method not found", nil)
	}
	params, err := rawjson.Parse(rpc.Params)
	b := s.tools[params.Text("tool")]
	if err != nil || b == nil {
		return failed(0, jsonrpc.CodeInvalidParams, "Invalid params", nil)
	}
	ctx, done, err := s.begin(ctx, "")
	if err != nil {
		return failed(http.StatusServiceUnavailable, codeDeclined, err.Error(), nil)
	}
	defer done()
	output, err := s.runTool(ctx, b, plainCall(rpc, b.tool.Name, params.Get("input")))
	switch refusal, _ := errors.AsType[*Refusal](err); {
	case errors.Is(err, errPanicked):
		return failed(0, jsonrpc.CodeInternal, "Internal error", nil)
	case refusal != nil:
		return failed(0, codeDeclined, refusal.Error(), refusal.Structured)
	case err != nil:
		return failed(0, codeDeclined, err.Error(), nil)
	}
	result, err := json.Marshal(map[string]any{"tool": b.tool.Name, "output": output})
	if err != nil {
		return failed(0, jsonrpc.CodeInternal, err.Error(), nil)
	}
	return jsonrpc.Response{Result: result}
}
