package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire"
)

// Request is a message to the agent. With only a message it is sent in the way in which the agent
// takes messages of its type; how that is found out, see [T.Send].
type Request struct {
	Message protocol.Message
	Dialect *dialect.Dialect // instead of the way that was found
	ID      string           // the JSON-RPC id as JSON; empty: a new one
	Method  string           // instead of the dialect's
	Header  http.Header
	// AssignedBy is the name of the message that assigns the first match of an announcement in its place.
	AssignedBy string
	// Fault spoils the message before it is wrapped, Edit changes the members of the message wherever
	// its wrapping puts them, and Body what is then sent. A check is skipped if that changes nothing,
	// because the way has no place for it.
	Fault func(m protocol.Message)
	Edit  Edit
	Body  func(body []byte) []byte
}

// plain reports whether a request is nothing but a message.
func (r Request) plain() bool { return reflect.DeepEqual(r, Request{Message: r.Message}) }

// Edit changes the members of a message.
type Edit = func(map[string]any)

// Set returns an edit that sets a member.
func Set(name string, value any) Edit { return func(m map[string]any) { m[name] = value } }

// Delete returns an edit that deletes members.
func Delete(names ...string) Edit {
	return func(m map[string]any) {
		maps.DeleteFunc(m, func(name string, _ any) bool { return slices.Contains(names, name) })
	}
}

// WithoutID leaves the JSON-RPC id out.
func WithoutID(body []byte) []byte { return rawjson.Split(body).Without("id").Encode() }

// Forged is a token that was never issued.
const Forged = "tok-XX-0f0e0d0c0b0a09080706050403020100-forged"

// form returns the form in which a request is sent. A dialect of its own has request ids of the kind
// that the agent takes.
func (t *T) form(r Request) wire.Form {
	p, d := t.Session.Peer, r.Dialect
	w, err := p.Form(r.Message.Head().MessageType)
	switch {
	case d == nil && err == nil:
		return w
	case d == nil: // it knows no form, and will refuse it
		d = p.Speaks()
	case p.Speaks().NumericIDs && !d.NumericIDs && !d.Request.Bare:
		d = d.With(dialect.TraitNumericIDs)
	}
	return wire.Form{URL: p.Address(), Dialect: d}
}

// encode encodes a request, and says where it goes.
func (t *T) encode(r Request) *jsonrpc.Outgoing {
	w := t.form(r)
	if r.ID == "" {
		r.ID = strconv.Quote(jsonrpc.RandomID())
		if w.Dialect.NumericIDs {
			r.ID = strconv.FormatInt(t.Session.numbers.Add(1), 10)
		}
	}
	out := t.document(r, w)
	clean := out.Body
	if r.Fault != nil {
		r.Fault(r.Message)
		out = t.document(r, w)
	}
	if r.Edit != nil && w.Input != nil {
		out.Body = edited(out.Body, func(tree any) { editDeclared(tree, w.Dialect.Request, r.Edit) })
	} else if r.Edit != nil {
		out.Body = EditMessage(out.Body, r.Edit)
	}
	if r.Body != nil {
		out.Body = r.Body(out.Body)
	}
	if (r.Fault != nil || r.Edit != nil || r.Body != nil) && rawjson.Equal(clean, out.Body) {
		t.Skip("it takes %s by %s, which has no place for what this tests", r.Message.Head().MessageType, w)
	}
	out.Header = http.Header{}
	maps.Copy(out.Header, t.Session.Peer.SessionHeader())
	maps.Copy(out.Header, r.Header)
	return out
}

// document wraps the message of a request.
func (t *T) document(r Request, f wire.Form) *jsonrpc.Outgoing {
	call, url, err := f.Call(r.Message)
	if a, is := r.Message.(*protocol.RoundAnnouncement); is && r.AssignedBy != "" {
		calls, failed := f.Dialect.AssignmentCalls(r.AssignedBy, a)
		call, url, err = append(calls, call)[0], f.URL, failed
	}
	if err != nil {
		t.Skip("the message cannot be written in %s: %v", f.Dialect.Name, err)
	}
	if r.Method != "" {
		call.Method = r.Method
	}
	call.ID = jsontext.Value(r.ID)
	return &jsonrpc.Outgoing{URL: url, Body: call.Encode()}
}

// editDeclared edits the arguments that the agent has declared, and adds none.
func editDeclared(tree any, at dialect.Place, edit Edit) {
	declared, _ := tree.(map[string]any)
	for _, holder := range []string{"params", at.Message} {
		if inner, holds := declared[holder].(map[string]any); holds && !at.Bare {
			declared = inner
		}
	}
	before := maps.Clone(declared)
	edit(declared)
	maps.DeleteFunc(declared, func(name string, _ any) bool { _, had := before[name]; return !had })
}

// EditMessage applies an edit to every object of a document that is a message
// or holds a part of one.
func EditMessage(doc []byte, edit Edit) []byte {
	return edited(doc, func(tree any) { change(tree, edit) })
}

