package jsonrpc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/strategylab/strategylab/host/rawjson"
)

// ClientConfig configures a Client. The zero value of a field means the default named with it.
type ClientConfig struct {
	// Timeout bounds a call whose context has no deadline: 10 s. It does not
	// shorten the deadline of a context.
	Timeout time.Duration
	// MaxAnswer is the longest answer that is read, in bytes: 16 MiB.
	MaxAnswer int64
	// Tap, if set, sees every message out and in.
	Tap Tap
}

// A Message is what a Client sends: Body unchanged, if it is set, or else a
// JSON-RPC request made of Method and Params, with an id unless Notify is set.
type Message struct {
	Method string
	// Params must be valid JSON, or nil to leave it out.
	Params jsontext.Value
	// ID, if set, replaces a new id; it must be valid JSON.
	ID     jsontext.Value
	Notify bool
	Body   []byte
	// Header is added to the request over HTTP and loopback.
	Header http.Header
}

// Outgoing is a message as a RoundTripper sends it.
type Outgoing struct {
	Method    string // of HTTP; empty means POST
	URL       string
	Header    http.Header // may be nil
	Body      []byte
	MaxAnswer int64 // bytes; a longer answer is ErrTooLarge
}

// A Reply is what a RoundTripper received, uninterpreted.
type Reply struct {
	Status int         // of HTTP
	Header http.Header // may be nil
	Body   []byte
}

// A RoundTripper sends one message to a peer and returns the reply, whatever its status. Errors are
// a *CallError, for which the client fills in the URL, or the error of the context. It must be safe
// for concurrent use, must return when the context ends, and must not keep the message.
//
// OverHTTP and Loopback.From return one; others can wrap those.
type RoundTripper interface {
	RoundTrip(ctx context.Context, out *Outgoing) (*Reply, error)
	// Close frees resources such as connections, and fails calls in flight where it can.
	Close() error
}

// Client calls peers. It is safe for concurrent use.
type Client struct {
	cfg ClientConfig
	rt  RoundTripper
}

// NewClient returns a client over rt, which it closes when it is closed.
func NewClient(rt RoundTripper, cfg ClientConfig) *Client {
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.MaxAnswer = cmp.Or(cfg.MaxAnswer, 16<<20)
	return &Client{cfg: cfg, rt: rt}
}

// Close closes the round tripper.
func (c *Client) Close() error { return c.rt.Close() }

// Call sends m to url and returns the answer. It is one attempt: nothing is sent
// twice, neither to this URL nor, after a redirect, to another.
//
// A refusal by the peer is an answer. The error is a *CallError if no usable answer came, and any other
// if the message cannot be sent.
func (c *Client) Call(ctx context.Context, url string, m Message) (*Answer, error) {
	if m.Body == nil && m.Method == "" {
		return nil, errors.New("jsonrpc: a message needs a method or a body")
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
	}
	switch {
	case m.Notify:
		m.ID = nil
	case m.ID == nil && m.Body == nil:
		m.ID = rawjson.Quote(RandomID())
	}
	body := m.Encode()
	out := &Outgoing{URL: url, Header: m.Header, Body: body, MaxAnswer: c.cfg.MaxAnswer}
	closing := c.cfg.Tap.observe(Event{Direction: Out, Peer: url, Body: body})
	answer, failed := c.exchange(ctx, out)
	if failed != nil {
		closing(failed.Status, failed.Body, failed)
		return nil, failed
	}
	closing(answer.Status, answer.Raw, nil)
	return answer, nil
}

// Get fetches a document of at most limit bytes from url, such as a server's
// description of itself. The tap does not see it: it is no message. Errors are
// those of Call; a status other than 2xx is no error.
func (c *Client) Get(ctx context.Context, url string, limit int64) (*Reply, error) {
	reply, failed := c.send(ctx, &Outgoing{Method: http.MethodGet, URL: url, MaxAnswer: limit})
	if failed != nil {
		return nil, failed
	}
	return reply, nil
}

// Encode returns the document that is sent for m, a notification where it has no ID.
func (m Message) Encode() []byte {
	if m.Body != nil {
		return m.Body
	}
	doc := []rawjson.Member{{Name: "method", Value: rawjson.Quote(m.Method)}, {Name: "params", Value: m.Params}}
	if len(m.Params) == 0 {
		doc = doc[:1]
	}
	return frame(m.ID, doc...)
}

