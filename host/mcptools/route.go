package mcptools

import (
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Methods of the MCP standard that begin a conversation.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
)

// isMethod reports whether a method is one of the MCP standard.
func isMethod(method string) bool {
	switch method {
	case methodInitialize, methodDiscover, "ping", "tools/call", "tools/list", "prompts/get", "prompts/list",
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"completion/complete", "logging/setLevel", "subscriptions/listen":
		return true
	}
	return strings.HasPrefix(method, "notifications/")
}

// leagues recognises messages of the league in whatever wrapping.
var leagues = protocol.NewCodec(protocol.Tolerant)

// Wanted reports whether a POST on an endpoint that a league shares with a
// Server belongs to the server: jsonrpc.Config.Divert. It does if its method is
// one that only MCP has, or if it bears one of MCP's headers and is no message
// of the league. Without such a header tools/call is one of the league's ways
// of wrapping its messages, and what agents use to see whether another is there
// (a ping, a notification) is theirs.
func Wanted(req *jsonrpc.Request) bool {
	if wire.IsMCP(req.Header) {
		return isMethod(req.Method) || !ofLeague(req)
	}
	return isMethod(req.Method) && !shared(req.Method)
}

// shared reports whether a method of the standard may come from a peer of the
// league, too.
func shared(method string) bool {
	return method == "tools/call" || method == "ping" || strings.HasPrefix(method, "notifications/")
}

// ofLeague reports whether a request, which may be one that cannot be read, is
// a message of the league: by its method or by its message_type.
func ofLeague(req *jsonrpc.Request) bool {
	if req.Method != "" {
		if _, ok := protocol.TypeOfMethod(req.Method); ok {
			return true
		}
		in, _ := leagues.OpenRead(req.Method, req.Params)
		return in.Type != ""
	}
	in, _ := leagues.OpenBare(req.Raw)
	return in.Type != ""
}
