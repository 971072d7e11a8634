package mcptools

import (
	"bytes"
	"context"
	"io"
	"sync"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/rawjson"
)

// ServeStdio serves one client that writes to in and reads from out, one JSON
// document per line; nothing else is written to out. Until the first initialize (or
// server/discover), what comes is answered as over HTTP without a header of the standard.
// At the end of in it answers what has been read and returns nil; when ctx ends it gives
// the calls in flight a few seconds. It closes in and out as jsonrpc.ServeStdio does.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return jsonrpc.ServeStdio(ctx, in, out, jsonrpc.HandlerFunc(s.plain), jsonrpc.Config{
		MaxBody: maxBody, Logger: s.cfg.Logger, Refuse: s.chain.Refuse, Beside: s.Beside,
	})
}

// Beside is a jsonrpc.Config.Beside for a stream that a league shares with the
// server. The server takes what is Wanted with a header of MCP from the first initialize
// (or server/discover) on; messages of the league stay the league's.
func (s *Server) Beside(send func(line []byte) error) jsonrpc.Side {
	return (&stream{server: s, send: send, cancel: map[*jsonrpc.Request]context.CancelFunc{}}).take
}

// stream is a stream to which the rules of the standard apply once it is open.
type stream struct {
	server *Server
	send   func(line []byte) error
	open   bool // initialize or server/discover has come

	mu     sync.Mutex
	cancel map[*jsonrpc.Request]context.CancelFunc // of the calls in flight
}

// take is the jsonrpc.Side.
func (l *stream) take(ctx context.Context, req *jsonrpc.Request, refused *jsonrpc.Refusal) (serve func()) {
	done := func() {}
	opens := req.Method == methodInitialize || req.Method == methodDiscover
	l.open = l.open || opens
	if refused != nil { // as a response is, which is the client's to send and changes nothing
		doc, _ := rawjson.Parse(req.Raw) // nil where it is no object
		if l.open && doc.Get("method") == nil && doc.Get("id") != nil && doc.Get("result", "error") != nil {
			return done
		}
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.open, req.Method == "", !wanted(req, true):
		return nil
	case req.Method == "notifications/cancelled":
		id := rawjson.Split(req.Params).Get("requestId")
		for call, cancel := range l.cancel {
			if bytes.Equal(call.ID, id) {
				cancel()
			}
		}
	case opens: // at once, for clients that take the first line for its answer
		l.answer(ctx, req)
	default:
		ctx, l.cancel[req] = context.WithCancel(ctx)
		return func() {
			l.answer(ctx, req)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.cancel[req]()
			delete(l.cancel, req)
		}
	}
	return done
}

// answer answers a message, unless that has been cancelled. jsonrpc.ServeStdio reports a
// failure to write.
func (l *stream) answer(ctx context.Context, req *jsonrpc.Request) {
	res := l.server.standard(ctx, req, func(told *sdkrpc.Request) {
		if line, err := sdkrpc.EncodeMessage(told); err == nil {
			_ = l.send(line)
		}
	})
	if line := res.Encode(req); line != nil && ctx.Err() == nil {
		_ = l.send(line)
	}
}
