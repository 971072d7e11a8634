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

// Peer is somebody who is called, and what has been learned of how it wants to
// be addressed. It is safe for concurrent use.
type Peer struct {
	URL     string
	Dialect *dialect.Dialect

	guess bool // nobody has said which dialect it speaks

	mu      sync.Mutex
	learned *dialect.Dialect         // what the peer has shown that it speaks
	names   map[protocol.Type]string // what worked, where it is not the dialect's own
	handOut string                   // by which it takes its matches, if not by announcements
}

// NewPeer returns a peer that is addressed in a dialect.
func NewPeer(url string, d *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: d}
}

// GuessPeer returns a peer of which nobody has said how it is addressed: a
// dialect is tried first, and others when the peer does not understand it.
func GuessPeer(url string, first *dialect.Dialect) *Peer {
	return &Peer{URL: url, Dialect: first, guess: true}
}

// TryNextHandOut changes how a referee is given its matches, for one that takes
// announcements and does nothing.
func (p *Peer) TryNextHandOut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := dialect.AssignmentNames()
	p.handOut = names[(slices.Index(names, p.handOut)+1)%len(names)]
}

// Speaks returns the dialect in which the peer is addressed: the one that it
// has shown to speak or, before that, the one it was made with.
func (p *Peer) Speaks() *dialect.Dialect {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learned != nil {
		return p.learned
	}
	return p.Dialect
}

// Learn settles the dialect of the peer.
func (p *Peer) Learn(d *dialect.Dialect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learned = d
}

// method returns the name to try first for a type: what worked before where
// the dialect's own did not.
func (p *Peer) method(t protocol.Type) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names[t]
}

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

	numbered atomic.Int64 // the last id given to a peer that takes only numbers
}

// Call sends a message and returns the answer. It is one attempt, within the
// deadline of ctx. Where the peer does not know the method, its other names
// are tried in turn, and what worked is remembered.
//
// An empty answer acknowledges a message that wants nothing but an
// acknowledgement. The error is a *protocol.Refusal if the peer refuses, a
// *protocol.Error if its answer does not keep the rules, wraps ErrReceived if it
// says no more than that the message has arrived, and otherwise wraps a
// *jsonrpc.CallError.
func (c *Caller) Call(ctx context.Context, p *Peer, m protocol.Message) (protocol.Message, error) {
	return c.CallWithID(ctx, p, m, "")
}

// CallWithID is Call under a JSON-RPC id of the caller's choice, by which a
// peer may know that a request is sent again because its answer was lost.
func (c *Caller) CallWithID(ctx context.Context, p *Peer, m protocol.Message, id string) (protocol.Message, error) {
	t := m.Head().MessageType
	announced, _ := m.(*protocol.RoundAnnouncement)
	if name := p.handsOutBy(); name != "" && announced != nil {
		return c.handOut(ctx, p, name, announced)
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
		return c.handOutAnyhow(ctx, p, announced, err)
	}
	if p.guess {
		return c.guess(ctx, p, m, err)
	}
	return answer, err
}

// guess looks for the dialect of a peer of which nobody has told it. Without
// one the error is that of the first attempt.
func (c *Caller) guess(ctx context.Context, p *Peer, m protocol.Message, first error) (protocol.Message, error) {
	for _, d := range dialect.RegistrationOrder() {
		if d.Name == p.Speaks().Name {
			continue
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

// callAs calls a peer under a name, or without one under the dialect's own.
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

// Send sends a call as it is wrapped.
func (c *Caller) Send(ctx context.Context, p *Peer, call dialect.Call, id string) (*jsonrpc.Answer, error) {
	out := jsonrpc.Message{Method: call.Method, Params: call.Params, Body: call.Body}
	switch {
	case id != "":
		quoted, err := jsontext.AppendQuote(nil, id)
		if err != nil {
			return nil, fmt.Errorf("its id: %w", err)
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

// partsOf takes an answer apart. A result with nothing beside it has been found
// already.
func partsOf(got *jsonrpc.Answer) (dialect.Answer, error) {
	if got.Kind == jsonrpc.AnswerResult && !got.Mixed {
		return dialect.Answer{Status: got.Status, Result: got.Result}, nil
	}
	return dialect.ParseAnswer(got.Status, got.Raw)
}

// received is the answer of a peer that took a message and said no more: all
// that is wanted where an acknowledgement is.
func received(sent protocol.Type) (protocol.Message, error) {
	about, _ := protocol.Describe(sent)
	if ack, ok := protocol.New(about.Answer).(*protocol.Ack); ok {
		return ack, nil
	}
	return nil, fmt.Errorf("%s: %w", sent, ErrReceived)
}