func change(tree any, edit Edit) {
	switch v := tree.(type) {
	case map[string]any:
		if v["message_type"] != nil || v["match_id"] != nil {
			edit(v)
			return
		}
		for _, inner := range v {
			change(inner, edit)
		}
	case []any:
		for _, inner := range v {
			change(inner, edit)
		}
	}
}

// edited decodes a document that this package has encoded, changes it and encodes it again.
func edited(doc []byte, edit func(tree any)) []byte {
	var tree any
	reader := json.NewDecoder(bytes.NewReader(doc))
	reader.UseNumber()
	if err := reader.Decode(&tree); err != nil {
		panic(err)
	}
	edit(tree)
	out, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return out
}

// Send sends a request and reads the answer. A plain one is sent as our own agents send it, who find
// out by which names, arguments, ids and wrappings the agent takes it; all others are sent in the way
// that was found. How a referee is assigned matches is for its suite to find.
func (t *T) Send(r Request) *Answer {
	assigns := t.Session.Role == Referee && r.Message.Head().MessageType == protocol.TypeRoundAnnouncement
	if r.plain() && !assigns {
		if a := t.Find(r.Message); a != nil {
			return a
		}
	}
	a := t.post(t.ctx, t.encode(r))
	t.learn(a)
	return a
}

// Tell sends a message in the way in which the agent takes its type.
func (t *T) Tell(m protocol.Message) *Answer { return t.Send(Request{Message: m}) }

// Find sends a message as our own agents do. It returns the answer of the attempt
// that was understood or, if none was, of the first; nil if none was made.
func (t *T) Find(m protocol.Message) *Answer {
	t.attempts = nil
	_, err := t.Caller().Call(t.ctx, t.Session.Peer, m)
	a := t.Last()
	if understood := err == nil || errors.Is(err, wire.ErrReceived) || wire.Judge(err) == wire.Refuses; !understood && len(t.attempts) > 1 {
		a = t.attempts[0]
		t.Exhibit(a)
	}
	if a != nil {
		t.learn(a)
	}
	return a
}

// learn keeps a refusal by nothing but an HTTP status.
func (t *T) learn(a *Answer) {
	request := Object(a.request)
	if a.Plain && !slices.Contains(speaking, a.Status) && (request == nil || request.Has("jsonrpc")) { // what is bare asks for no JSON-RPC
		t.Session.plain.CompareAndSwap(nil, &a.evidence)
	}
}

// Caller returns one that sends as our own agents do. What it exchanges with the agent is evidence of the check.
func (t *T) Caller() *wire.Caller { return t.Session.caller(t.RoundTrip) }

// Last returns the answer to the last request that was carried, nil without any.
func (t *T) Last() *Answer {
	if len(t.attempts) == 0 {
		return nil
	}
	return t.attempts[len(t.attempts)-1]
}

// RoundTrip carries a request, whose exchange is evidence unless it only fetches what the agent publishes.
func (t *T) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	if out.Method != "" && out.Method != http.MethodPost {
		return t.Session.transport.RoundTrip(ctx, out)
	}
	a := t.post(ctx, out)
	t.attempts = append(t.attempts, a)
	return &a.Reply, a.Err
}

// post sends a request, whose exchange is evidence, and returns the answer.
func (t *T) post(ctx context.Context, out *jsonrpc.Outgoing) *Answer {
	s := t.Session
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	out.MaxAnswer = maxMessage
	began := time.Now()
	reply, err := s.transport.RoundTrip(ctx, out)
	took := time.Since(began)
	e := Evidence{To: out.URL, Request: cmp.Or(Printable(out.Body), out.Method), TookMS: Milliseconds(took)}
	if broken, ok := errors.AsType[*jsonrpc.CallError](err); ok {
		broken.URL = out.URL
	}
	if err != nil {
		t.unreachable = t.unreachable || errors.Is(err, jsonrpc.ErrConnect)
		if ctx.Err() != nil {
			err = fmt.Errorf("no reply within %v: %w", s.Timeout, context.DeadlineExceeded)
		}
		reply, e.Error = new(jsonrpc.Reply), err.Error()
	} else {
		s.mu.Lock()
		s.slowest = max(s.slowest, took)
		s.mu.Unlock()
		e.Status, e.Answer = reply.Status, Printable(reply.Body)
	}
	t.Keep(e)
	a := ReadAnswer(*reply)
	a.Took, a.Err, a.request, a.evidence = took, err, slices.Clone(out.Body), e
	return a
}

// Exhibit adds the exchange of an answer to the evidence, if there was one.
func (t *T) Exhibit(a *Answer) {
	if a != nil && a.evidence.To != "" {
		t.Keep(a.evidence)
	}
}

// Post sends a body to a URL and returns the answer, whatever it is. Every exchange is evidence.
func (t *T) Post(url string, body []byte) *Answer {
	return t.post(t.ctx, &jsonrpc.Outgoing{URL: url, Body: body})
}
