package jsonrpc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// endpoint is what every transport does with a message that it has read.
type endpoint struct {
	cfg     Config // with defaults
	handler Handler
}

// reply is what goes back: an HTTP status and a body, which may be empty.
type reply struct {
	status int
	body   []byte
	shared bool // the body is the handler's, who may send it again
}

// own returns a reply that shares no memory with a handler's cached Body.
func (r reply) own() reply {
	if r.shared {
		r.body = bytes.Clone(r.body)
	}
	return r
}

// Serve answers a request that came by another way than those of this package,
// such as a second protocol on the same path, as they would: it parses req.Raw,
// has h answer and tells cfg.Tap. It returns the HTTP status and the body,
// which must not be changed.
func Serve(ctx context.Context, req *Request, h Handler, cfg Config) (status int, body []byte) {
	e := endpoint{cfg: cfg.withDefaults(), handler: h}
	rep := e.serve(ctx, req)
	return rep.status, rep.body
}

// serve parses req.Raw, lets the handler answer it and encodes the answer.
func (e *endpoint) serve(ctx context.Context, req *Request) reply {
	if e.cfg.Tap == nil {
		return e.answer(ctx, req)
	}
	return e.tapped(req, func() reply { return e.answer(ctx, req) })
}

// refuse answers a request that cannot be parsed or must not be.
func (e *endpoint) refuse(ctx context.Context, req *Request, r *Refusal) reply {
	if e.cfg.Tap == nil {
		return e.refused(ctx, req, r)
	}
	return e.tapped(req, func() reply { return e.refused(ctx, req, r) })
}

func (e *endpoint) tapped(req *Request, answer func() reply) reply {
	closing := observe(e.cfg.Tap, Event{
		Direction: In,
		Transport: req.Transport,
		Peer:      req.RemoteAddr,
		Route:     req.Route,
		Body:      req.Raw,
	})
	rep := answer()
	closing(rep.status, rep.body, nil)
	return rep
}

func (e *endpoint) answer(ctx context.Context, req *Request) reply {
	if r := req.parse(e.cfg.MaxDepth, e.cfg.AcceptObjects); r != nil {
		return e.refused(ctx, req, r)
	}
	res, r := e.handle(ctx, req)
	if r != nil {
		return e.refused(ctx, req, r)
	}
	rep := reply{status: res.Status, body: res.encode(req), shared: res.Body != nil || req.Kind == KindObject}
	if rep.status == 0 {
		rep.status = http.StatusOK
		if len(rep.body) == 0 {
			rep.status = http.StatusAccepted
		}
	}
	return rep
}

// handle calls the handler and turns a panic into a refusal.
func (e *endpoint) handle(ctx context.Context, req *Request) (res Response, r *Refusal) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.LogAttrs(ctx, slog.LevelError, "handler panicked",
				slog.String("method", req.Method),
				slog.String("panic", fmt.Sprint(p)),
				slog.String("stack", string(debug.Stack())))
			r = refusal(ReasonInternal, "the handler failed")
		}
	}()
	res = e.handler.Handle(ctx, req)
	if res.Status != 0 && (res.Status < 200 || res.Status > 599) {
		return res, refusal(ReasonInternal, "the handler gave an invalid HTTP status")
	}
	if req.Kind == KindCall && res.Body == nil && res.Error == nil && res.Result == nil {
		return res, refusal(ReasonInternal, "the handler gave no answer")
	}
	return res, nil
}

// encode returns the body of the answer to req, nil for none.
func (res Response) encode(req *Request) []byte {
	switch {
	case res.Body != nil:
		return res.Body
	case res.Error != nil:
		return encodeError(req.ID, res.Error)
	case req.Kind == KindNotification:
		return nil
	case req.Kind == KindObject:
		return res.Result
	}
	return encodeResult(req.ID, res.Result)
}

func (e *endpoint) refused(ctx context.Context, req *Request, r *Refusal) reply {
	var wire *Error
	if e.cfg.Refuse != nil {
		wire = e.cfg.Refuse(ctx, req, r)
	}
	if wire == nil {
		wire = r.Error()
	}
	return reply{status: r.Status, body: encodeError(req.ID, wire)}
}

// A Side shares a stream with an endpoint: it takes the messages of another
// protocol. Its messages reach neither the handler nor Config.Tap.
type Side interface {
	// Take is handed every line in the order in which they came, and reports
	// whether the message is the side's. Where the line is no request of
	// JSON-RPC, refused says why the endpoint would refuse it. The context lives
	// as long as the stream is served. Take holds up the reading of the stream,
	// so it must not wait for the answer.
	Take(ctx context.Context, req *Request, refused *Refusal) bool
	// End is called when no more will be taken. It returns when what was taken
	// has been answered, or, soon after the context has ended, when it has been
	// given up.
	End(ctx context.Context)
}

// A Tap watches the messages of servers and clients, for recordings and
// measurements. It is called on the path of the message, from many goroutines,
// so it must be quick and safe for concurrent use. A nil Tap costs nothing.
type Tap interface {
	// Tap is told of the message that opens an exchange. The function that it
	// returns, if not nil, is called once with the message that closes it:
	// the answer, also an empty one, or the reason why none came.
	Tap(opening Event) (closing func(Event))
}

// A Direction is seen from the side that has the tap.
type Direction string

// The directions: a server's requests come in and its answers go out, a
// client's the other way round.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// An Event is one message that passed.
type Event struct {
	Direction Direction
	Transport Transport
	// Peer is the remote address at a server (see Request.RemoteAddr) and the
	// URL that was called at a client.
	Peer string
	// Route is the path at a server ("stdio" over STDIO), empty at a client.
	Route string
	// Body is the message as it stands on the wire, nil if there is none or it
	// was not read. It may be kept but not changed. It may hold secrets.
	Body []byte
	// Status is the HTTP status of an answer; 0 in an opening event and where no
	// answer came.
	Status int
	// Latency is the time since the opening event, 0 in that one. At a server
	// it ends before the answer is written.
	Latency time.Duration
	// Err is a client's reason why no usable answer came (a *CallError).
	Err error
}

// observe reports the opening event of an exchange and returns what reports its
// closing event, in the opposite direction.
func observe(tap Tap, e Event) func(status int, body []byte, err error) {
	start := time.Now()
	closing := tap.Tap(e)
	if closing == nil {
		return func(int, []byte, error) {}
	}
	back := In
	if e.Direction == In {
		back = Out
	}
	return func(status int, body []byte, err error) {
		e.Direction = back
		e.Body, e.Status, e.Err, e.Latency = body, status, err, time.Since(start)
		closing(e)
	}
}
