package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
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
	// Codec reads the answers; Tolerant toward agents that are not ours.
	Codec *dialect.Codec
	// Lists, if set, is shared with other callers of the process.
	Lists *Lists

	numbered atomic.Int64 // the last id sent to a peer that accepts only numbers
}

// Call sends a message and returns the answer. It is one attempt, within the
// deadline of ctx. Where the peer does not know the method, Call asks for its
// tools or tries its other names, and remembers which one works. A notification
// that the peer knows by no name is not sent again.
//
// An empty answer acknowledges a message that needs only an acknowledgement,
// and so does any document with a status of success that is no refusal.
// The error is a *dialect.Refusal if the peer refuses, a *protocol.Error if the
// answer breaks its field rules, wraps ErrReceived if the peer only confirms that
// the message has arrived, and otherwise wraps a *jsonrpc.CallError.
func (c *Caller) Call(ctx context.Context, p *Peer, m protocol.Message) (protocol.Message, error) {
	return c.CallWithID(ctx, p, m, "")
}

// CallWithID is Call with the caller's own JSON-RPC id, by which a peer can
// recognise a request that is repeated because its answer was lost. A peer that
// accepts only numbers gets a number that follows from it.
func (c *Caller) CallWithID(ctx context.Context, p *Peer, m protocol.Message, id string) (protocol.Message, error) {
	t := m.Head().MessageType
	announced, _ := m.(*protocol.RoundAnnouncement)
	if name := p.AssignedBy(); name != "" && announced != nil {
		return c.assign(ctx, p, name, announced)
	}
	w, err := p.Way(t)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	answer, err := c.callBy(ctx, p, w, m, id)
	if err == nil {
		p.name(t, true)
		return answer, nil
	}
	return c.tryOtherWays(ctx, p, w, m, id, err)
}

// tryOtherWays calls a peer again after an error, in other ways as far as the error says
// that they may work.
func (c *Caller) tryOtherWays(ctx context.Context, p *Peer, w Way, m protocol.Message, id string, err error) (protocol.Message, error) {
	t := m.Head().MessageType
	announced, _ := m.(*protocol.RoundAnnouncement)
	var answer protocol.Message
	for tries := 0; err != nil && tries < mostNarrowings; tries++ {
		fitting, is := w.narrower(m, err)
		if !is {
			fitting, is = w.wider(m, err)
		}
		if !is {
			break
		}
		w = fitting
		if answer, err = c.callBy(ctx, p, w, m, id); err == nil {
			p.worked(t, w)
		}
	}
	if !w.Dialect.Request.Bare && (blamesID(err) || !p.understands() && unreadable(err) && !UnknownMethod(err)) {
		other := w
		other.Dialect = otherID(w.Dialect)
		if again, failed := c.callBy(ctx, p, other, m, id); !blamesID(failed) && (blamesID(err) || !unreadable(failed)) {
			p.Learn(other.Dialect)
			w, answer, err = other, again, failed
		}
	}
	if err == nil {
		p.name(t, true)
		return answer, nil
	}
	if !UnknownMethod(err) && (!unreadable(err) || p.named(t)) {
		return nil, err
	}
	answer, failed := c.otherwise(ctx, p, w, m, id, err)
	if !UnknownMethod(failed) && !unreadable(failed) {
		return answer, failed
	}
	if !UnknownMethod(err) {
		p.name(t, false) // it fails under every name
		return nil, err
	}
	err = failed
	switch {
	case announced != nil:
		return c.assignAnyhow(ctx, p, announced, err)
	case p.guessed() || asksPlayer(t) && c.Codec.Mode() == protocol.Tolerant:
		if answer, err = c.guess(ctx, p, m, err); !UnknownMethod(err) {
			return answer, err
		}
	}
	if notifies(t) {
		p.ignores(t, err)
	}
	return answer, err
}

// asksPlayer reports whether a message is one without whose answer a player loses
// its match: some players register in one wrapping and serve another.
func asksPlayer(t protocol.Type) bool {
	return t == protocol.TypeGameInvitation || t == protocol.TypeChooseParityCall
}

// otherwise calls a peer that does not know the name of a message by others: the
// tool that it lists for it, or all names in use. The error is that of the last
// attempt.
func (c *Caller) otherwise(ctx context.Context, p *Peer, tried Way, m protocol.Message, id string, err error) (protocol.Message, error) {
	t, d := m.Head().MessageType, tried.Dialect
	names := slices.Concat(protocol.NamesIn(Words(err), t), d.MethodsOf(t))
	if d.Request.Name != "" && p.listTools(ctx, c) {
		w, unheard := p.Way(t)
		if unheard != nil {
			return nil, err
		}
		if w.Name != tried.Name {
			answer, failed := c.callBy(ctx, p, w, m, id)
			if !UnknownMethod(failed) {
				return answer, failed
			}
		}
	}
	if d.Request.Method != "" && d.Request.Name == "" || d.Request.Bare {
		return nil, err // the name stands nowhere
	}
	seen := []string{cmp.Or(tried.Name, names[len(names)-len(d.MethodsOf(t))])}
	for _, name := range names {
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		w := tried
		w.Name, w.Input = name, nil
		answer, failed := c.callBy(ctx, p, w, m, id)
		if err = failed; !UnknownMethod(failed) && !unreadable(failed) {
			p.worked(t, w)
			return answer, failed
		}
	}
	return nil, err
}

