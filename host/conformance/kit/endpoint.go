package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/wire"
)

// Monitor is a mutex with a condition: it guards what endpoints receive, and checks wait on it.
type Monitor struct {
	sync.Mutex
	Life    context.Context // nobody waits once it is done
	changed sync.Cond
}

// Notify wakes everybody who waits.
func (m *Monitor) Notify() { m.changed.Broadcast() }

// Do does something under the lock, and wakes everybody who waits.
func (m *Monitor) Do(something func()) {
	m.Lock()
	defer m.Unlock()
	something()
	m.Notify()
}

// Until waits until a condition holds, which it tests under the lock, and
// reports whether it came to hold in time.
func (m *Monitor) Until(within time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(m.Life, within)
	defer cancel()
	defer context.AfterFunc(ctx, func() { m.Do(func() {}) })()
	m.Lock()
	defer m.Unlock()
	if m.changed.L == nil { // who wakes reads it without the lock
		m.changed.L = &m.Mutex
	}
	for !holds() {
		if ctx.Err() != nil {
			return false
		}
		m.changed.Wait()
	}
	return true
}

// Endpoint receives the messages of the agent under test for one of the suite's own agents.
type Endpoint struct {
	URL      string
	listener net.Listener
	server   *http.Server
	served   sync.WaitGroup
}

// Response is what an endpoint answers.
type Response struct {
	Status int // 0 means 200
	Header http.Header
	Body   []byte
	Silent bool // let the agent wait until it gives up
	Hangup bool // break the connection off instead
}

// Listen opens an endpoint at an address such as "127.0.0.1:0". Agents that connect
// wait until Handle is called: one that registers at once would be told nothing.
func Listen(ctx context.Context, addr string) (*Endpoint, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{URL: "http://" + l.Addr().String() + "/mcp", listener: l, server: &http.Server{ReadHeaderTimeout: 10 * time.Second}}
	jsonrpc.LimitConnections(e.server, 1024, 256)
	return e, nil
}

// listenAt opens an endpoint on a port. It returns nil if that is taken, or if addr asks for a free
// one itself.
func listenAt(ctx context.Context, addr string, port int) *Endpoint {
	host, own, err := net.SplitHostPort(addr)
	if err != nil || own == "0" || port == 0 {
		return nil
	}
	e, _ := Listen(ctx, net.JoinHostPort(host, strconv.Itoa(port))) // nil where it fails
	return e
}

// ListenAs opens an endpoint as listenAt, or else on a free port of the same host.
func ListenAs(ctx context.Context, addr string, port int) (*Endpoint, error) {
	if e := listenAt(ctx, addr, port); e != nil {
		return e, nil
	}
	if host, _, err := net.SplitHostPort(addr); err == nil {
		addr = net.JoinHostPort(host, "0")
	}
	return Listen(ctx, addr)
}

// Close stops listening and waits for requests in progress. A nil endpoint is closed.
func (e *Endpoint) Close() error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.server.Close()
	}
	_ = e.listener.Close() // the server closes it only once it serves
	e.served.Wait()
	return err
}

// Message is one of the agent under test, as an agent of the suite has received it, or what one
// of the suite's own has said of it.
type Message struct {
	*trace.Exchange
	To     string // who has received it, for findings
	From   string // who has sent it, if that was not the agent under test alone to one agent
	Doc    Fields
	Fields Fields // of the Doc, without its wrapping
	Header http.Header
}

// NewMessage reads a message that has just come from an address.
func NewMessage(body []byte, from string, header http.Header) *Message {
	m := &Message{Exchange: trace.ReadRequest(body), Doc: Object(body), Header: header}
	m.Peer, m.At, m.Fields = from, time.Now(), m.Doc.Inner()
	return m
}

// Show adds messages to the evidence, with the answers that are kept.
func (t *T) Show(all ...*Message) {
	for _, m := range all {
		from := m.From
		if from == "" {
			from = fmt.Sprintf("the %s to %s", t.Session.Role, m.To)
		}
		t.Keep(Evidence{From: from, Request: Printable(m.Raw), Status: m.Status, Answer: Printable(m.RawAnswer)})
	}
}

// Handle sets the function that answers messages, also those that wait.
func (e *Endpoint) Handle(answer func(m *Message) Response) {
	e.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage))
		if err != nil {
			return
		}
		jsonrpc.Answering(r.Context())
		answer(NewMessage(body, r.RemoteAddr, r.Header)).write(w, r)
	})
	e.served.Go(func() {
		_ = e.server.Serve(e.listener) // ends when the endpoint is closed
	})
}

// write answers a request.
func (r Response) write(w http.ResponseWriter, request *http.Request) {
	if r.Silent {
		<-request.Context().Done()
	}
	if r.Silent || r.Hangup {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), r.Header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	_, _ = w.Write(r.Body) // the agent may be gone
}

// Edit returns the response with changed members of its message.
func (r Response) Edit(edit Edit) Response {
	if len(r.Body) > 0 {
		r.Body = EditMessage(r.Body, edit)
	}
	return r
}

// tolerant reads and writes as our own tolerant agents do.
var tolerant = dialect.NewCodec(protocol.Tolerant)

// ManagerName is the sender of a manager's messages.
const ManagerName = "league_manager"

// Respond answers a request in its own wrapping: with a message, with a refusal (an error), or, for
// nil, with an acknowledgement. It also answers requests that it cannot read, as well as possible.
func Respond(body []byte, answer any) Response {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return Response{Status: http.StatusBadRequest, Body: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)}
	}
	rpc := &jsonrpc.Request{Method: doc.Text("method"), Params: doc.Get("params"), ID: doc.Get("id"), Raw: body}
	if doc.Get("jsonrpc") == nil && rpc.Method == "" {
		rpc.Kind = jsonrpc.KindObject
	}
	message, _ := answer.(protocol.Message)
	err, _ = answer.(error)
	sender := ManagerName
	if message != nil {
		sender = cmp.Or(message.Head().Sender, sender)
	}
	out := (&wire.Dispatcher{
		Codec: tolerant, Sender: func() string { return sender }, Now: time.Now,
		Default: func(context.Context, *wire.Exchange) (protocol.Message, error) { return message, err },
	}).Handle(context.Background(), rpc)
	return Response{Status: out.Status, Body: out.Encode(rpc)}
}

// RespondBusy answers as a busy agent does: retry later.
func RespondBusy(request []byte) Response {
	return Response{
		Status: http.StatusServiceUnavailable,
		Body:   Respond(request, protocol.Refuse(protocol.CodeRateLimited, "", "busy; try again")).Body,
	}
}

// Handle has one of our own agents answer a message as it came over the wire.
func Handle(ctx context.Context, agent jsonrpc.Handler, m *Message) Response {
	req := &jsonrpc.Request{Transport: jsonrpc.TransportHTTP, Route: jsonrpc.DefaultPath, RemoteAddr: m.Peer, Header: m.Header, Raw: m.Raw}
	status, answer := jsonrpc.Serve(ctx, req, agent, jsonrpc.Config{Lenient: true})
	return Response{Status: status, Body: answer}
}
