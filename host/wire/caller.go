package wire

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Peer is an agent to call, with what is known about the dialect that it
// understands. It is safe for concurrent use.
type Peer struct {
	URL     string
	Dialect *dialect.Dialect

	guess bool // Dialect is a guess

	mu         sync.Mutex
	learned    *dialect.Dialect         // what the peer has shown that it speaks
	names      map[protocol.Type]string // method names that worked, other than the dialect's own
	assignment string                   // method by which it accepts single assignments, if not by announcements
}

// NewPeer returns a peer that speaks a dialect.
func NewPeer(url string, d *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: d}
}

// GuessPeer returns a peer whose dialect is not known: calls try one dialect
// first, and others when the peer does not understand it.
func GuessPeer(url string, first *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: first, guess: true}
}

// TryNextAssignment changes how a referee is assigned its matches, for one that
// accepts announcements without playing.
func (p *Peer) TryNextAssignment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := slices.DeleteFunc(dialect.AssignmentNames(), func(name string) bool { return name == p.Dialect.Assignment })
	p.assignment = names[(slices.Index(names, p.assignment)+1)%len(names)]
}

// Speaks returns the dialect that the peer has shown to understand or, before
// that, the one that it was created with.
func (p *Peer) Speaks() *dialect.Dialect {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learned != nil {
		return p.learned
	}
	return p.Dialect
}

// Learn records the dialect that the peer understands.
func (p *Peer) Learn(d *dialect.Dialect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learned = d
}

// method returns the method name to try first for a type: one that worked before
// where the dialect's own did not, or "".
func (p *Peer) method(t protocol.Type) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names[t]
}

// worked records the method name under which the peer accepts a type.
func (p *Peer) worked(t protocol.Type, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names == nil {
		p.names = make(map[protocol.Type]string)
	}
	p.names[t] = name
}

// Caller sends messages to peers. It is safe for concurrent use.
type Caller struct {
	Client *jsonrpc.Client
	// Codec reads the answers; Tolerant toward agents that are not ours.
	Codec *dialect.Codec

	numbered atomic.Int64 // the last id sent to a peer that accepts only numbers
}

// Call sends a message and returns the answer. It is one attempt, within the
// deadline of ctx. Where the peer does not know the method, Call tries its other
// names in turn and remembers which one works.
//
// An empty answer acknowledges a message that needs only an acknowledgement.
// The error is a *dialect.Refusal if the peer refuses, a *protocol.Error if the
// answer breaks its field rules, wraps ErrReceived if the peer only confirms that
// the message has arrived, and otherwise wraps a *jsonrpc.CallError.
func (c *Caller) Call(ctx context.Context, p *Peer, m protocol.Message) (protocol.Message, error) {
	return c.CallWithID(ctx, p, m, "")
}

// CallWithID is Call with the caller's own JSON-RPC id, by which a peer can
// recognise a request that is repeated because its answer was lost.
func (c *Caller) CallWithID(ctx context.Context, p *Peer, m protocol.Message, id string) (protocol.Message, error) {
	t := m.Head().MessageType
	announced, _ := m.(*protocol.RoundAnnouncement)
	if name := p.assignedBy(); name != "" && announced != nil {
		return c.assign(ctx, p, name, announced)
	}
	first := p.method(t)
	answer, err := c.callAs(ctx, p, first, m, id)
	if !UnknownMethod(err) {
		return answer, err
	}
	for i, name := range p.Speaks().MethodsOf(t) {
		if name == first || i == 0 && first == "" {
			continue
		}
		answer, err = c.callAs(ctx, p, name, m, id)
		if !UnknownMethod(err) {
			p.worked(t, name)
			return answer, err
		}
	}
	if announced != nil {
		return c.assignAnyhow(ctx, p, announced, err)
	}
	if p.guess {
		return c.guess(ctx, p, m, err)
	}
	return answer, err
}

// guess tries the other dialects on a peer whose dialect is not known. If none
// works, the error is that of the first attempt.
func (c *Caller) guess(ctx context.Context, p *Peer, m protocol.Message, first error) (protocol.Message, error) {
	t, tried := m.Head().MessageType, p.Speaks()
	for _, d := range dialect.RegistrationOrder() {
		if d.Request == tried.Request && d.NumericIDs == tried.NumericIDs && slices.Contains(tried.MethodsOf(t), d.MethodsOf(t)[0]) {
			continue // it was sent that
		}
		other := NewPeer(p.URL, d)
		answer, err := c.callAs(ctx, other, "", m, "")
		if Misread(err) {
			continue
		}
		p.Learn(d)
		return answer, err
	}
	return nil, first
}

