package mcptools

import (
	"strings"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/validation"
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
// Server belongs to the server: jsonrpc.Config.Divert. It does if it is an
// initialize, or bears one of MCP's headers and is no message of the league.
// A tools/call without such a header is one of the league's ways of wrapping
// its messages.
func Wanted(req *jsonrpc.Request) bool {
	if req.Method == methodInitialize {
		return true
	}
	return validation.IsMCP(req.Header) && (isMethod(req.Method) || !ofLeague(req))
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
