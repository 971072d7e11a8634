package kit

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// Monitor is a mutex with a condition: it guards what endpoints receive, and
// checks wait on it. The zero value is ready to use.
type Monitor struct {
	sync.Mutex
	Life    <-chan struct{} // nobody waits once it is closed; may be nil
	changed chan struct{}   // closed and replaced on each change
}

// Notify wakes everybody who waits. The lock is held.
func (m *Monitor) Notify() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

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
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		m.Lock()
		done := holds()
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-late.C:
			return false
		case <-m.Life:
			return false
		}
	}
}

// Endpoint receives the messages of the agent under test for one of the suite's own agents.
type Endpoint struct {
	URL      string
	listener net.Listener
	server   *http.Server
	served   sync.WaitGroup

	mu     sync.Mutex
	answer func(in *trace.Exchange, header http.Header) Response // nil until it serves
}

// Response is what an endpoint answers.
type Response struct {
	Status int // 0 means 200
	Header http.Header
	Body   []byte
	Delay  time.Duration
	Hangup bool // break the connection off instead
}

// Listen opens an endpoint at an address such as "127.0.0.1:0". Agents that connect
// wait until Handle is called: one that registers at once would be told nothing.
func Listen(ctx context.Context, addr string) (*Endpoint, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{URL: "http://" + l.Addr().String() + "/mcp", listener: l}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	jsonrpc.NewConnections(1024, 256).Attach(e.server)
	return e, nil
}

// listenBeside opens an endpoint on a free port of the same host.
func listenBeside(ctx context.Context, addr string) (*Endpoint, error) {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		addr = net.JoinHostPort(host, "0")
	}
	return Listen(ctx, addr)
}

// ListenAt opens an endpoint on a port. It returns nil if that is taken, or if addr asks for a free
// one itself.
func ListenAt(ctx context.Context, addr string, port int) *Endpoint {
	host, own, err := net.SplitHostPort(addr)
	if err != nil || own == "0" || port == 0 {
		return nil
	}
	e, err := Listen(ctx, net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil
	}
	return e
}

// ListenAs opens an endpoint as ListenAt, or else on a free port of the same host.
func ListenAs(ctx context.Context, addr string, port int) (*Endpoint, error) {
	if e := ListenAt(ctx, addr, port); e != nil {
		return e, nil
	}
	return listenBeside(ctx, addr)
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

// Handle sets the function that answers messages from now on. The first one also
// answers those that wait.
func (e *Endpoint) Handle(answer func(in *trace.Exchange, header http.Header) Response) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answer == nil {
		e.served.Go(func() {
			_ = e.server.Serve(e.listener) // ends when the endpoint is closed
		})
	}
	e.answer = answer
}

const maxRequest = 16 << 20

// ServeHTTP receives a message and answers it.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	jsonrpc.Answering(r.Context())
	in := trace.ReadRequest(body)
	in.Peer, in.At = r.RemoteAddr, time.Now()
	e.mu.Lock()
	answer := e.answer
	e.mu.Unlock()
	out := answer(in, r.Header)
	if out.Delay > 0 {
		select {
		case <-time.After(out.Delay):
		case <-r.Context().Done():
			return
		}
	}
	if out.Hangup {
		panic(http.ErrAbortHandler)
	}
	for name, values := range out.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	if out.Status == 0 {
		out.Status = http.StatusOK
	}
	w.WriteHeader(out.Status)
	_, _ = w.Write(out.Body) // the agent may be gone
}

// Edit returns the response with changed members of its message.
func (r Response) Edit(edits ...Edit) Response {
	for _, edit := range edits {
		if len(r.Body) > 0 {
			r.Body = EditMessage(r.Body, edit)
		}
	}
	return r
}

// OpenRequest reads a request in any dialect, and its JSON-RPC id. The request is nil if
// the body is not a JSON object; with an error, it still tells how to answer.
func OpenRequest(body []byte) (req *dialect.Request, id jsontext.Value, err error) {
	if req, err = dialect.NewCodec(protocol.Tolerant).OpenBody(body); req != nil {
		id = req.ID
	}
	return req, id, err
}

// ManagerName is the sender of a manager's messages.
const ManagerName = "league_manager"

// Respond answers a request in its own wrapping: with a message, with a refusal (an error), or, for
// nil, with an acknowledgement. It also answers requests that it cannot read, as well as possible.
func Respond(body []byte, answer any) Response {
	req, id, err := OpenRequest(body)
	if req == nil {
		return Response{Status: http.StatusBadRequest, Body: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)}
	}
	if ack := req.Type.Acknowledgement(); answer == nil && err == nil && ack != nil {
		answer = ack
	}
	now := protocol.Timestamp(time.Now())
	var reply jsonrpc.Response
	switch a := answer.(type) {
	case protocol.Message:
		own := a.Head()
		h := req.Header.Answer(own.MessageType, cmp.Or(own.Sender, ManagerName), now)
		h.AuthToken, h.LeagueID = own.AuthToken, cmp.Or(own.LeagueID, h.LeagueID)
		*own = h
		reply, err = req.Reply(a)
	case error:
		err = a
	default:
		err = cmp.Or(err, error(protocol.Refuse(protocol.CodeUnknownMessageType, req.Type, "this endpoint does not handle the message")))
	}
	if err != nil {
		refusal, ok := errors.AsType[*protocol.Error](err)
		if !ok {
			refusal = protocol.Refuse(protocol.CodeInternalError, req.Type, err.Error())
		}
		reply = req.Refuse(req.Header.Answer("", ManagerName, now), refusal)
	}
	return Response{Status: reply.Status, Body: reply.Encode(&jsonrpc.Request{ID: id})}
}

// RespondBusy answers as a busy agent does: retry later.
func RespondBusy(request []byte) Response {
	return Response{
		Status: http.StatusServiceUnavailable,
		Body:   Respond(request, protocol.Refuse(protocol.CodeRateLimited, "", "busy; try again")).Body,
	}
}

// Handle has one of our own agents answer a request as it came over the wire.
func Handle(ctx context.Context, agent jsonrpc.Handler, body []byte, from string, header http.Header) Response {
	req := &jsonrpc.Request{Transport: jsonrpc.TransportHTTP, Route: jsonrpc.DefaultPath, RemoteAddr: from, Header: header, Raw: body}
	status, answer := jsonrpc.Serve(ctx, req, agent, jsonrpc.Config{Lenient: true})
	return Response{Status: status, Body: answer}
}
