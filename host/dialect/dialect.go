// Package dialect is how peers wrap and name the messages of league.v2: the dialects of the
// protocol itself and those of programs that were met in real leagues. It recognizes the dialect of
// a request, answers in it, and reads an answer in whatever form it comes. It does no I/O;
// everything exported is safe for concurrent use unless its comment says otherwise.
//
// A [Codec] opens a request in two steps, so that a receiver can authenticate the sender before it
// validates the message: [Codec.Open] removes the wrapping and finds type and header,
// [Request.Decode] holds the fields to their rules. [Request.Reply] and [Request.Refuse] answer in
// the wrapping it came in. [Dialect.Call] wraps a message to send, and [Codec.ReadAnswer] reads the
// answer, wherever it sits.
package dialect

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Dialect describes how one kind of peer wraps messages. The codec reads and
// writes every dialect with the same code, so a new kind of peer needs a
// description and no code. A Dialect must not be changed once it is in use.
type Dialect struct {
	Name, Title     string // Name stands in settings and logs, Title describes the dialect in a line
	Request, Answer Place  // of the message in either direction
	// Naming derives the method of a request from its type; nil for the names of the protocol.
	Naming     func(protocol.Type) string
	NumericIDs bool   // JSON-RPC ids are numbers only
	Edits      []Edit // applied to every message that is sent, in this order
	// Omit lists top-level members that requests are sent without. Answers keep
	// them: members that the peer does not read do no harm.
	Omit []string
	// Marks, if set, reports what distinguishes a message of the dialect from one of others with the
	// same wrapping and names. Where it does, the dialect is preferred to those without marks.
	Marks func(message rawjson.Object) bool
	// Assignment is the name under which a referee is assigned its matches, one
	// by one; empty where it reads them from ROUND_ANNOUNCEMENT.
	Assignment string
}

// A Place is where a message sits in params, in a result or in a body. The zero
// Place is the flat one: the message is the params, or the result.
type Place struct {
	Method  string // the one that all requests share; empty where each has its own
	Name    string // the member that names the request or the tool, beside Message
	Message string // the member that holds the message, or with Header the rest
	Header  string // the member that holds the header fields apart
	Content bool   // an answer is an MCP tool result: also text in content, with isError
	Flat    bool   // the message's members stand at the top level, too
	Text    bool   // an answer is a string that holds JSON; the rest of the place is not used
	Request bool   // the answer is a request: its method is the type in lower case
	Both    bool   // the answer is a result and a request in one document
	Bare    bool   // there is no JSON-RPC: the body is the message
}

// An Edit sets one member of a message before it is sent.
type Edit struct {
	Types      []protocol.Type // concerned; nil means all
	Member     string
	Value, Was jsontext.Value // the new value and, if set, the one that it must have had
}

// nameOf returns the name of a request: its method or, where all requests
// share one, what stands in the place for it.
func (d *Dialect) nameOf(t protocol.Type) string {
	about, _ := protocol.Describe(t)
	if about.Method != "" && d.Naming != nil {
		return d.Naming(t)
	}
	return cmp.Or(about.Method, string(t))
}

// MethodsOf returns all names of a request of the type, the dialect's own first:
// what to try, in order, when the peer does not know a method.
func (d *Dialect) MethodsOf(t protocol.Type) []string {
	return protocol.MethodsOf(t, d.nameOf(t))
}

// edited applies the edits to an encoded message, and the omissions to a request.
func (d *Dialect) edited(t protocol.Type, raw jsontext.Value, request bool) jsontext.Value {
	if len(d.Edits) == 0 && (len(d.Omit) == 0 || !request) {
		return raw
	}
	doc := rawjson.Split(raw)
	for _, e := range d.Edits {
		if (e.Types == nil || slices.Contains(e.Types, t)) && (e.Was == nil || rawjson.Equal(e.Was, doc.Get(e.Member))) {
			doc = doc.Set(e.Member, e.Value)
		}
	}
	if request {
		doc = doc.Without(d.Omit...)
	}
	return doc.Encode()
}
