package conformance

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// T is what a check works with. Like its namesake in package testing it is told
// of failures; methods that end a check do not return.
type T struct {
	ctx      context.Context
	counter  *counterpart
	evidence []Evidence
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

func shown(b []byte) string {
	if len(b) > maxShown {
		return fmt.Sprintf("%s... (%d bytes more)", b[:maxShown], len(b)-maxShown)
	}
	return string(b)
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
	ctx, cancel := context.WithTimeout(t.ctx, t.counter.opts.Timeout)
	defer cancel()
	began := time.Now()
	reply, err := t.counter.transport.RoundTrip(ctx, &jsonrpc.Outgoing{URL: t.counter.opts.URL, Header: header, Body: body, MaxAnswer: 16 << 20})
	r := Reply{Took: time.Since(began), Err: err}
	e := Evidence{To: t.counter.opts.URL, Request: shown(body), TookMS: float64(r.Took.Microseconds()) / 1000}
	if err != nil {
		e.Error = err.Error()
	}
	if reply != nil {
		r.Status, r.Header, r.Body = reply.Status, reply.Header, reply.Body
		e.Status, e.Answer = reply.Status, shown(reply.Body)
	}
	t.keep(e)
	return r
}
