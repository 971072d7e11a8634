package mcptools

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// ServeStdio serves one client that writes to in and reads from out, one JSON
// document per line; nothing else is written to out. Until the first initialize (or
// server/discover), what is not of MCP alone is answered as over HTTP. At the end of in it answers
// what has been read and returns nil; when ctx ends it gives the calls in flight
// a few seconds. It closes in and out as jsonrpc.ServeStdio does.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return jsonrpc.ServeStdio(ctx, in, out, jsonrpc.HandlerFunc(s.plain), jsonrpc.Config{
		MaxBody: s.cfg.MaxBody, Logger: s.cfg.Logger, Refuse: s.chain.Refuse,
		Beside: func(send func([]byte) error) jsonrpc.Side { return s.lines(send, true) },
	})
}

// Beside is a jsonrpc.Config.Beside for a stream that a league shares with the
// server. The server takes the methods of MCP from the first initialize (or
// server/discover) on; messages of the league stay the league's.
func (s *Server) Beside(send func(line []byte) error) jsonrpc.Side { return s.lines(send, false) }

// lines is a stream of messages as a connection of the SDK.
type lines struct {
	server *Server
	send   func([]byte) error
	all    bool // every message is for the server, once it is open

	incoming chan sdkrpc.Message

	mu      sync.Mutex
	open    bool               // initialize or server/discover has come
	session *mcp.ServerSession // nil until the first message of MCP
	ids     map[sdkrpc.ID]bool // of the calls in flight
	pending int                // calls that have not been answered
	over    bool               // the input has ended
	quiet   chan struct{}      // closed when over and nothing is pending
	ended   chan struct{}      // closed with the connection
	once    sync.Once
}

func (s *Server) lines(send func([]byte) error, all bool) *lines {
	l := &lines{
		server: s, send: send, all: all,
		incoming: make(chan sdkrpc.Message), ids: map[sdkrpc.ID]bool{}, quiet: make(chan struct{}), ended: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[l] = true
	return l
}

// Take implements jsonrpc.Side.
func (l *lines) Take(ctx context.Context, req *jsonrpc.Request, refused *jsonrpc.Refusal) bool {
	if !l.mine(req, refused) {
		return false
	}
	msg, err := sdkrpc.DecodeMessage(req.Raw)
	if err != nil {
		return false // the endpoint refuses it
	}
	again, ok := l.expect(ctx, msg)
	switch {
	case !ok:
		return false
	case again:
		// The SDK would not answer it. jsonrpc.ServeStdio reports a failure to write.
		line, err := sdkrpc.EncodeMessage(&sdkrpc.Response{ID: msg.(*sdkrpc.Request).ID, Error: errTaken})
		if err == nil {
			_ = l.send(line)
		}
		return true
	}
	select {
	case l.incoming <- msg:
	case <-l.ended:
	}
	return true
}

var errTaken = &sdkrpc.Error{Code: sdkrpc.CodeInvalidRequest, Message: "a call with this id is running: every call needs an id of its own"}

// expect prepares for a message; the first one begins the session. It reports
// whether the message can still be taken, and whether it is a call with the id of
// another call in flight.
func (l *lines) expect(ctx context.Context, msg sdkrpc.Message) (again, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false, false
	}
	if l.session == nil {
		// The session outlives the reading of the stream.
		session, err := l.server.sdk.Connect(context.WithoutCancel(ctx), l, nil)
		if err != nil {
			return false, false
		}
		l.session = session
	}
	call, isRequest := msg.(*sdkrpc.Request)
	if !isRequest || !call.IsCall() {
		return false, true
	}
	if l.ids[call.ID] {
		return true, true
	}
	l.ids[call.ID] = true
	l.pending++
	return false, true
}

// mine reports whether a message is for the server.
func (l *lines) mine(req *jsonrpc.Request, refused *jsonrpc.Refusal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case refused != nil:
		// A response has no method, so the endpoint would refuse it.
		return l.open && refused.Reason == jsonrpc.ReasonBadShape && isResponse(req.Raw)
	case req.Kind == jsonrpc.KindObject:
		return false
	case req.Method == methodInitialize, req.Method == methodDiscover:
		l.open = true
	case l.all && !l.open:
		return Wanted(req)
	}
	return l.open && (l.all || isMethod(req.Method))
}

// End implements jsonrpc.Side.
func (l *lines) End(ctx context.Context) {
	l.mu.Lock()
	l.over = true
	l.settle()
	session := l.session
	l.mu.Unlock()
	if session != nil {
		select {
		case <-l.quiet:
		case <-ctx.Done():
		case <-l.ended:
		}
		l.end()
		_ = session.Wait() // the error only says that it was cut off
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	delete(l.server.streams, l)
}

// settle closes quiet if the input has ended and no call is pending. The caller
// holds the lock.
func (l *lines) settle() {
	if l.over && l.pending <= 0 {
		select {
		case <-l.quiet:
		default:
			close(l.quiet)
		}
	}
}

// end closes the connection; the SDK then cancels the calls in flight.
func (l *lines) end() { l.once.Do(func() { close(l.ended) }) }

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// Read implements mcp.Connection.
func (l *lines) Read(ctx context.Context) (sdkrpc.Message, error) {
	select {
	case msg := <-l.incoming:
		return msg, nil
	case <-l.ended:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, msg sdkrpc.Message) error {
	line, err := sdkrpc.EncodeMessage(msg)
	answer, answers := msg.(*sdkrpc.Response)
	if answers {
		// The client may use the id again as soon as it has read the answer.
		l.mu.Lock()
		delete(l.ids, answer.ID)
		l.mu.Unlock()
	}
	if err == nil {
		err = l.send(line)
	}
	if answers {
		l.mu.Lock()
		l.pending--
		l.settle()
		l.mu.Unlock()
	}
	return err
}

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.end()
	return nil
}

// SessionID implements mcp.Connection.
func (l *lines) SessionID() string { return "" }

// isResponse reports whether raw is a JSON-RPC response: an object without a
// method and with a result or an error.
func isResponse(raw []byte) bool {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil || doc["method"] != nil {
		return false
	}
	return doc["id"] != nil && (doc["result"] != nil || doc["error"] != nil)
}
