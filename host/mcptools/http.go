package mcptools

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/wire"
)

// Headers of the MCP standard.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// sessionless is the first version of the standard without sessions.
const sessionless = "2026-07-28"

// The bounds of sessions: how many there are, how many of them for one remote address, and
// when an idle one ends.
const (
	maxSessions = 512
	perPeer     = 64
	sessionIdle = 30 * time.Minute
)

// headerFrom holds path, peer and host of a request: the SDK passes only the header to a
// tool. No client can send it, since a colon is not allowed in the name of a field.
const headerFrom = ":from"

// requestOf returns the request that brought a call, as Call.From has it.
func requestOf(ctx context.Context, extra *mcp.RequestExtra) *jsonrpc.Request {
	if rpc, is := ctx.Value(requestKey{}).(*jsonrpc.Request); is {
		return rpc
	}
	h := extra.Header.Clone()
	from := h[headerFrom]
	delete(h, headerFrom)
	return &jsonrpc.Request{Transport: jsonrpc.TransportHTTP, Route: from[0], RemoteAddr: from[1], Host: from[2], Header: h}
}

// web is the server as an http.Handler.
type web struct {
	*Server
	stateful, modern http.Handler

	sessions struct {
		sync.Mutex
		all []*session
	}
}

// session is a session that the SDK keeps, or that is about to begin.
type session struct {
	id, peer string
	used     time.Time
	inUse    int
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
// jsonrpc.Callers), should bound the time for reading requests, and must not bound
// the time for writing answers.
func (s *Server) Handler() http.Handler {
	w := &web{Server: s}
	server := func(*http.Request) *mcp.Server { return s.sdk }
	// The guard of the caller knows which names are the server's own.
	options := mcp.StreamableHTTPOptions{
		Logger: slog.New(debugHandler{s.cfg.Logger.Handler()}), MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true,
	}
	stateful := options
	stateful.SessionTimeout = sessionIdle
	w.stateful = mcp.NewStreamableHTTPHandler(server, &stateful)
	options.Stateless, options.PropagateRequestCancellation = true, true
	w.modern = mcp.NewStreamableHTTPHandler(server, &options)
	return w
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(res http.ResponseWriter, req *http.Request) {
	id, modern := req.Header.Get(headerSession), req.Header.Get(headerVersion) >= sessionless
	if modern || id == "" {
		// Close waits for requests that may begin a session.
		ctx, release, ok := w.hold(req.Context())
		if !ok {
			unavailable(res, errClosing)
			return
		}
		defer release()
		req = req.WithContext(ctx)
	}
	switch {
	case req.Method == http.MethodPost && !wire.IsMCP(req.Header):
		w.servePlain(res, req)
	case modern:
		w.modern.ServeHTTP(res, marked(req))
	case id == "" && req.Method != http.MethodPost: // there is no session that could be read or ended
		res.Header().Set("Allow", http.MethodPost)
		http.Error(res, "without "+headerSession+" the endpoint takes POST only", http.StatusMethodNotAllowed)
	default:
		w.serveSession(res, marked(req), id)
	}
}

// servePlain serves a client that knows only JSON-RPC.
func (w *web) servePlain(res http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(res, req.Body, maxBody))
	if err != nil {
		http.Error(res, "the body is too long", http.StatusRequestEntityTooLarge)
		return
	}
	status, body := jsonrpc.Serve(req.Context(), &jsonrpc.Request{
		Raw: raw, Transport: jsonrpc.TransportHTTP, Route: req.URL.Path, RemoteAddr: req.RemoteAddr, Host: req.Host, Header: req.Header,
	}, jsonrpc.HandlerFunc(w.plain), jsonrpc.Config{Refuse: w.chain.Refuse, Logger: w.cfg.Logger})
	if len(body) > 0 {
		res.Header().Set("Content-Type", "application/json")
	}
	res.WriteHeader(status)
	_, _ = res.Write(body) // the client may be gone
}

// serveSession serves a request of a session or, with an empty id, one that may begin a session.
func (w *web) serveSession(res http.ResponseWriter, req *http.Request, id string) {
	s := w.enter(id, (&jsonrpc.Request{RemoteAddr: req.RemoteAddr}).Source())
	if s == nil {
		unavailable(res, busy("too many sessions: try again in a moment, and end sessions that are not needed"))
		return
	}
	if req.Method == http.MethodDelete {
		w.cancelCalls(id) // or ending the session would wait for its calls
	}
	defer func() {
		w.sessions.Lock()
		defer w.sessions.Unlock()
		if s.inUse--; id == "" {
			s.id = res.Header().Get(headerSession)
		}
		s.used = time.Now()
	}()
	w.stateful.ServeHTTP(res, req)
}

// enter marks a session as in use or, with an empty id, makes room for a new one of a peer: the
// session of that peer that has been idle longest ends if it has too many. It returns nil if
// there is no room.
func (w *web) enter(id, peer string) *session {
	w.sessions.Lock()
	defer w.sessions.Unlock()
	alive := map[string]*mcp.ServerSession{}
	for s := range w.sdk.Sessions() {
		alive[s.ID()] = s
	}
	w.sessions.all = slices.DeleteFunc(w.sessions.all, func(s *session) bool {
		return s.inUse == 0 && (s.id == "" || alive[s.id] == nil)
	})
	entered := &session{id: id, peer: peer}
	var oldest *session
	mine := 0
	for _, s := range w.sessions.all {
		if id != "" && s.id == id {
			entered = s
		}
		if s.peer != peer {
			continue
		}
		if mine++; s.inUse == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if id == "" {
		switch {
		case mine < perPeer && len(w.sessions.all) < maxSessions:
		case mine < perPeer, oldest == nil:
			return nil
		default:
			w.sessions.all = slices.DeleteFunc(w.sessions.all, func(s *session) bool { return s == oldest })
			w.cancelCalls(oldest.id)
			// It has no request in flight; a call whose client disconnected has just been cancelled.
			w.held.Go(func() { _ = alive[oldest.id].Close() })
		}
		w.sessions.all = append(w.sessions.all, entered)
	}
	entered.inUse++
	return entered
}

// marked returns the request with its origin in the header.
func marked(req *http.Request) *http.Request {
	out := req.WithContext(req.Context())
	out.Header = req.Header.Clone()
	out.Header[headerFrom] = []string{req.URL.Path, req.RemoteAddr, req.Host}
	if req.Header.Values("Accept") == nil {
		out.Header.Set("Accept", "*/*") // RFC 9110, section 12.5.1
	}
	return out
}

func unavailable(res http.ResponseWriter, why error) {
	res.Header().Set("Retry-After", "1")
	http.Error(res, why.Error(), http.StatusServiceUnavailable)
}
