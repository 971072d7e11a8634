package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// A letter is a message on its way to the agent. The zero value of everything
// but the message sends it by the book.
type letter struct {
	message protocol.Message
	dialect *protocol.Dialect // nil: Contracts
	id      string            // the JSON-RPC id as JSON; empty: a new one
	method  string            // in place of the dialect's own
	header  http.Header
	// edit changes the members of the message, wherever the dialect has put
	// them.
	edit func(map[string]any)
}

// body writes a letter.
func (t *T) body(l letter) []byte {
	d := l.dialect
	if d == nil {
		d = protocol.Contracts
	}
	call, err := d.Call(l.message)
	if err != nil {
		t.Skip("the message cannot be written in %s: %v", d.Name, err)
	}
	if l.method != "" {
		call.Method = l.method
	}
	id := l.id
	if id == "" {
		id = `"` + jsonrpc.RandomID() + `"`
		if d.NumericIDs {
			id = "4711"
		}
	}
	doc := call.Document(jsontext.Value(id))
	if l.edit == nil {
		return doc
	}
	var tree any
	decode(doc, &tree)
	change(tree, l.edit)
	return encode(tree)
}

// change applies an edit to every object of a document that is a message or
// bears a part of one.
func change(tree any, edit func(map[string]any)) {
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

// Send sends a letter and takes the answer apart.
func (t *T) Send(l letter) *Answer {
	return ReadAnswer(t.Post(t.body(l), l.header))
}

// answersInKind ends the check unless a message that is sent in a dialect is
// accepted, by an answer in the same. Strict agents may refuse what is bare.
func (t *T) answersInKind(m protocol.Message, d *protocol.Dialect) {
	a := t.Send(letter{message: m, dialect: d})
	if d == protocol.Bare && a.Refused {
		t.Note("refused, as in strict mode: %s", a)
		return
	}
	t.accepted(a, "")
	if a.Wrapping != d.Name {
		t.Fail("asked in %s, it answers in %s", d.Name, a.Wrapping)
	}
}

// accepted ends the check unless an answer says yes with a message of a type.
// An empty type stands for any, and an answer without one may be of any.
func (t *T) accepted(a *Answer, want protocol.Type) {
	given := protocol.Type(a.Message.text("message_type"))
	switch {
	case a.Err != nil, a.Refused, a.Document == nil:
		t.Fail("answered by %s", a)
	case a.Status < 200 || a.Status > 299:
		t.Fail("answered with HTTP %d; callers raise on that before they read the body", a.Status)
	case a.Message == nil:
		t.Fail("the answer holds no message, neither in result nor elsewhere")
	case want != "" && given != "" && given != want:
		t.Fail("answered by a %s instead of a %s", given, want)
	}
}

// refused ends the check unless an answer is a refusal that a caller can read.
func (t *T) refused(a *Answer) {
	switch {
	case a.Err != nil:
		t.Fail("it was not answered: %v", a.Err)
	case a.Refused:
	case a.Document == nil && a.Status >= 400:
		t.Fail("refused with HTTP %d and a body that is no JSON-RPC error; a caller cannot tell why", a.Status)
	default:
		t.Fail("it was taken: answered by %s", a)
	}
}

// decode and encode are for documents that the package has written itself.
func decode(doc []byte, v any) {
	reader := json.NewDecoder(bytes.NewReader(doc))
	reader.UseNumber()
	if err := reader.Decode(v); err != nil {
		panic(err)
	}
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}
