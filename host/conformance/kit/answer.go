package kit

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Fields are the members of a message as they stand on the wire. Nil is no object.
type Fields rawjson.Object

// Get returns a member as it stands on the wire, nil if it is missing.
func (f Fields) Get(name string) jsontext.Value { return rawjson.Object(f).Get(name) }

// Text returns a member that is a string, "" otherwise.
func (f Fields) Text(name string) string { return rawjson.Object(f).Text(name) }

// Has reports whether a member is present and not null.
func (f Fields) Has(name string) bool { return f.Get(name) != nil && f.Get(name).Kind() != 'n' }

// Shown returns a member for a finding: as it stands on the wire, or "missing".
func (f Fields) Shown(name string) string { return cmp.Or(string(f.Get(name)), "missing") }

// Count returns a member that is an integer, -1 otherwise.
func (f Fields) Count(name string) int {
	if n, whole := rawjson.Integer(f.Get(name)); whole {
		return int(n)
	}
	return -1
}

// Round returns the number of a round: of an integer, or of a string that ends
// in one. It returns 0 for anything else.
func (f Fields) Round(name string) int {
	text := strings.Trim(string(f.Get(name)), `"`)
	n, _ := strconv.Atoi(text[strings.LastIndexByte(text, '_')+1:]) // 0 of what is no number
	return n
}

// Object returns a member that is an object, or a string that holds one; nil otherwise.
func (f Fields) Object(name string) Fields { return Object(f.Get(name)) }

// List returns a member that is a list of objects, nil for what is no list.
func (f Fields) List(name string) (all []Fields) {
	for _, e := range rawjson.Elements(f.Get(name)) {
		all = append(all, Object(e))
	}
	return all
}

// HasID reports whether the document has a JSON-RPC id: a string or a number.
func (f Fields) HasID() bool {
	kind := f.Get("id").Kind()
	return kind == '"' || kind == '0'
}

// Inner returns the message in the document of a request, without its wrapping.
func (f Fields) Inner() Fields {
	if params := f.Object("params"); params != nil {
		f, _ = params.unwrapped()
	}
	return f
}

// unwrapped returns the message in params or in a result, nil for none, and the name of its wrapping.
func (f Fields) unwrapped() (m Fields, wrapping string) {
	doc, wrapping := dialect.Unwrap(rawjson.Object(f), true)
	return Fields(doc), wrapping
}

// document reads JSON that is an object, also one that only a lenient reader takes.
func document(raw []byte) Fields {
	if !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil
	}
	return Fields(rawjson.Split(raw))
}

// Object reads JSON that is an object, or a string that holds one.
func Object(raw []byte) Fields {
	if text := rawjson.Text(raw); text != nil {
		raw = text
	}
	return document(raw)
}

// Answer is a decoded reply. It is read more leniently than the protocol asks
// for, because it is for the checks to say what is wrong with it.
type Answer struct {
	jsonrpc.Reply
	Took time.Duration
	Err  error // why no reply arrived; that is empty then
	// Document is the whole body, or the last event of a stream, nil if that is not a JSON object.
	Document Fields
	// Wrapping is the name of the dialect of the answer, or "request" for an
	// answer that is itself a request.
	Wrapping string
	// Message is the message itself, nil if there is none.
	Message Fields
	// Refused says that the answer is a refusal, Code is its JSON-RPC code (0
	// without one) and Reason its text.
	Refused bool
	Code    int
	Reason  string
	// Plain says that the refusal is only an HTTP status: nothing in the body says
	// in the form of the protocol why.
	Plain bool

	request  []byte   // that it answers
	evidence Evidence // of the exchange
}

