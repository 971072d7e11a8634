package dialect

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Codec reads requests and answers in any known dialect. It is safe for concurrent use.
type Codec struct{ mode protocol.Mode }

// NewCodec returns a codec that asks so much of messages.
func NewCodec(mode protocol.Mode) *Codec { return &Codec{mode} }

// Mode returns how much the codec asks of messages.
func (c *Codec) Mode() protocol.Mode { return c.mode }

// A Request is an inbound message: unwrapped and dispatched, not yet validated.
// It is not safe for concurrent use.
type Request struct {
	Type    protocol.Type   // empty where it is unknown
	Header  protocol.Header // as far as its fields are strings, to authenticate the sender by
	Dialect *Dialect        // of the request, and of the answer to be
	Method  string          // of JSON-RPC, as it came; empty for a bare message
	Raw     jsontext.Value  // the message without its wrapping; it may alias the text that was read
	ID      jsontext.Value  // of JSON-RPC, nil where it is not known
	Mode    protocol.Mode   // in which it is read

	// Assignment is the type under which it assigned a single match, empty for any other request.
	Assignment string

	doc  rawjson.Object // Raw, taken apart
	tool string         // what the message was called by, echoed in some answers
	path string         // to which a message without JSON-RPC was sent

	said rawjson.Object // the message before its fields got the names of the protocol
}

// Open unwraps a request that host/jsonrpc has read and determines its message type. The Request is
// never nil: if Open fails, it serves to answer in kind. The error is a [*protocol.Error]: strict
// mode refuses a body without JSON-RPC. Params that are missing or null count as an empty object.
func (c *Codec) Open(rpc *jsonrpc.Request) (*Request, error) {
	r := &Request{Dialect: Contracts, Method: rpc.Method, Mode: c.mode, ID: rpc.ID, Raw: rpc.Params}
	bare, what := rpc.Kind == jsonrpc.KindObject, "params"
	switch {
	case bare:
		r.Dialect, r.Method, r.Raw, r.path, what = Bare, "", rpc.Raw, rpc.Route, "The body"
	case len(r.Raw) == 0, r.Raw.Kind() == 'n':
		r.Raw = jsontext.Value("{}")
	case c.mode == protocol.Tolerant:
		if all := rawjson.Elements(r.Raw); len(all) == 1 { // the only parameter by position
			r.Raw = all[0]
		}
	}
	switch {
	case r.Raw.Kind() != '{':
		return r, refuseShape("", what+" is not an object.")
	case bare && c.mode == protocol.Strict:
		return r, refuseShape("", `The request has no "jsonrpc": "2.0" around it.`)
	}
	r.doc = rawjson.Split(r.Raw)
	var refusal *protocol.Error
	if !bare {
		if r.Dialect, refusal = c.wrapped(r.Method, r.doc); refusal != nil {
			return r, refusal
		}
	}
	if r.Dialect.Request.structured() {
		r.doc, r.tool, refusal = r.Dialect.Request.unwrap(r.doc)
		r.Raw = r.doc.Encode()
	}
	if r.Mode == protocol.Tolerant {
		var spreads bool
		if r.doc, spreads = spread(r.doc, protocol.HoldsMessage); spreads {
			r.Raw = r.doc.Encode()
		}
	}
	if _, served := protocol.TypeOfMethod(r.tool); refusal == nil && (served || r.tool == "") {
		r.Dialect = r.Dialect.refined(r.Method, r.doc)
	}
	r.Header = protocol.ReadHeader(r.doc)
	if refusal != nil {
		refusal.Original = r.Header.MessageType
		return r, refusal
	}
	if refusal := r.dispatch(); refusal != nil {
		return r, refusal
	}
	r.respell()
	return r, nil
}

// OpenBody is [Codec.Open] for a body that nobody has read; without a Request where it is no
// JSON object.
func (c *Codec) OpenBody(body []byte) (*Request, error) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return nil, err
	}
	rpc := &jsonrpc.Request{Method: doc.Text("method"), Params: doc.Get("params"), ID: doc.Get("id"), Raw: body}
	if doc.Get("jsonrpc") == nil && rpc.Method == "" {
		rpc.Kind = jsonrpc.KindObject
	}
	return c.Open(rpc)
}

// Decode validates the message against its field rules and returns it as its Go
// type. Call it after Open has succeeded. The error is an [*Error] that lists
// everything that is wrong. In tolerant mode what is wrong with a message that
// holds what it is needed for is no error, but the Flaw of its header.
func (r *Request) Decode() (protocol.Message, error) {
	m, err := protocol.Decode(r.Type, r.doc, r.Mode, &r.Header)
	if err != nil && r.Mode == protocol.Tolerant {
		return decodeTolerantly(r.Type, r.doc, err, &r.Header)
	}
	return m, err
}

// refuseShape is the Error for JSON that is not a JSON-RPC request or whose
// method contradicts its message.
func refuseShape(t protocol.Type, detail string) *protocol.Error {
	return &protocol.Error{RPC: protocol.RPCInvalidRequest, Original: t, Detail: detail}
}

// refuseTool is the Error for tool input that cannot be read as such.
func refuseTool(code, detail string, violations ...protocol.Violation) *protocol.Error {
	return &protocol.Error{Canonical: code, Detail: detail, Violations: violations}
}
