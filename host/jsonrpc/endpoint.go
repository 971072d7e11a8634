package jsonrpc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
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
	closing := open(e.cfg.Tap, Event{
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
