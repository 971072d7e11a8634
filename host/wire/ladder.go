package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/discovery"
)

// MaxRequests bounds the requests of one ladder, those that only ask included.
const MaxRequests = 96

// A Ladder finds out how a peer wants to be spoken to. It puts a message in one
// way after another, the commonest first, until one is understood: each wrapping,
// both kinds of request id, the tools that the peer lists with the arguments that
// their schemas declare, and the paths that it publishes or that conventions
// suggest. What the peer says decides which way is next. A ladder sends at most
// [MaxRequests] requests, none of them twice, and makes no pauses. It belongs to
// one caller at a time.
type Ladder struct {
	Caller *Caller
	// Peer is who is spoken to. The ladder settles how it is addressed from then on.
	Peer *Peer
	// Wrappings are the dialects to try, and no other way; nil for all.
	Wrappings []*dialect.Dialect
	// Most bounds the requests; 0 stands for MaxRequests.
	Most int

	stay     bool // at the peer's own path
	queue    []Way
	late     []Way // at a path that seems to take nothing
	begun    bool
	settled  *Way
	text     bool            // ids are texts first
	done     map[string]bool // paths expanded, things asked for
	sent     map[string]bool // documents
	named    []string        // names that the peer has mentioned
	tried    []Try
	requests int
	message  protocol.Message // that is put

	header     http.Header
	tools      discovery.Toolbox
	operations []discovery.Operation
}

// A Try is a way that was not understood, and what the peer answered.
type Try struct {
	Way Way
	Err error
}

// An Outcome is what putting a message in one way has led to.
type Outcome struct {
	Way     Way
	Answer  *jsonrpc.Answer  // nil where none came
	Message protocol.Message // the answer, if it can be read
	Err     error
	Verdict Verdict
}

// Climb puts a message until the peer has understood it, has refused it, cannot
// be reached, or may have acted on it without saying so: then the next call
// begins with the same way. Id is the JSON-RPC id of every attempt, or what the
// number for it is derived from. Judge says what an outcome means; nil stands
// for [Judge] of its error. The error is an [*UnspokenError] when no way is left.
func (l *Ladder) Climb(ctx context.Context, m protocol.Message, id string, judge func(context.Context, *Outcome) Verdict) (*Outcome, error) {
	if judge == nil {
		judge = func(_ context.Context, o *Outcome) Verdict { return Judge(o.Err) }
	}
	t := m.Head().MessageType
	l.message = m
	l.begin(t)
	for {
		w, ok := l.next(ctx, t)
		if !ok {
			return nil, l.failure(t)
		}
		o, again := l.put(ctx, w, m, id)
		if again {
			continue
		}
		o.Verdict = judge(ctx, o)
		switch o.Verdict {
		case Doubtful, Unreached:
			l.queue = slices.Insert(l.queue, 0, w)
			l.requests-- // the backoff of the caller bounds these
			clear(l.sent)
			return o, nil
		case Misunderstood:
			l.tried = append(l.tried, Try{w, o.Err})
			if l.settled != nil {
				return o, nil
			}
			l.learn(ctx, w, o.Err, t)
			continue
		}
		l.settle(t, o)
		return o, nil
	}
}

// Next returns the way that the next call of Climb begins with, after one that
// was doubtful.
func (l *Ladder) Next() Way {
	if len(l.queue) > 0 {
		return l.queue[0]
	}
	return Way{URL: l.Peer.URL, Dialect: l.Peer.Speaks()}
}

// Settle keeps a way that has turned out to be understood.
func (l *Ladder) Settle(t protocol.Type, w Way) { l.settle(t, &Outcome{Way: w}) }

// begin fills the queue.
func (l *Ladder) begin(t protocol.Type) {
	if l.settled != nil {
		l.queue, l.requests = []Way{*l.settled}, 0
		clear(l.sent)
		return
	}
	if l.begun && len(l.queue) > 0 {
		return
	}
	l.done = make(map[string]bool)
	if l.begun || l.sent == nil { // before the first time it holds what was sent without the ladder
		l.sent = make(map[string]bool)
	}
	l.begun, l.requests, l.tried, l.late = true, 0, nil, nil
	l.text = !l.Peer.guessed() && !l.Peer.Speaks().NumericIDs
	l.queue = l.waysAt(l.Peer.URL, t)
	l.done[l.Peer.URL] = true
	l.done["tools at "+l.Peer.URL] = l.Peer.askedForTools()
}

// next takes the next way from the queue.
func (l *Ladder) next(ctx context.Context, t protocol.Type) (Way, bool) {
	if len(l.queue) == 0 && l.settled == nil && l.Wrappings == nil && !l.stay {
		l.lookAround(ctx, t)
		if len(l.queue) == 0 {
			l.queue, l.late = l.late, nil
			l.askTools(ctx, l.Peer.URL, t)
		}
	}
	if len(l.queue) == 0 || l.requests >= cmp.Or(l.Most, MaxRequests) {
		return Way{}, false
	}
	w := l.queue[0]
	l.queue = l.queue[1:]
	return w, true
}

// put sends a message in one way. It reports whether that was sent before.
func (l *Ladder) put(ctx context.Context, w Way, m protocol.Message, id string) (o *Outcome, before bool) {
	o = &Outcome{Way: w}
	t := m.Head().MessageType
	call, target, err := w.Call(m)
	if err != nil {
		o.Err = fmt.Errorf("send %s: %w", t, err)
		return o, false
	}
	rpc := l.Caller.idFor(w.Dialect, id)
	what := document(target, w.Dialect, call)
	if l.sent[what] {
		return nil, true
	}
	if l.sent == nil {
		l.sent = make(map[string]bool)
	}
	l.sent[what] = true
	l.requests++
	if o.Answer, o.Err = l.Caller.send(ctx, target, l.header, call, rpc); o.Err != nil {
		o.Err = fmt.Errorf("send %s: %w", t, o.Err)
		return o, false
	}
	o.Message, o.Err = l.Caller.Read(t, o.Answer)
	return o, false
}

