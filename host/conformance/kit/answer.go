package kit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Fields are the members of a message as they stand on the wire.
type Fields map[string]json.RawMessage

// Doc returns the members as an object of host/rawjson, sorted by name.
func (f Fields) Doc() rawjson.Object {
	raw, err := json.Marshal(f)
	if err != nil {
		panic(err) // all members were read
	}
	return rawjson.Split(raw)
}

// Text returns a member that is a string, "" otherwise.
func (f Fields) Text(name string) string {
	var s string
	_ = json.Unmarshal(f[name], &s) // anything but a string reads as ""
	return s
}

// Has reports whether a member is present and not null.
func (f Fields) Has(name string) bool { return f[name] != nil && string(f[name]) != "null" }

// Shown returns a member for a finding: as it stands on the wire, or "missing".
func (f Fields) Shown(name string) string {
	if f[name] == nil {
		return "missing"
	}
	return string(f[name])
}

// Count returns a member that is an integer, -1 otherwise.
func (f Fields) Count(name string) int {
	var n *int
	if json.Unmarshal(f[name], &n) != nil || n == nil {
		return -1
	}
	return *n
}

// Round returns the number of a round: of an integer, or of a string that ends
// in one. It returns 0 for anything else.
func (f Fields) Round(name string) int {
	text := strings.Trim(string(f[name]), `"`)
	n, _ := strconv.Atoi(text[strings.LastIndexByte(text, '_')+1:]) // 0 of what is no number
	return n
}

// Object returns a member that is an object, or a string that holds one; nil otherwise.
func (f Fields) Object(name string) Fields { return Object(f[name]) }

// List returns a member that is a list of objects, nil otherwise.
func (f Fields) List(name string) []Fields { return listOf[Fields](f[name]) }

func listOf[E any](raw json.RawMessage) (all []E) {
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// HasID reports whether the document has a JSON-RPC id: a string or a number.
func (f Fields) HasID() bool {
	kind := jsontext.Value(f["id"]).Kind()
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
	doc, wrapping := dialect.Unwrap(f.Doc(), true)
	if f == nil || doc == nil {
		return nil, wrapping
	}
	return Object(json.RawMessage(doc.Encode())), wrapping
}

// Object reads JSON that is an object, or a string that holds one.
func Object(raw json.RawMessage) Fields {
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte{'"'}) {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil
		}
		raw = json.RawMessage(text)
	}
	var f Fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// Reply is the HTTP response to a message.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
	Err    error // why no response arrived; Status is 0 then
}

// Answer is a decoded reply. It is read more leniently than the protocol asks
// for, because it is for the checks to say what is wrong with it.
type Answer struct {
	Reply
	// Document is the whole body, nil if that is not a JSON object.
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

// ReadAnswer decodes a reply.
func ReadAnswer(r Reply) *Answer {
	a := &Answer{Reply: r}
	if json.Unmarshal(r.Body, &a.Document) == nil && a.Document != nil {
		a.locate()
	}
	a.refusal()
	return a
}

// locate finds the message in the document.
func (a *Answer) locate() {
	switch doc := a.Document; {
	case doc.Has("error"):
		a.Message, a.Wrapping = doc.Object("error").Object("data").unwrapped()
	case doc["result"] != nil:
		a.Message, a.Wrapping = doc.Object("result").unwrapped()
	case doc.Has("method"):
		a.Message, a.Wrapping = doc.Object("params"), "request"
	default:
		a.Message, a.Wrapping = doc, dialect.Bare.Name
	}
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

// refusal finds out whether the answer is a refusal, in any form.
func (a *Answer) refusal() {
	var e struct {
		Code    json.Number
		Message string
	}
	result := a.Document.Object("result")
	switch {
	case a.Document.Has("error"):
		a.Refused = true
		_ = json.Unmarshal(a.Document["error"], &e) // an error of any form refuses
		if n, err := e.Code.Int64(); err == nil {
			a.Code = int(n)
		}
		a.Reason = cmp.Or(e.Message, a.Document.Text("error"))
	case string(result["isError"]) == "true":
		a.Refused, a.Reason = true, protocol.Prose(jsontext.Value(result["content"]))
	case saysNo(a.Message):
		a.Refused = true
	}
	if a.Err == nil && a.Status >= http.StatusBadRequest && len(a.Body) > 0 && !a.readable() {
		a.Refused, a.Plain = true, true
		if a.Document == nil || !a.Message.Has("detail") {
			a.Reason = cmp.Or(a.Reason, Printable(a.Body[:min(len(a.Body), 200)]))
		}
	}
	if s := protocol.Explanation(a.Message.Doc()); a.Refused && s != "" && s != a.Reason {
		a.Reason = strings.TrimPrefix(a.Reason+": "+s, ": ")
	}
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
	return string(m["success"]) == "false" && !m.Has("query_type")
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

// Printable returns a message for the evidence; bytes that are not UTF-8 are written as \xNN.
func Printable(b []byte) string {
	cut := ""
	if len(b) > maxShown {
		b, cut = b[:maxShown], fmt.Sprintf("... (%d bytes more)", len(b)-maxShown)
	}
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
	parts, err := dialect.ParseAnswer(a.Status, a.Body)
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
