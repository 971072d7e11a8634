package jsonrpc

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/strategylab/strategylab/host/rawjson"
)

// responder is the part of a server that all transports share: it parses what
// they have read, calls the handler and encodes the answer.
type responder struct {
	cfg     Config // with defaults
	handler Handler
}

// Serve answers a request that did not arrive over a transport of this package, such as one of a
// second protocol on the same path: it parses req.Raw, calls h and reports both messages to
// cfg.Tap. It returns the HTTP status and the body, which must not be changed.
func Serve(ctx context.Context, req *Request, h Handler, cfg Config) (status int, body []byte) {
	e := responder{cfg: cfg.withDefaults(), handler: h}
	rep := e.serve(ctx, req, nil)
	return rep.Status, rep.Body
}

// serve answers a request: with a refusal where the transport has one, so that it never reaches the
// handler. The body may belong to the handler, which may send it again.
func (e *responder) serve(ctx context.Context, req *Request, refused *Refusal) (rep Reply) {
	closing := e.cfg.Tap.observe(Event{Direction: In, Peer: req.RemoteAddr, Body: req.Raw})
	defer func() { closing(rep.Status, rep.Body, nil) }()
	if refused == nil {
		refused = req.parse(e.cfg.Lenient)
	}
	if refused == nil {
		rep, refused = e.handle(ctx, req)
	}
	if refused != nil {
		wire := refused.Error()
		if e.cfg.Refuse != nil {
			wire = cmp.Or(e.cfg.Refuse(ctx, req, refused), wire)
		}
		rep = Reply{Status: refused.Status, Body: encodeError(req.ID, wire)}
	}
	switch rep.Status {
	case http.StatusServiceUnavailable:
		rep.Header = http.Header{"Retry-After": {retryAfter}}
	case http.StatusMethodNotAllowed:
		rep.Header = http.Header{"Allow": {http.MethodPost}}
	}
	return rep
}

// handle calls the handler and turns a panic into a refusal.
func (e *responder) handle(ctx context.Context, req *Request) (rep Reply, r *Refusal) {
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.LogAttrs(ctx, slog.LevelError, "handler panicked",
				slog.String("method", req.Method),
				slog.String("panic", fmt.Sprint(p)),
				slog.String("stack", string(debug.Stack())))
			r = refusal(ReasonInternal, "the handler failed")
		}
	}()
	res := e.handler.Handle(ctx, req)
	status, wrong := res.Sent(req)
	if wrong != "" {
		return rep, refusal(ReasonInternal, wrong)
	}
	return Reply{Status: status, Body: res.Encode(req)}, nil
}

// Sent returns the HTTP status with which the response to req is sent or, if the server
// refuses to send it, what is wrong with it.
func (res *Response) Sent(req *Request) (status int, wrong string) {
	empty := res.Body == nil && res.Error == nil && (req.Kind == KindNotification || res.Result == nil)
	switch {
	case res.Status != 0 && (res.Status < 200 || res.Status > 599):
		return 0, "the handler gave an invalid HTTP status"
	case empty && req.Kind == KindCall:
		return 0, "the handler gave no answer"
	case empty:
		return cmp.Or(res.Status, http.StatusAccepted), ""
	}
	return cmp.Or(res.Status, http.StatusOK), ""
}

// Encode returns the body of the answer to req, nil for none.
func (res Response) Encode(req *Request) []byte {
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
	return frame(req.ID, rawjson.Member{Name: "result", Value: res.Result})
}

// A Side takes the messages of another protocol from a stream that it shares with an endpoint. They
// reach neither the handler nor Config.Tap. It is called with every line in order, and returns what
// serves the message, or nil for one that is not its own. Where the line is not a JSON-RPC request,
// refused says why the endpoint would refuse it. ctx ends with the drain period. A Side blocks the
// reading of the stream, so it must not wait for the answer; ServeStdio waits for what it returns.
type Side func(ctx context.Context, req *Request, refused *Refusal) (serve func())

// A Tap observes the messages of servers and clients, for recordings and measurements. It is called
// with the message that opens an exchange. The function that it returns is called once with the one
// that closes it: the answer, even an empty one, or the reason why none came. Both are called
// synchronously from many goroutines, so they must be quick and safe for concurrent use.
type Tap func(opening Event) (closing func(Event))

// A Direction is In or Out as seen from the side that has the tap.
type Direction string

// The directions: a server's requests come in and its answers go out, a
// client's the other way round.
const (
	In  Direction = "in"
	Out Direction = "out"
)

// An Event is one message that a Tap observes.
type Event struct {
	Direction Direction
	// Peer is the remote address at a server (see Request.RemoteAddr) and the
	// URL that was called at a client.
	Peer string
	// Body is the message on the wire, nil if there is none or it was not read.
	// It may be kept but not changed. It may hold secrets.
	Body []byte
	// Status is the HTTP status of an answer; 0 in an opening event and where no answer came.
	Status int
	// Latency is the time since the opening event, 0 in that one. At a server
	// it ends before the answer is written.
	Latency time.Duration
	// Err is a client's reason why no usable answer came (a *CallError).
	Err error
}

// observe reports the opening event of an exchange and returns what reports its
// closing event, in the opposite direction.
func (t Tap) observe(opening Event) func(status int, body []byte, err error) {
	if t == nil {
		return func(int, []byte, error) {}
	}
	start := time.Now()
	closing, e := t(opening), opening // of which the heap gets a copy only here
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