// otherID returns a dialect with the other kind of request ids.
func otherID(d *dialect.Dialect) *dialect.Dialect {
	if d.NumericIDs {
		return d.Without(dialect.TraitNumericIDs)
	}
	return d.With(dialect.TraitNumericIDs)
}

// mostGuesses bounds the requests by which a ladder finds out how a peer wants to
// be called.
const mostGuesses = 48

// guess climbs a ladder for a peer that takes a message in no way that is known of
// it, once for each peer. If that leads nowhere, the error is that of the first
// attempt.
func (c *Caller) guess(ctx context.Context, p *Peer, m protocol.Message, first error) (protocol.Message, error) {
	t, tried := m.Head().MessageType, p.Speaks()
	if !p.climbs() {
		return nil, first
	}
	l := &Ladder{Caller: c, Peer: p, Most: mostGuesses, stay: !wrongPath(first), sent: make(map[string]bool)}
	for i, name := range tried.MethodsOf(t) {
		for _, d := range []*dialect.Dialect{tried, otherID(tried)} {
			if call, err := d.CallAs(name, m); err == nil && (d == tried || i == 0 && unreadable(first) && !UnknownMethod(first)) {
				l.sent[document(p.Address(), d, call)] = true
			}
		}
	}
	o, err := l.Climb(ctx, m, jsonrpc.RandomID(), func(_ context.Context, o *Outcome) Verdict {
		switch {
		case OnlyReceived(o.Err):
			return Understood
		case o.Way.URL != p.URL && errors.Is(o.Err, jsonrpc.ErrConnect):
			return Misunderstood // nothing is there, but the peer has answered
		}
		return Judge(o.Err)
	})
	if err != nil {
		return nil, first
	}
	return o.Message, o.Err
}

// callBy calls a peer in one way.
func (c *Caller) callBy(ctx context.Context, p *Peer, w Way, m protocol.Message, id string) (protocol.Message, error) {
	t := m.Head().MessageType
	call, target, err := w.Call(m)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	got, err := c.send(ctx, target, p.SessionHeader(), call, c.idFor(w.Dialect, id))
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", t, err)
	}
	return c.Read(t, got)
}

// Send sends a call that has been wrapped, under an id if that is not empty.
func (c *Caller) Send(ctx context.Context, p *Peer, call dialect.Call, id string) (*jsonrpc.Answer, error) {
	return c.send(ctx, p.Address(), p.SessionHeader(), call, c.idFor(p.Speaks(), id))
}

// idFor returns the JSON-RPC id of a request to a peer of a dialect, nil for a
// random text.
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

func (c *Caller) send(ctx context.Context, url string, header http.Header, call dialect.Call, id jsontext.Value) (*jsonrpc.Answer, error) {
	return c.Client.Call(ctx, url, jsonrpc.Message{Method: call.Method, Params: call.Params, Body: call.Body, ID: id, Header: header})
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
	if err != nil && (acknowledges(parts) || notifies(t) && !refuses(err) && got.Status < http.StatusMultipleChoices) {
		return received(t)
	}
	return answer, err
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
	if notifies(sent) {
		about, _ := protocol.Describe(sent)
		return protocol.New(about.Answer), nil
	}
	return nil, fmt.Errorf("%s: %w", sent, ErrReceived)
}

// notifies reports whether a message needs no more than an acknowledgement.
func notifies(t protocol.Type) bool {
	about, _ := protocol.Describe(t)
	_, ok := protocol.New(about.Answer).(*protocol.Ack)
	return ok
}

// ErrPartly says that a referee has taken some of the matches that it was assigned
// one by one and refused the next, as one does that conducts one at a time.
var ErrPartly = errors.New("the referee has taken some of its matches")

// assign assigns a referee its matches of an announcement, one call for each. It
// stops at the first that the referee refuses; the error wraps ErrPartly unless
// that is the first of all.
func (c *Caller) assign(ctx context.Context, p *Peer, name string, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	calls, err := p.Speaks().AssignmentCalls(name, m)
	if err != nil {
		return nil, fmt.Errorf("assign matches by %s: %w", name, err)
	}
	answer, err := received(m.MessageType)
	for i, call := range calls {
		got, failed := c.Send(ctx, p, call, "")
		if failed != nil {
			return nil, fmt.Errorf("assign a match by %s: %w", name, failed)
		}
		if _, failed = c.Read(m.MessageType, got); failed != nil && refuses(failed) {
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
	if calls, err := p.Speaks().AssignmentCalls(protocol.AssignmentNames()[0], m); err != nil || len(calls) == 0 {
		return nil, unknown // there is nothing to assign
	}
	for _, name := range protocol.AssignmentNames() {
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
