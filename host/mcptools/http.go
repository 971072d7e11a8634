package mcptools

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Headers of the MCP standard.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// sessionless is the first version of the protocol without sessions.
const sessionless = "2026-07-28"

// The SDK hands a tool the header of the request and nothing else of it, so
// what else a tool may need travels there, under names that no client can
// send: a colon is not allowed in the name of a field.
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
	origins  *http.CrossOriginProtection
	hosts    []string // of the allowed origins
}

// Handler returns the server as a handler of streamable HTTP, with sessions
// and, for clients that want none, without. A client that shows none of the
// headers of the standard is answered in plain JSON, each request by itself. It
// answers
//
//	403 to a web page of another origin, and to a foreign Host at a loopback address
//	404 to a session that is not there (any more): the client initializes again
//	413 to a body that is too long
//	503 with Retry-After where there are too many sessions
//
// and everything else as the standard says. The caller bounds the time for
// reading requests, and must not bound the time for writing answers.
func (s *Server) Handler() http.Handler {
	w := &web{Server: s, sessions: newSessions(s), origins: http.NewCrossOriginProtection()}
	for _, origin := range s.cfg.AllowOrigins {
		// New has tried this before.
		_ = w.origins.AddTrustedOrigin(origin)
		if u, err := url.Parse(origin); err == nil {
			w.hosts = append(w.hosts, u.Hostname())
		}
	}
	server := func(*http.Request) *mcp.Server { return s.sdk }
	w.stateful = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: debugLogger(s.cfg.Logger), SessionTimeout: s.cfg.SessionIdle, MaxRequestBodyBytes: s.cfg.MaxBody,
	})
	w.modern = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: debugLogger(s.cfg.Logger), Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: s.cfg.MaxBody,
	})
	w.plain = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: debugLogger(s.cfg.Logger), Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: s.cfg.MaxBody,
	})
	return w
}

// checkOrigins tries what Handler will do with the allowed origins.
func checkOrigins(origins []string) error {
	p := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			return fmt.Errorf("origin %q: want scheme://host[:port]: %w", origin, err)
		}
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(res http.ResponseWriter, req *http.Request) {
	if err := w.foreign(req); err != nil {
		http.Error(res, "forbidden: "+err.Error(), http.StatusForbidden)
		return
	}
	session := req.Header.Get(headerSession)
	modern := req.Header.Get(headerVersion) >= sessionless
	if modern || session == "" {
		// Close waits for what may begin a session.
		if !w.hold() {
			busy(res, "the server is shutting down")
			return
		}
		defer w.held.Done()
	}
	req = marked(req)
	switch {
	case modern:
		w.modern.ServeHTTP(res, req)
	case req.Method == http.MethodPost && !wire.IsMCP(req.Header):
		// It may have been written by hand, or by a program that knows no more
		// than JSON-RPC.
		req.Header.Set("Accept", "application/json, text/event-stream")
		w.plain.ServeHTTP(res, req)
	case session != "":
		if req.Method == http.MethodDelete {
			w.cancelCalls(session) // or ending it would wait for its calls
		}
		defer w.sessions.use(session)()
		w.stateful.ServeHTTP(res, req)
	case req.Method == http.MethodPost:
		w.open(res, req)
	default:
		w.stateful.ServeHTTP(res, req)
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

// foreign says why a request is not to be trusted: it comes from a web page of
// another origin, or by a name that a page has made to point here.
func (w *web) foreign(req *http.Request) error {
	probe := req.WithContext(req.Context())
	probe.Method = http.MethodPost // reading is no less than writing here
	if err := w.origins.Check(probe); err != nil {
		return err
	}
	if req.Header.Get("Origin") == "" {
		return nil
	}
	name := host(req.Host)
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err == nil || name == "localhost" || slices.Contains(w.hosts, name) {
		return nil
	}
	return fmt.Errorf("a web page calls %q, which may be a name of its own; allow its origin if it is not", name)
}

// marked returns the request with what a tool may need in its header.
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
var leagues = dialect.NewCodec(protocol.Tolerant)

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
