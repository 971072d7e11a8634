package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// T is what a check works with. Like its namesake in package testing it is told
// of failures; methods that end a check do not return. A check uses its T from
// one goroutine; what it runs besides uses copies made by apart.
type T struct {
	ctx         context.Context
	counter     *counterpart
	side        side
	evidence    []Evidence
	note        string
	unreachable bool // a connection was refused
}

// stop ends a check. It is recovered by the runner and never leaves the package.
type stop struct {
	status Status
	detail string
}

// Fail ends the check: the rule is broken. The last exchange is the evidence.
func (t *T) Fail(format string, args ...any) {
	panic(stop{Failed, fmt.Sprintf(format, args...)})
}

// Skip ends the check: it cannot be made.
func (t *T) Skip(format string, args ...any) {
	panic(stop{Skipped, fmt.Sprintf(format, args...)})
}

// Note keeps what a check has measured, for the report of one that passes.
func (t *T) Note(format string, args ...any) { t.note = fmt.Sprintf(format, args...) }

// apart runs something of a check on a T of its own, in a goroutine that the
// function returned waits for. That function ends the check as what it waited
// for would have.
func (t *T) apart(do func(t *T)) (wait func()) {
	own := &T{ctx: t.ctx, counter: t.counter, side: t.side}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		do(own)
	}()
	return func() {
		ended := <-done
		for _, e := range own.evidence {
			t.keep(e)
		}
		t.unreachable = t.unreachable || own.unreachable
		if ended != nil {
			panic(ended)
		}
	}
}

// maxShown bounds how many bytes of a message are kept as evidence.
const maxShown = 4096

// maxEvidence bounds how many exchanges are kept, the last ones.
const maxEvidence = 8

func (t *T) keep(e Evidence) {
	if len(t.evidence) == maxEvidence {
		t.evidence = t.evidence[1:]
	}
	t.evidence = append(t.evidence, e)
}

// saw keeps a message of the agent as evidence.
func (t *T) saw(who string, body []byte) {
	t.keep(Evidence{From: who, Request: shown(body)})
}

// shown is a message as evidence; bytes that are not UTF-8 stand as \xNN.
func shown(b []byte) string {
	cut := ""
	if len(b) > maxShown {
		b, cut = b[:maxShown], fmt.Sprintf("... (%d bytes more)", len(b)-maxShown)
	}
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&text, "\\x%02x", b[0])
		} else {
			text.Write(b[:size])
		}
		b = b[size:]
	}
	return text.String() + cut
}

// Reply is what came back for a message.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
	Err    error // why nothing came; Status is 0 then
}

// Post sends a body as it is and returns what comes back, whatever it is. Every
// exchange is evidence.
func (t *T) Post(body []byte, header http.Header) Reply {
	return t.PostTo(t.counter.opts.URL, body, header)
}

// PostTo is Post to another URL than the agent's.
func (t *T) PostTo(url string, body []byte, header http.Header) Reply {
	ctx, cancel := context.WithTimeout(t.ctx, t.counter.opts.Timeout)
	defer cancel()
	began := time.Now()
	reply, err := t.counter.transport.RoundTrip(ctx, &jsonrpc.Outgoing{URL: url, Header: header, Body: body, MaxAnswer: maxAsked})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("nothing came within %v", t.counter.opts.Timeout)
	}
	if broken, ok := errors.AsType[*jsonrpc.CallError](err); ok {
		broken.URL = url
	}
	r := Reply{Took: time.Since(began), Err: err}
	e := Evidence{To: url, Request: shown(body), TookMS: milliseconds(r.Took)}
	if err != nil {
		e.Error = err.Error()
		t.unreachable = t.unreachable || errors.Is(err, jsonrpc.ErrConnect)
	}
	if reply != nil {
		r.Status, r.Header, r.Body = reply.Status, reply.Header, reply.Body
		e.Status, e.Answer = reply.Status, shown(reply.Body)
	}
	t.keep(e)
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
