package dialect

import (
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
func (r *Refusal) Error() string {
	s := "protocol: the peer refuses"
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
func (c *Codec) ReadAnswer(sent protocol.Type, a Answer) (protocol.Message, error) {
	if a.Error != nil && a.Error.Kind() != 'n' {
		return nil, readRPCError(a)
	}
	if a.Raw == nil {
		return nil, noAnswer(sent, a)
	}
	var m protocol.Message
	var err error
	doc := locate(a.Raw, 0)
	if refusal := readRefusal(doc, a); refusal != nil {
		return nil, refusal
	} else if doc != nil {
		m, err = c.readAnswer(sent, doc)
	} else {
		err = noAnswer(sent, a)
		if a.Raw.Kind() != '[' { // true, or "odd"
			doc = rawjson.Object{{Name: "accept", Value: a.Raw}, {Name: "text", Value: a.Raw}}
		}
	}
	if err != nil && c.mode == protocol.Tolerant && a.Status < http.StatusBadRequest { // with a status of failure it is no answer
		return decodeTolerantly(answerTo(sent), doc, err, nil)
	}
	return m, err
}

func noAnswer(sent protocol.Type, a Answer) error {
	if a.Status >= http.StatusBadRequest {
		r := &Refusal{Status: a.Status, Message: "HTTP status " + strconv.Itoa(a.Status)}
		r.judge(nil, "")
		return r
	}
	return protocol.Refuse(protocol.CodeMissingField, answerTo(sent), "The response holds no message.")
}

func answerTo(sent protocol.Type) protocol.Type { return cmp.Or(sent.Answer(), sent+"_ACK") }

// readAnswer decodes the answer in doc. In tolerant mode an unknown type passes
// for the expected one.
func (c *Codec) readAnswer(sent protocol.Type, doc rawjson.Object) (protocol.Message, error) {
	expected := answerTo(sent)
	said := protocol.TypeOf(doc)
	_, known := protocol.Describe(said)
	if said != "" && said != expected && (c.mode == protocol.Strict || known) {
		return nil, protocol.Refuse(protocol.CodeContextMismatch, said, "The answer to "+string(sent)+" is "+string(expected)+".")
	}
	return protocol.Decode(expected, doc, c.mode, nil)
}

// maxNesting limits the wrappings that locate removes from an answer.
const maxNesting = 4

// locate finds the message in an answer: the value itself, or what is in one of the places that
// dialects use, also as JSON text, at a depth. It returns nil where there is no object.
func locate(raw jsontext.Value, depth int) rawjson.Object {
	if raw.Kind() == '"' && depth < maxNesting {
		if raw = rawjson.Text(raw); !raw.IsValid() { // nobody has read what it holds
			return nil
		}
		return locate(raw, depth+1)
	}
	doc := rawjson.Split(raw)
	if doc == nil || doc.Get("message_type") != nil || depth >= maxNesting {
		return doc
	}
	if doc.Get(Envelope.Answer.Header).Kind() == '{' {
		if message, refusal := Envelope.Answer.join(doc); refusal == nil {
			return message
		}
	}
	for _, name := range inAnswers {
		inner := doc.Get(name)
		for _, part := range rawjson.Batch(inner) {
			if inner = rawjson.Split(part).Get("text"); inner.Kind() == '"' {
				break
			}
		}
		if kind := inner.Kind(); kind == '{' || kind == '"' {
			if found := locate(inner, depth+1); found != nil {
				return found
			}
		}
	}
	return doc
}

// inAnswers are the members in which locate looks, in this order; of a list it takes the first text.
var inAnswers = []string{Tool.Answer.Message, ToolIO.Answer.Message, "content", "message", "result", "params"}

func readRPCError(a Answer) *Refusal {
	doc := rawjson.Split(a.Error)
	code, whole := rawjson.Integer(doc.Get("code"))
	given := func(name string) bool { v := doc.Get(name); return v != nil && v.Kind() != 'n' }
	if doc == nil || given("code") && !whole || given("message") && doc.Get("message").Kind() != '"' { // no error object of JSON-RPC
		return &Refusal{Status: a.Status, Message: words(doc, a.Error), Data: a.Error, Retryable: jsonrpc.RetryableStatus(a.Status)}
	}
	r := &Refusal{Status: a.Status, RPC: int(code), Message: doc.Text("message")}
	data := locate(doc.Get("data"), 0)
	r.judge(data, r.Message)
	return r
}

// readRefusal returns the refusal that the message in an answer is, nil if it is none.
func readRefusal(doc rawjson.Object, a Answer) *Refusal {
	t, failed := protocol.TypeOf(doc), a.Status >= http.StatusBadRequest
	refused := t.Refuses() || doc.Text("error_code") != "" || doc.Text("canonical") != "" || protocol.Fails(doc) ||
		rawjson.Split(a.Raw).Get("isError").Kind() == 't' || t == "" && failed
	if doc == nil || !refused || doc.Text("error_code") == "" && protocol.Means(protocol.Enrolling, doc.Text("status")) && !failed {
		return nil
	}
	r := &Refusal{Status: a.Status}
	r.judge(doc, "")
	r.Message = cmp.Or(r.Message, words(doc, a.Raw))
	return r
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
func (r *Refusal) judge(doc rawjson.Object, message string) {
	if doc != nil {
		r.Data = doc.Encode()
	}
	r.Code = protocol.FindCode(protocol.Code(doc.Text("error_code")), r.RPC,
		doc.Text("error_name"), doc.Text("error_description"), doc.Text("error_code"), message)
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
