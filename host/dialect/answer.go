package dialect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// An Answer is a received answer. Its parts hold well-formed JSON without duplicate names.
type Answer struct {
	Status int            // the HTTP status; 0 where there is none
	Error  jsontext.Value // of a JSON-RPC response; null is no error
	Raw    jsontext.Value // the result, the params of a request in its place, or a body without JSON-RPC
}

// ParseAnswer splits the body of an HTTP response, whatever its form. The error
// says why it is invalid JSON.
func ParseAnswer(status int, body []byte) (Answer, error) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return Answer{Status: status}, &protocol.Error{RPC: protocol.RPCParseError, Detail: "The message is not valid JSON: " + err.Error()}
	}
	return AnswerOf(status, doc, body), nil
}

// AnswerOf is [ParseAnswer] for a body that has been taken apart.
func AnswerOf(status int, doc rawjson.Object, body []byte) Answer {
	a := Answer{Status: status, Error: doc.Get("error"), Raw: doc.Get("result", "params")}
	if doc.Get("message_type") != nil || a.Error == nil && a.Raw == nil {
		a = Answer{Status: status, Raw: body}
	}
	return a
}

// A Refusal is a peer's refusal of a message, or its report of a fault.
type Refusal struct {
	Code        protocol.Code  // the league error that the peer means; empty where it is unknown
	RPC, Status int            // the JSON-RPC code and the HTTP status; 0 without one
	Message     string         // the text of the peer
	Retryable   bool           // the same message may succeed later
	Data        jsontext.Value // LEAGUE_ERROR, GAME_ERROR or whatever the peer sent; nil for nothing
}

// Error returns the refusal for a log.
func (r *Refusal) Error() string { return "protocol: the peer refuses" + r.Words() }

// Words returns what the peer has said, to follow a verb; empty if that is nothing.
func (r *Refusal) Words() (s string) {
	if r.Code != "" {
		s += ": " + string(r.Code) + " " + r.Code.Name()
	}
	if r.RPC != 0 {
		s += fmt.Sprintf(" (JSON-RPC %d)", r.RPC)
	}
	if r.Message != "" && r.Message != r.Code.Name() {
		s += ": " + r.Message
	}
	return s
}

// ReadAnswer decodes the answer to a request of type sent, wherever in a it
// sits. The error is a [*Refusal] where the peer refuses, and a
// [*protocol.Error] where the answer breaks the field rules.
func (c *Codec) ReadAnswer(sent protocol.Type, a Answer) (m protocol.Message, err error) {
	doc := locate(a.Raw)
	if refusal := a.refusal(doc); refusal != nil {
		return nil, refusal
	}
	expected, said := cmp.Or(sent.Answer(), sent+"_ACK"), protocol.TypeOf(doc)
	switch _, known := protocol.Describe(said); {
	case doc == nil:
		err = protocol.Refuse(protocol.CodeMissingField, expected, "The response holds no message.")
		if a.Raw.Kind() != '[' { // true, or "odd"
			doc = rawjson.Object{{Name: "accept", Value: a.Raw}, {Name: "text", Value: a.Raw}}
		}
	case said != "" && said != expected && (c.mode == protocol.Strict || known): // else it passes for the expected one
		err = protocol.Refuse(protocol.CodeContextMismatch, said, fmt.Sprintf("The answer to %s is %s.", sent, expected))
	default:
		m, err = protocol.Decode(expected, doc, c.mode, nil)
	}
	failed := a.Raw == nil || a.Status >= http.StatusBadRequest // then it is no answer
	if err != nil && c.mode == protocol.Tolerant && !failed {
		return decodeTolerantly(expected, doc, err, nil)
	}
	return m, err
}

// maxNesting limits the wrappings that locate removes from an answer.
const maxNesting = 4

// locate finds the message in an answer: the value itself, or what is in one of the places that
// dialects use, also as JSON text. It returns nil where there is no object.
func locate(raw jsontext.Value) rawjson.Object {
	doc := objectIn(raw)
	for depth := 0; depth < maxNesting && doc.Get("message_type") == nil; depth++ {
		inner, wrapping := Unwrap(doc, false)
		if wrapping == Contracts.Name || inner == nil {
			inner = objectIn(doc.Get("result", "params"))
		}
		if inner == nil {
			break
		}
		doc = inner
	}
	return doc
}

// objectIn returns the object that a value is, or that a text holds; nil without one.
func objectIn(raw jsontext.Value) rawjson.Object {
	for range maxNesting {
		if raw.Kind() != '"' {
			break
		}
		if raw = rawjson.Text(raw); !raw.IsValid() { // nobody has read what it holds
			return nil
		}
	}
	return rawjson.Split(raw)
}