// document is what tells one request from another: all but the value of its id,
// which a message without JSON-RPC does not have.
func document(target string, d *dialect.Dialect, call dialect.Call) string {
	return fmt.Sprint(target, " ", d.NumericIDs && !d.Request.Bare, " ", string(call.Document(nil)))
}

// settle keeps the way that was understood.
func (l *Ladder) settle(t protocol.Type, o *Outcome) {
	w := o.Way
	l.settled, l.queue = &w, nil
	d := w.Dialect
	if o.Answer != nil && o.Answer.Kind == jsonrpc.AnswerRequest {
		d = d.With(dialect.TraitRequests)
	}
	p := l.Peer
	p.mu.Lock()
	if !w.Single {
		p.learned, p.at, p.guess = d, w.URL, false
	}
	p.header, p.tools, p.operations, p.listed = l.header, l.tools, l.operations, p.listed || l.tools != nil || l.done["tools at "+w.URL]
	p.mu.Unlock()
	if w.Single || w.Spread || w.Input != nil || w.Name != "" || w.Drop != nil || w.Add != nil || w.Type != "" {
		p.worked(t, w)
	}
}

// waysAt returns the ways at one URL, the commonest first.
func (l *Ladder) waysAt(at string, t protocol.Type) []Way {
	const most = 32 // of two kinds of ids, and the others
	ways := l.wrapped(make([]Way, 0, most), at, l.text)
	if l.Wrappings == nil {
		flat := l.ofKind(dialect.Contracts, l.text)
		if registers(t) {
			ways = append(ways, Way{URL: at, Dialect: flat, Spread: true}, Way{URL: at, Dialect: dialect.Bare, Spread: true})
		}
		about, _ := protocol.Describe(t)
		verb, _, _ := strings.Cut(about.Method, "_")
		ways = append(ways, Way{URL: at, Dialect: flat, Name: verb, Spread: registers(t)})
		if needsNothing(t) {
			ways = append(ways, smallest(Way{URL: at, Dialect: flat})...)
			ways = append(ways, smallest(Way{URL: at, Dialect: l.ofKind(dialect.Tool, l.text)})...)
		}
	}
	return l.wrapped(ways, at, !l.text)
}

// wrapped appends the ways of all wrappings under one kind of id.
func (l *Ladder) wrapped(ways []Way, at string, text bool) []Way {
	all := l.Wrappings
	if all == nil {
		all = dialect.RegistrationOrder()
		if known := l.Peer.Speaks(); !l.Peer.guessed() && known.Name != dialect.Contracts.Name {
			all = slices.Insert(all, 0, known)
		}
	}
	for _, d := range all {
		if d = l.ofKind(d, text); d != nil {
			ways = append(ways, Way{URL: at, Dialect: d})
		}
	}
	return ways
}

// ofKind returns the dialect with ids of a kind, nil where it has only the
// other. Without JSON-RPC there are no ids, and so one kind only.
func (l *Ladder) ofKind(d *dialect.Dialect, text bool) *dialect.Dialect {
	switch {
	case d.Request.Bare:
		if text != l.text {
			return nil
		}
		return d
	case text && d.NumericIDs:
		return nil
	case text:
		return d
	}
	return d.With(dialect.TraitNumericIDs)
}

// UnspokenError says that a peer understands no way of putting a message.
type UnspokenError struct {
	Type  protocol.Type
	URL   string
	Looks string // what the peer seems to be
	Tried []Try
	// Requests is the number of requests made, those that only asked included.
	Requests int
}

// Error says in a few lines what was tried, what each kind of attempt was
// answered, and what the peer looks like.
func (e *UnspokenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no way to send %s to %s was understood (%d requests): %s", e.Type, e.URL, e.Requests, e.Looks)
	const most = 5
	var answers []string
	ways := make(map[string][]string)
	for _, tried := range e.Tried {
		said := summary(tried.Err)
		if ways[said] == nil {
			answers = append(answers, said)
		}
		ways[said] = append(ways[said], tried.Way.String())
	}
	for i, said := range answers {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d other answers", len(answers)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s: %s", said, ways[said][0])
		if n := len(ways[said]); n > 1 {
			fmt.Fprintf(&b, " and %d other ways", n-1)
		}
	}
	return b.String()
}

// Unwrap returns the error of the first attempt.
func (e *UnspokenError) Unwrap() error {
	if len(e.Tried) == 0 {
		return nil
	}
	return e.Tried[0].Err
}

// summary is what an attempt was answered, in a line.
func summary(err error) string {
	said := cmp.Or(Words(err), "nothing readable")
	status, rpc := 0, 0
	if call, ok := errors.AsType[*jsonrpc.CallError](err); ok {
		status = call.Status
	}
	if refusal, ok := errors.AsType[*dialect.Refusal](err); ok {
		status, rpc = refusal.Status, refusal.RPC
	}
	switch {
	case rpc != 0:
		return fmt.Sprintf("JSON-RPC %d %q", rpc, said)
	case status != 0:
		return fmt.Sprintf("HTTP %d %q", status, said)
	}
	return fmt.Sprintf("%q", cmp.Or(Words(err), err.Error()))
}
