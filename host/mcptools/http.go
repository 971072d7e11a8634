package mcptools

import (
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire"
)

// Headers of the MCP standard.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// sessionless is the first version of the standard without sessions.
const sessionless = "2026-07-28"

// The SDK passes only the header of the request to a tool, so its other properties
// travel there, under names that no client can send: a colon is not allowed in
// the name of a field.
const (
	pseudoRoute  = ":route"
	pseudoRemote = ":remote"
	pseudoHost   = ":host"
)

// web is the server as an http.Handler.
type web struct {
	*Server
	sessions *sessions
	stateful http.Handler
	modern   http.Handler
	plain    http.Handler
}

// Handler returns the server as a handler of streamable HTTP, with and without
// sessions. A request without headers of the standard is answered in plain JSON
// and without a session: by the standard if only MCP has its method, and otherwise
// by the chain, as at the endpoint of an agent. The handler answers
//
//	405 to a request without a session that is no POST
//	404 to an unknown session: the client initializes again
//	413 to a body that is too long
//	503 with Retry-After to a session above the limits
//
// and otherwise follows the standard. The caller keeps out foreign web pages (see
// jsonrpc.Guard), should bound the time for reading requests, and must not bound
// the time for writing answers.
func (s *Server) Handler() http.Handler {
	w := &web{Server: s, sessions: newSessions(s)}
	server := func(*http.Request) *mcp.Server { return s.sdk }
	// The guard of the caller knows which names are the server's own.
	options := mcp.StreamableHTTPOptions{Logger: debugLogger(s.cfg.Logger), MaxRequestBodyBytes: s.cfg.MaxBody, DisableLocalhostProtection: true}
	stateful := options
	stateful.SessionTimeout = sessionIdle
	w.stateful = mcp.NewStreamableHTTPHandler(server, &stateful)
	modern := options
	modern.Stateless, modern.PropagateRequestCancellation = true, true
	w.modern = mcp.NewStreamableHTTPHandler(server, &modern)
	plain := modern
	plain.JSONResponse = true
	w.plain = mcp.NewStreamableHTTPHandler(server, &plain)
	return w
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(res http.ResponseWriter, req *http.Request) {
	session := req.Header.Get(headerSession)
	modern := req.Header.Get(headerVersion) >= sessionless
	if modern || session == "" {
		// Close waits for requests that may begin a session.
		if !w.hold() {
			busy(res, "the server is shutting down")
			return
		}
		defer w.held.Done()
	}
	if req.Method == http.MethodPost && !wire.IsMCP(req.Header) {
		w.servePlain(res, req)
		return
	}
	req = marked(req)
	switch {
	case modern:
		w.modern.ServeHTTP(res, req)
	case session != "":
		if req.Method == http.MethodDelete {
			w.cancelCalls(session) // or ending it would wait for its calls
		}
		defer w.sessions.use(session)()
		w.stateful.ServeHTTP(res, req)
	case req.Method == http.MethodPost:
		w.open(res, req)
	default: // there is no session that could be read or ended
		res.Header().Set("Allow", http.MethodPost)
		http.Error(res, "without "+headerSession+" the endpoint takes POST only", http.StatusMethodNotAllowed)
	}
}

// open serves a request that may begin a session.
func (w *web) open(res http.ResponseWriter, req *http.Request) {
	peer := host(req.RemoteAddr)
	done, err := w.sessions.admit(peer)
	if err != nil {
		busy(res, err.Error())
		return
	}
	defer func() { done(res.Header().Get(headerSession)) }()
	w.stateful.ServeHTTP(res, req)
}

// marked returns the request with its route, peer and host in the header.
func marked(req *http.Request) *http.Request {
	out := req.WithContext(req.Context())
	out.Header = req.Header.Clone()
	out.Header[pseudoRoute] = []string{req.URL.Path}
	out.Header[pseudoRemote] = []string{req.RemoteAddr}
	out.Header[pseudoHost] = []string{req.Host}
	if req.Header.Values("Accept") == nil {
		out.Header.Set("Accept", "*/*") // RFC 9110, section 12.5.1
	}
	return out
}

func busy(res http.ResponseWriter, why string) {
	res.Header().Set("Retry-After", "1")
	http.Error(res, why, http.StatusServiceUnavailable)
}

// host returns an address without its port.
func host(addr string) string {
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return name
}

// The methods of the MCP standard that open a conversation.
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
var leagues = dialect.NewCodec(protocol.Tolerant)

// Wanted is a jsonrpc.Config.Divert for an endpoint that a league shares with a
// Server: it reports whether a POST is for the server. It is if only MCP has its
// method, or if it has a header of MCP and is not a message of the league.
// Without such a header, tools/call is a wrapping of the league's messages, and a
// ping or a notification is from an agent.
func Wanted(req *jsonrpc.Request) bool {
	if wire.IsMCP(req.Header) {
		return isMethod(req.Method) || !ofLeague(req)
	}
	return isMethod(req.Method) && !shared(req.Method)
}

// shared reports whether peers of the league use a method of the standard, too.
func shared(method string) bool {
	return method == "tools/call" || method == "ping" || strings.HasPrefix(method, "notifications/")
}

// ofLeague reports whether a request, readable or not, is a message of the league
// by its method or its message_type.
func ofLeague(req *jsonrpc.Request) bool {
	if _, ok := protocol.TypeOfMethod(req.Method); ok {
		return true
	}
	read := jsonrpc.Request{Method: req.Method, Params: req.Params}
	if req.Method == "" {
		if _, err := rawjson.Parse(req.Raw); err != nil {
			return false
		}
		read.Kind, read.Raw = jsonrpc.KindObject, req.Raw
	}
	in, _ := leagues.Open(&read)
	return in.Type != ""
}
