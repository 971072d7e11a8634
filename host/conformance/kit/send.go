package kit

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// Request is a message to the agent. With only a message it is sent exactly as
// the protocol says.
type Request struct {
	Message protocol.Message
	Dialect *dialect.Dialect // nil: Contracts
	ID      string           // the JSON-RPC id as JSON; empty: a new one
	NoID    bool             // leave the JSON-RPC id out
	Method  string           // instead of the dialect's
	Header  http.Header
	// Wrap replaces the dialect's wrapping of the message.
	Wrap func(d *dialect.Dialect) (dialect.Call, error)
	// Edit changes the members of the message, wherever the dialect puts them.
	Edit Edit
}

// Edit changes the members of a message.
type Edit = func(map[string]any)

// Set returns an edit that sets a member.
func Set(name string, value any) Edit { return func(m map[string]any) { m[name] = value } }

// Delete returns an edit that deletes members.
func Delete(names ...string) Edit {
	return func(m map[string]any) {
		for _, name := range names {
			delete(m, name)
		}
	}
}

// Forged is a token that was never issued.
const Forged = "tok-XX-0f0e0d0c0b0a09080706050403020100-forged"

// Body encodes a request.
func (t *T) Body(r Request) []byte {
	d := r.Dialect
	if d == nil {
		d = dialect.Contracts
	}
	wrap := r.Wrap
	if wrap == nil {
		wrap = func(d *dialect.Dialect) (dialect.Call, error) { return d.Call(r.Message) }
	}
	call, err := wrap(d)
	if err != nil {
		t.Skip("the message cannot be written in %s: %v", d.Name, err)
	}
	if r.Method != "" {
		call.Method = r.Method
	}
	id := r.ID
	if id == "" {
		id = `"` + jsonrpc.RandomID() + `"`
		if d.NumericIDs {
			id = "4711"
		}
	}
	doc := call.Document(jsontext.Value(id))
	if r.NoID {
		doc = edited(doc, func(tree any) { delete(tree.(map[string]any), "id") })
	}
	if r.Edit == nil {
		return doc
	}
	return EditMessage(doc, r.Edit)
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

// edited decodes a document that this package has encoded, changes it and
// encodes it again.
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

// Send sends a request and reads the answer.
func (t *T) Send(r Request) *Answer { return t.SendBytes(t.Body(r), r.Header) }

// SendBytes sends a body and reads the answer.
func (t *T) SendBytes(body []byte, header http.Header) *Answer {
	a := ReadAnswer(t.Post(body, header))
	request := Object(body)
	bare := request != nil && !request.Has("jsonrpc") // it asks for no JSON-RPC
	if a.Plain && !bare && !slices.Contains(speaking, a.Status) {
		t.Session.keepPlain(t.Evidence[len(t.Evidence)-1])
	}
	return a
}

// speaking are the HTTP statuses that say why by themselves.
var speaking = []int{
	http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// Guest is implemented by peers that may face an agent which has not
// registered with them. Such an agent may refuse what it is sent: it knows
// another manager, or none.
type Guest interface {
	// Unregistered returns the manager's URL if the agent has not registered.
	Unregistered() (manager string, yes bool)
}

// Accepted ends the check unless an answer accepts the request with a message
// of a type. An empty type stands for any; an answer without a type passes.
func (t *T) Accepted(a *Answer, want protocol.Type) {
	if guest, ok := t.Peers.(Guest); ok && a.Refused {
		if manager, yes := guest.Unregistered(); yes {
			t.Skip("the agent is not registered with this manager and answers with %s; start it with the manager %s, so that it knows the sender", a, manager)
		}
	}
	given := protocol.Type(a.Message.Text("message_type"))
	switch {
	case a.Err != nil, a.Refused, a.Document == nil:
		t.Fail("answered by %s", a)
	case !a.OK():
		t.Fail("answered with HTTP %d; callers treat that as a failure before they read the body", a.Status)
	case a.Message == nil:
		t.Fail("the answer holds no message, neither in result nor elsewhere")
	case want != "" && given != "" && given != want:
		t.Fail("answered by a %s instead of a %s", given, want)
	}
}

// Refused ends the check unless an answer is a refusal, in any form. A refusal
// that would have come for the message without its fault as well tells nothing:
// then the check is skipped.
func (t *T) Refused(a *Answer) {
	switch {
	case a.Err != nil:
		t.Fail("it was not answered: %v", a.Err)
	case a.Refused:
		if t.Control(a) {
			t.Skip("it refuses such a message without the fault in the same words (%s)", a)
		}
	case len(a.Body) == 0 && a.Status >= http.StatusBadRequest:
		t.Fail("answered with HTTP %d and an empty body; a caller cannot tell why", a.Status)
	default:
		t.Fail("it was accepted: answered by %s", a)
	}
}

// Equal ends the check unless an answer has a member with a value.
func (t *T) Equal(a *Answer, name, want string) {
	if got := a.Message.Text(name); got != want {
		t.Fail("%s is %s, want %q", name, a.Message.Shown(name), want)
	}
}
