package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire"
)

// The methods of the MCP standard that open a conversation, and the one of calls, which
// is also that of calls by params.tool.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodCall       = "tools/call"
)

// only are the methods that only the MCP standard has.
var only = []string{
	methodInitialize, methodDiscover, "tools/list", "prompts/get", "prompts/list",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"completion/complete", "logging/setLevel", "subscriptions/listen",
}

// shared reports whether the standard has a method that peers of the league use, too.
func shared(method string) bool {
	return method == methodCall || method == "ping" || strings.HasPrefix(method, "notifications/")
}

// leagues recognises messages of the league in whatever wrapping.
var leagues = dialect.NewCodec(protocol.Tolerant)

// Wanted is a jsonrpc.Config.Divert for an endpoint that a league shares with a
// Server: it reports whether a POST is for the server. It is if only MCP has its
// method, or if it has a header of MCP and is not a message of the league.
// Without such a header, tools/call is a wrapping of the league's messages, and a
// ping or a notification is from an agent.
func Wanted(req *jsonrpc.Request) bool { return wanted(req, wire.IsMCP(req.Header)) }

// wanted is Wanted for a request to which the rules of the standard apply, or do not.
func wanted(req *jsonrpc.Request, standard bool) bool {
	return slices.Contains(only, req.Method) || standard && (shared(req.Method) || !ofLeague(req))
}

// ofLeague reports whether a request, readable or not, is a message of the league
// by its method or its message_type.
func ofLeague(req *jsonrpc.Request) bool {
	if _, ok := protocol.TypeOfMethod(req.Method); ok {
		return true
	}
	if req.Method == "" {
		in, err := leagues.OpenBody(req.Raw)
		return err == nil && in.Type != ""
	}
	in, _ := leagues.Open(&jsonrpc.Request{Method: req.Method, Params: req.Params})
	return in.Type != ""
}

// plain answers a request to which the rules of the standard do not apply: one of MCP alone
// by the standard all the same, any other through the chain, as at the endpoint of an agent.
// A call by params.name is answered with a result of MCP, one by params.tool with
// {tool, output}.
func (s *Server) plain(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	if Wanted(rpc) {
		return s.standard(ctx, rpc, func(*sdkrpc.Request) {})
	}
	params := rawjson.Split(rpc.Params)
	if rpc.Method != methodCall || params == nil || params.Get("tool", "input") != nil {
		return s.chain.Handle(ctx, rpc)
	}
	output, err := s.checked(ctx, newCall(rpc, params.Text("name"), json.RawMessage(params.Get("arguments"))))
	if _, is := errors.AsType[busy](err); is || wire.Canonical(err) != nil {
		return refused(err)
	}
	res, _ := result(output, err) // which has been looked at
	return answered(res)
}

// callByTool is the Config.Tools of the chain: it answers calls by params.tool,
// which the chain has checked, and what is no call.
func (s *Server) callByTool(ctx context.Context, rpc *jsonrpc.Request) jsonrpc.Response {
	params := rawjson.Split(rpc.Params)
	c := newCall(rpc, params.Text("tool"), json.RawMessage(params.Get("input")))
	switch {
	case rpc.Method == methodCall && s.tools[c.Tool].Call != nil:
	case rpc.Method == methodCall:
		return failed(0, jsonrpc.CodeInvalidParams, "Invalid params", nil)
	case shared(rpc.Method):
		return jsonrpc.Response{Result: jsontext.Value("{}")}
	default:
		return failed(0, jsonrpc.CodeMethodNotFound, "Method not found", nil)
	}
	output, err := s.run(ctx, c)
	if err != nil {
		return refused(err)
	}
	return answered(map[string]any{"tool": c.Tool, "output": output})
}

// codeDeclined is the JSON-RPC code of a valid call that a tool declines, with the
// reason as the message.
const codeDeclined = -32000

// refused returns the answer for an error outside the standard.
func refused(err error) jsonrpc.Response {
	if e := wire.Canonical(err); e != nil {
		return wire.Response(e)
	}
	if refusal, is := errors.AsType[*Refusal](err); is {
		return failed(0, codeDeclined, refusal.Text, refusal.Structured)
	}
	if _, is := errors.AsType[busy](err); is {
		return failed(http.StatusServiceUnavailable, codeDeclined, err.Error(), nil)
	}
	return failed(0, codeDeclined, err.Error(), nil)
}

// failed returns an error; status 0 is that of any answer.
func failed(status, code int, message string, data json.RawMessage) jsonrpc.Response {
	return jsonrpc.Response{Status: status, Error: &jsonrpc.Error{Code: code, Message: message, Data: jsontext.Value(data)}}
}

func answered(v any) jsonrpc.Response {
	raw, err := json.Marshal(v)
	if err != nil {
		return failed(0, jsonrpc.CodeInternal, err.Error(), nil)
	}
	return jsonrpc.Response{Result: raw}
}

// requestKey is the key of the request in the context of what standard serves.
type requestKey struct{}

// standard answers one call by the standard, in a session of its own that has been
// initialized. What the server tells before the answer goes to notify. Notifications change
// nothing in such a session.
func (s *Server) standard(ctx context.Context, rpc *jsonrpc.Request, notify func(*sdkrpc.Request)) jsonrpc.Response {
	if rpc.Kind == jsonrpc.KindNotification {
		return jsonrpc.Response{}
	}
	ctx, release, ok := s.hold(context.WithValue(ctx, requestKey{}, rpc))
	if !ok {
		return refused(errClosing)
	}
	defer release()
	state := new(mcp.ServerSessionState)
	if rpc.Method != methodInitialize {
		state.InitializeParams, state.InitializedParams = new(mcp.InitializeParams), new(mcp.InitializedParams)
	}
	here, there := mcp.NewInMemoryTransports()
	session, err := s.sdk.Connect(ctx, there, &mcp.ServerSessionOptions{State: state})
	if err != nil {
		return failed(0, jsonrpc.CodeInternal, err.Error(), nil)
	}
	defer session.Close()
	client, _ := here.Connect(ctx) // within the process, which cannot fail
	defer client.Close()           // which cancels the call, if it still runs
	id, _ := sdkrpc.MakeID("1")    // is one
	call := &sdkrpc.Request{ID: id, Method: rpc.Method, Params: json.RawMessage(rpc.Params)}
	for err = client.Write(ctx, call); err == nil; {
		var msg sdkrpc.Message
		if msg, err = client.Read(ctx); err != nil {
			break
		}
		switch msg := msg.(type) {
		case *sdkrpc.Request:
			notify(msg)
		case *sdkrpc.Response:
			if e, is := errors.AsType[*sdkrpc.Error](msg.Error); is {
				return failed(0, int(e.Code), e.Message, e.Data)
			}
			return jsonrpc.Response{Result: jsontext.Value(msg.Result)}
		}
	}
	return failed(0, codeDeclined, "the call was ended: "+err.Error(), nil)
}