func (c *Client) send(ctx context.Context, out *Outgoing) (*Reply, *CallError) {
	reply, err := c.rt.RoundTrip(ctx, out)
	if err != nil {
		return nil, callError(ctx, out.URL, err)
	}
	return reply, nil
}

func (c *Client) exchange(ctx context.Context, out *Outgoing) (*Answer, *CallError) {
	reply, failed := c.send(ctx, out)
	if failed == nil {
		if elsewhere := movedTo(out.URL, reply); elsewhere != "" {
			again := *out
			again.URL = elsewhere
			reply, failed = c.send(ctx, &again)
		}
	}
	if failed != nil {
		return nil, failed
	}
	return reply.answer(out.URL)
}

// movedTo returns where a redirect that keeps the method leads, if that is another path of the same
// server, as for a slash at the end, and else "". Nobody else gets the message.
func movedTo(from string, reply *Reply) string {
	if reply.Status != http.StatusTemporaryRedirect && reply.Status != http.StatusPermanentRedirect {
		return ""
	}
	base, err := url.Parse(from)
	if err != nil {
		return ""
	}
	to, err := base.Parse(reply.Header.Get("Location"))
	if err != nil || to.Scheme != base.Scheme || to.Host != base.Host || to.Path == base.Path {
		return ""
	}
	return to.String()
}

// SessionHeader is the header by which MCP servers recognize a session.
const SessionHeader = "Mcp-Session-Id"

// Document returns the body of a reply, or of a stream of events, as MCP servers
// answer, the data of the last event.
func (r *Reply) Document() []byte {
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(strings.ToLower(kind), "text/event-stream") {
		return withoutMark(r.Body)
	}
	var data []byte
	for line := range bytes.Lines(r.Body) {
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(text)) > 0 {
			data = bytes.TrimSpace(text)
		}
	}
	return data
}

// answer reads a reply. Its status decides whether it may be an answer.
func (r *Reply) answer(url string) (*Answer, *CallError) {
	body := r.Document()
	failed := &CallError{Kind: ErrStatus, URL: url, Status: r.Status, Body: body}
	switch {
	case RetryableStatus(r.Status): // the body is rarely JSON
		failed.RetryAfter = retryDelay(r.Header)
		return nil, failed
	case r.Status >= 300 && r.Status < 400:
		failed.Err = fmt.Errorf("redirects are not followed, here to %q", detail(r.Header.Get("Location")))
		return nil, failed
	}
	raw, members, err := readAnswer(body)
	switch {
	case err == nil && (r.Status < 300 || raw != nil):
		return &Answer{Status: r.Status, Session: r.Header.Get(SessionHeader), Raw: raw, Members: members}, nil
	case r.Status >= 200 && r.Status < 300:
		failed.Kind = ErrMalformed
	}
	failed.Err = err
	return nil, failed
}

// callError completes the error of a round tripper.
func callError(ctx context.Context, url string, err error) *CallError {
	failed, ok := errors.AsType[*CallError](err)
	if !ok {
		failed = &CallError{Err: err}
	}
	failed.URL = url
	ended := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	if ctx.Err() == nil && (failed.Kind != nil || !ended) {
		return failed
	}
	// Whatever failed, it failed because the context ended.
	failed.Kind, failed.Err = ErrTimeout, context.DeadlineExceeded
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return failed // a deadline that moved
	}
	if errors.Is(ctx.Err(), context.Canceled) || errors.Is(err, context.Canceled) {
		failed.Kind, failed.Err = context.Canceled, nil
	}
	return failed
}

// RandomID returns a random UUID (version 4 of RFC 9562).
func RandomID() string { return uuid.NewString() }

// SequentialIDs returns a source of UUIDs (version 5 of RFC 9562) that depend
// only on the seed and on the number of calls before, for reproducible
// recordings. The source is safe for concurrent use.
func SequentialIDs(seed string) func() string {
	namespace := uuid.NewSHA1(uuid.NameSpaceOID, []byte("jsonrpc.SequentialIDs"))
	var taken atomic.Uint64
	return func() string {
		return uuid.NewSHA1(namespace, strconv.AppendUint([]byte(seed+"/"), taken.Add(1), 10)).String()
	}
}