// ReadAnswer decodes a reply. It finds the message in the document, and out whether the answer is a
// refusal, in any form.
func ReadAnswer(r jsonrpc.Reply) *Answer {
	a := &Answer{Reply: r, Document: document(r.Document())}
	switch doc := a.Document; {
	case doc == nil:
	case doc.Has("error"):
		e := doc.Object("error")
		a.Refused, a.Reason = true, cmp.Or(e.Text("message"), doc.Text("error"))
		a.Code, _ = strconv.Atoi(strings.Trim(string(e.Get("code")), `"`)) // 0 of what is no number
		a.Message, a.Wrapping = e.Object("data").unwrapped()
	case doc.Get("result") != nil:
		result := doc.Object("result")
		a.Message, a.Wrapping = result.unwrapped()
		if string(result.Get("isError")) == "true" {
			a.Refused, a.Reason = true, protocol.Prose(result.Get("content"))
		}
	case doc.Has("method"):
		a.Message, a.Wrapping = doc.Object("params"), "request"
	default:
		a.Message, a.Wrapping = doc, dialect.Bare.Name
	}
	a.Refused = a.Refused || saysNo(a.Message)
	if a.Status >= http.StatusBadRequest && len(a.Body) > 0 && !a.readable() {
		a.Refused, a.Plain = true, true
		if a.Document == nil || !a.Message.Has("detail") {
			a.Reason = cmp.Or(a.Reason, Printable(a.Body[:min(len(a.Body), 200)]))
		}
	}
	if s := protocol.Explanation(rawjson.Object(a.Message)); a.Refused && s != "" && s != a.Reason {
		a.Reason = strings.TrimPrefix(a.Reason+": "+s, ": ")
	}
	return a
}

// OK reports whether the HTTP status is 2xx.
func (a *Answer) OK() bool { return a.Err == nil && a.Status >= 200 && a.Status <= 299 }

// String describes the answer in a few words.
func (a *Answer) String() string {
	switch {
	case a.Err != nil:
		return "no answer: " + a.Err.Error()
	case a.Refused && a.Code != 0:
		return fmt.Sprintf("a refusal: %d %s", a.Code, a.Reason)
	case a.Plain:
		return fmt.Sprintf("a refusal: HTTP %d %s", a.Status, a.Reason)
	case a.Refused:
		return "a refusal: " + a.Reason
	case len(a.Body) == 0:
		return fmt.Sprintf("HTTP %d with an empty body", a.Status)
	case a.Document == nil:
		return fmt.Sprintf("HTTP %d with a body that is not a JSON object", a.Status)
	case a.Message.Text("message_type") != "":
		return "a " + a.Message.Text("message_type")
	}
	return fmt.Sprintf("HTTP %d with a message without message_type", a.Status)
}

// readable reports whether a caller of JSON-RPC finds in the document why it was refused.
func (a *Answer) readable() bool {
	rpc := a.Document.Has("error") && (a.Document.Object("error") != nil || a.Document.Has("jsonrpc"))
	return rpc || a.Document.Has("result") || protocol.Type(a.Message.Text("message_type")) != ""
}

// saysNo reports whether a message is a refusal by its own members.
func saysNo(m Fields) bool {
	status := m.Text("status")
	if protocol.Means(protocol.Failing, status) || protocol.Means(protocol.Rejecting, status) {
		return true
	}
	if protocol.Type(m.Text("message_type")).Refuses() {
		// The name alone may be an echo of what is acknowledged.
		return !protocol.Means(protocol.Receiving, status)
	}
	return m.Get("success").Kind() == 'f' && !m.Has("query_type")
}

// UnknownMessage reports whether the answer refuses because the agent does not
// know the method or the type of the message.
func (a *Answer) UnknownMessage() bool {
	return a.Refused && (protocol.Says(protocol.UnknownName, a.Reason) || protocol.Says(protocol.UnknownName, a.Message.Text("status")) ||
		a.Plain && (a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed) ||
		a.Code == -32601 || protocol.Code(a.Message.Text("error_code")) == protocol.CodeUnknownMessageType)
}

// maxShown limits the bytes of a message in the evidence.
const maxShown = 4096

// Clip returns the beginning of a message, and how much more there is, in words.
func Clip[M ~string | ~[]byte](message M, most int) (beginning M, more string) {
	if len(message) <= most {
		return message, ""
	}
	return message[:most], fmt.Sprintf("... (%d bytes more)", len(message)-most)
}

// Printable returns a message for the evidence; bytes that are not UTF-8 are written as \xNN.
func Printable(b []byte) string {
	b, cut := Clip(b, maxShown)
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&text, "\\x%02x", b[0])
		} else {
			text.Write(b[:size])
		}
		b = b[size:]
	}
	return text.String() + cut
}

// Read returns what our own tolerant agents read in the answer to a message of a
// type, nil where they read none.
func (a *Answer) Read(typ protocol.Type) protocol.Message {
	parts, err := dialect.ParseAnswer(a.Status, a.Reply.Document())
	if err != nil {
		return nil
	}
	if m, err := tolerant.ReadAnswer(typ, parts); err == nil {
		return m
	}
	return nil
}

// Taken reports whether an answer accepts the request.
func (a *Answer) Taken() bool { return !a.Refused && a.OK() && a.Document != nil }