// callAs calls a peer by a method name, or by the dialect's own if that is empty.
func (c *Caller) callAs(ctx context.Context, p *Peer, name string, m protocol.Message, id string) (protocol.Message, error) {
	t := m.Head().MessageType
	call, err := wrap(p.Speaks(), name, m)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	got, err := c.Send(ctx, p, call, id)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	return c.Read(t, got)
}

// Send sends a call that has been wrapped, under an id if that is not empty.
func (c *Caller) Send(ctx context.Context, p *Peer, call dialect.Call, id string) (*jsonrpc.Answer, error) {
	out := jsonrpc.Message{Method: call.Method, Params: call.Params, Body: call.Body}
	switch {
	case id != "":
		quoted, err := jsontext.AppendQuote(nil, id)
		if err != nil {
			return nil, fmt.Errorf("quote id %q: %w", id, err)
		}
		out.ID = quoted
	case p.Speaks().NumericIDs:
		out.ID = strconv.AppendInt(nil, c.numbered.Add(1), 10)
	}
	return c.Client.Call(ctx, p.URL, out)
}

// Read reads the answer to a message of type t.
func (c *Caller) Read(t protocol.Type, got *jsonrpc.Answer) (protocol.Message, error) {
	if got.Kind == jsonrpc.AnswerNone {
		return received(t)
	}
	parts, err := partsOf(got)
	if err != nil {
		return nil, fmt.Errorf("answer to %s: %w", t, err)
	}
	answer, err := c.Codec.ReadAnswer(t, parts)
	if err != nil && acknowledges(parts) {
		return received(t)
	}
	return answer, err
}

func wrap(d *dialect.Dialect, name string, m protocol.Message) (dialect.Call, error) {
	if name == "" {
		return d.Call(m)
	}
	return d.CallAs(name, m)
}

// partsOf splits an answer into its parts; host/jsonrpc has already found a
// result that stands alone.
func partsOf(got *jsonrpc.Answer) (dialect.Answer, error) {
	if got.Kind == jsonrpc.AnswerResult && !got.Mixed {
		return dialect.Answer{Status: got.Status, Result: got.Result}, nil
	}
	return dialect.ParseAnswer(got.Status, got.Raw)
}

// received is the answer of a peer that only confirms a message: an
// acknowledgement where the message needs no more, and otherwise ErrReceived.
func received(sent protocol.Type) (protocol.Message, error) {
	about, _ := protocol.Describe(sent)
	if ack, ok := protocol.New(about.Answer).(*protocol.Ack); ok {
		return ack, nil
	}
	return nil, fmt.Errorf("%s: %w", sent, ErrReceived)
}

// assignedBy returns the method by which a referee is assigned its matches one by
// one; empty where it is sent announcements.
func (p *Peer) assignedBy() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.assignment != "" {
		return p.assignment
	}
	d := p.learned
	if d == nil {
		d = p.Dialect
	}
	return d.Assignment
}

// assign assigns a referee its matches of an announcement, one call for each. It
// stops at the first that the referee refuses.
func (c *Caller) assign(ctx context.Context, p *Peer, name string, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	calls, err := p.Speaks().AssignmentCalls(name, m)
	if err != nil {
		return nil, fmt.Errorf("assign matches by %s: %w", name, err)
	}
	answer, err := received(m.MessageType)
	for _, call := range calls {
		got, failed := c.Send(ctx, p, call, "")
		if failed != nil {
			return nil, fmt.Errorf("assign a match by %s: %w", name, failed)
		}
		if _, failed = c.Read(m.MessageType, got); failed != nil && refuses(failed) {
			return nil, failed
		}
	}
	return answer, err
}

// assignAnyhow tries every method of assignment on a referee that does not know
// announcements. If none works, the error is that of the announcement.
func (c *Caller) assignAnyhow(ctx context.Context, p *Peer, m *protocol.RoundAnnouncement, unknown error) (protocol.Message, error) {
	if calls, err := p.Speaks().AssignmentCalls(dialect.AssignmentNames()[0], m); err != nil || len(calls) == 0 {
		return nil, unknown // there is nothing to assign
	}
	for _, name := range dialect.AssignmentNames() {
		answer, err := c.assign(ctx, p, name, m)
		if UnknownMethod(err) {
			continue
		}
		p.mu.Lock()
		p.assignment = name // it knows the name, even if it refuses
		p.mu.Unlock()
		return answer, err
	}
	return nil, unknown
}
