package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Caller sends messages to peers. It is safe for concurrent use.
type Caller struct {
	Client *jsonrpc.Client
	Codec  *dialect.Codec // reads the answers; Tolerant toward agents that are not ours

	numbered atomic.Int64 // the last id sent to a peer that accepts only numbers
}

// Call sends a message and returns the answer. It is one attempt, within the deadline of ctx. Where
// the peer does not know the method, Call asks for its tools or tries its other names, and
// remembers which one works. A notification that the peer knows by no name is not sent again.
//
// An empty answer acknowledges a message that needs only an acknowledgement, and so does any
// document with a status of success that is no refusal. The error is a *dialect.Refusal if the peer
// refuses, a *protocol.Error if the answer breaks its field rules, wraps ErrReceived if the peer
// only confirms that the message has arrived, and otherwise wraps a *jsonrpc.CallError.
func (c *Caller) Call(ctx context.Context, p *Peer, m protocol.Message) (protocol.Message, error) {
	t := m.Head().MessageType
	announced, _ := m.(*protocol.RoundAnnouncement)
	if announced != nil {
		if name := p.AssignedBy(); name != "" {
			return c.assign(ctx, p, name, announced)
		}
	}
	form, err := p.Form(t)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	conversation := Conversation{Caller: c, Peer: p, state: Known, message: m, most: MaxRequests, agenda: []Attempt{{State: Known, Form: form}}}
	conversation.published = get(p, func() published { return p.published })
	a, _ := conversation.run(ctx, "", conversation.judgeKnown)
	a = cmp.Or(a, &conversation.base) // in the known form, where every other has failed, too
	switch {
	case a.Err == nil:
		p.note(func() { p.understood, p.settled[t] = true, nil })
	case !UnknownMethod(a.Err):
	case announced != nil:
		return c.assignAnyhow(ctx, p, announced, a.Err)
	case notifies(t):
		p.note(func() { p.settled[t] = a.Err })
	}
	return a.Message, a.Err
}

// Send sends a call that has been wrapped.
func (c *Caller) Send(ctx context.Context, p *Peer, call jsonrpc.Message) (*jsonrpc.Answer, error) {
	return c.send(ctx, p.Address(), p.SessionHeader(), call, c.idFor(p.Speaks(), ""))
}

// idFor returns the JSON-RPC id of a request to a peer of a dialect, nil for a random text.
func (c *Caller) idFor(d *dialect.Dialect, id string) jsontext.Value {
	switch {
	case id != "" && d.NumericIDs:
		h := fnv.New32a()
		_, _ = h.Write([]byte(id)) // never fails
		return strconv.AppendUint(nil, uint64(h.Sum32()>>1), 10)
	case id != "":
		return rawjson.Quote(strings.ToValidUTF8(id, "?"))
	case d.NumericIDs:
		return strconv.AppendInt(nil, c.numbered.Add(1), 10)
	}
	return nil
}

func (c *Caller) send(ctx context.Context, url string, header http.Header, call jsonrpc.Message, id jsontext.Value) (*jsonrpc.Answer, error) {
	call.ID, call.Header = id, header
	return c.Client.Call(ctx, url, call)
}

// Read reads the answer to a message of type t.
func (c *Caller) Read(t protocol.Type, got *jsonrpc.Answer) (protocol.Message, error) {
	if got.Raw == nil {
		return received(t)
	}
	parts := dialect.AnswerOf(got.Status, got.Members, got.Raw)
	answer, err := c.Codec.ReadAnswer(t, parts)
	if err != nil && (acknowledges(parts) || notifies(t) && refusalOf(err) == nil && got.Status < http.StatusMultipleChoices) {
		return received(t)
	}
	return answer, err
}

// received is the answer of a peer that only confirms a message: an
// acknowledgement where the message needs no more, and otherwise ErrReceived.
func received(sent protocol.Type) (protocol.Message, error) {
	if ack := sent.Acknowledgement(); ack != nil {
		return ack, nil
	}
	return nil, fmt.Errorf("%s: %w", sent, ErrReceived)
}

// notifies reports whether a message needs no more than an acknowledgement.
func notifies(t protocol.Type) bool { return t.Acknowledgement() != nil }

// ErrPartly says that a referee has taken some of the matches that it was assigned
// one by one and refused the next, as one does that conducts one at a time.
var ErrPartly = errors.New("the referee has taken some of its matches")

// assign assigns a referee its matches of an announcement, one call for each. It stops at the first
// that the referee refuses; the error wraps ErrPartly unless that is the first of all.
func (c *Caller) assign(ctx context.Context, p *Peer, name string, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	calls, err := p.Speaks().AssignmentCalls(name, m)
	if err != nil {
		return nil, fmt.Errorf("assign matches by %s: %w", name, err)
	}
	answer, err := received(m.MessageType)
	for i, call := range calls {
		got, failed := c.Send(ctx, p, call)
		if failed != nil {
			return nil, fmt.Errorf("assign a match by %s: %w", name, failed)
		}
		if _, failed = c.Read(m.MessageType, got); failed != nil && refusalOf(failed) != nil {
			if i > 0 {
				return nil, fmt.Errorf("%w: %w", ErrPartly, failed)
			}
			return nil, failed
		}
	}
	return answer, err
}

// assignAnyhow tries every method of assignment on a referee that does not know
// announcements. If none works, the error is that of the announcement.
func (c *Caller) assignAnyhow(ctx context.Context, p *Peer, m *protocol.RoundAnnouncement, unknown error) (protocol.Message, error) {
	if calls, err := p.Speaks().AssignmentCalls(protocol.AssignmentNames[0], m); err != nil || len(calls) == 0 {
		return nil, unknown // there is nothing to assign
	}
	for _, name := range protocol.AssignmentNames {
		answer, err := c.assign(ctx, p, name, m)
		if UnknownMethod(err) {
			continue
		}
		p.note(func() { p.assignment = name }) // it knows the name, even if it refuses
		return answer, err
	}
	return nil, unknown
}