// Unwrap returns the message in a result or in the data of an error or, with asks, also in params, and
// the name of the dialect that wraps it so: [Contracts] where the message is the document itself. It is
// nil in the result of a tool whose text holds no object. An answer may quote the request. With asks, an
// envelope is one also where it and the payload disagree.
func Unwrap(doc rawjson.Object, asks bool) (message rawjson.Object, wrapping string) {
	if doc.Get(Envelope.Answer.Header).Kind() == '{' {
		if message, refusal := Envelope.Answer.join(doc); refusal == nil || asks {
			return message, Envelope.Name
		}
	}
	for _, d := range []*Dialect{Tool, ToolIO, HandleMessage} {
		places := []string{cmp.Or(d.Answer.Message, d.Request.Message)}
		if asks {
			places = append(places, d.Request.Message)
		}
		message := objectIn(doc.Get(places...))
		if message != nil && (d != HandleMessage || doc.Get("message_type") == nil) {
			return message, d.Name
		}
	}
	text := doc.Get("content")
	parts := rawjson.Elements(text)
	for _, part := range parts { // others may stand beside the text, such as an image or a note
		if text = rawjson.Split(part).Get("text"); text.Kind() == '"' {
			break
		}
	}
	if message := objectIn(text); message != nil || parts != nil {
		return message, Tool.Name
	}
	return doc, Contracts.Name
}

// refusal returns the refusal that an answer with the message doc is, nil for any other answer.
func (a Answer) refusal(doc rawjson.Object) *Refusal {
	r, failed := &Refusal{Status: a.Status}, a.Status >= http.StatusBadRequest
	if a.Error != nil && a.Error.Kind() != 'n' {
		e := rawjson.Split(a.Error)
		code, whole := rawjson.Integer(e.Get("code"))
		given := func(name string) bool { v := e.Get(name); return v != nil && v.Kind() != 'n' }
		// What is no error object of JSON-RPC is shown as it is.
		if e == nil || given("code") && !whole || given("message") && e.Get("message").Kind() != '"' {
			r.Message, r.Data, r.Retryable = words(e, a.Error), a.Error, jsonrpc.RetryableStatus(a.Status)
			return r
		}
		r.RPC, r.Message = int(code), e.Text("message")
		r.judge(locate(e.Get("data")))
		return r
	}
	t := protocol.TypeOf(doc)
	byTool := bytes.Contains(a.Raw, []byte("isError")) && rawjson.Split(a.Raw).Get("isError").Kind() == 't'
	refused := t.Refuses() || refuses(doc) || byTool || t == "" && failed
	taken := doc.Text("error_code") == "" && protocol.Means(protocol.Enrolling, doc.Text("status"))
	if !refused || !failed && (doc == nil || taken) {
		return nil
	}
	if r.judge(doc); r.Message == "" && doc == nil {
		r.Message = "HTTP status " + strconv.Itoa(a.Status)
	} else if r.Message == "" {
		r.Message = words(doc, a.Raw)
	}
	return r
}

// refuses reports whether a message says of itself that it refuses, or a tool's result.
func refuses(doc rawjson.Object) bool {
	named := doc.Text("error_code") != "" || doc.Text("canonical") != ""
	return named || protocol.Fails(doc) || doc.Get("isError").Kind() == 't'
}

// MaxWords is how much of a peer's own words is shown, in bytes.
const MaxWords = 200

// words returns what a peer says in a refusal: one of the usual members, the findings of a
// validator, the text of a tool's result, or else the beginning of the body.
func words(doc rawjson.Object, body jsontext.Value) string {
	return Clip(cmp.Or(protocol.Explanation(doc), string(rawjson.Text(body)), string(body)), MaxWords)
}

// Clip shortens a text to so many bytes, and dots.
func Clip(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// judge determines the error code and whether a retry is allowed: the peer can
// forbid what the code allows, and decides where the code is unknown.
func (r *Refusal) judge(doc rawjson.Object) {
	if doc != nil {
		r.Data = doc.Encode()
	}
	r.Code = protocol.FindCode(protocol.Code(doc.Text("error_code")), r.RPC,
		doc.Text("error_name"), doc.Text("error_description"), doc.Text("error_code"), r.Message)
	if r.Code == "" && r.RPC == RPCTimeout {
		r.Code = protocol.CodeTimeout
	}
	switch {
	case r.Code == "" && r.Status == http.StatusUnauthorized:
		r.Code = protocol.CodeTokenInvalid
	case doc.Text("canonical") == protocol.CanonicalToolNotFound:
		r.Code = protocol.CodeUnknownMessageType // another name may be known
	}
	r.Message = cmp.Or(protocol.Explanation(doc), doc.Text("error_name"), doc.Text("error_code"), r.Message)
	own := doc.Get("retryable").Kind()
	r.Retryable = r.Code.Retryable() && own != 'f' || r.Code == "" && own == 't' || jsonrpc.RetryableStatus(r.Status)
}

// RPCTimeout is the JSON-RPC code by which some agents report the timeout of the other side.
const RPCTimeout = -1

// CodeOf returns the league error code that err carries, as a refusal by this
// side or by a peer, and "" if it carries none.
func CodeOf(err error) protocol.Code {
	if own, ok := errors.AsType[*protocol.Error](err); ok {
		return own.Code
	}
	if peer, ok := errors.AsType[*Refusal](err); ok {
		return peer.Code
	}
	return ""
}
