package dialect

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Codec reads requests and answers in any of its dialects. It is safe for concurrent use.
type Codec struct {
	mode     protocol.Mode
	dialects []*Dialect
	fallback *Dialect // for requests in no known wrapping
	bare     *Dialect // for those without JSON-RPC
}

// NewCodec returns a codec that recognizes the given dialects, or all known ones if none are given.
// The first flat one serves requests that fit several, so it should be [Contracts].
func NewCodec(mode protocol.Mode, dialects ...*Dialect) *Codec {
	if len(dialects) == 0 {
		dialects = known
	}
	c := &Codec{mode: mode, dialects: slices.Clone(dialects), fallback: Contracts, bare: Bare}
	for _, d := range slices.Backward(c.dialects) {
		switch {
		case d.Request.Bare:
			c.bare = d
		case !d.Request.structured():
			c.fallback = d
		}
	}
	return c
}

// Mode returns how much the codec asks of messages.
func (c *Codec) Mode() protocol.Mode { return c.mode }

// A Request is an inbound message: unwrapped and dispatched, not yet validated.
// It is not safe for concurrent use.
type Request struct {
	// Type is the message type; empty where it is unknown.
	Type protocol.Type
	// Header holds the header fields as far as they are strings, so that the
	// sender can be authenticated before the message is validated.
	Header protocol.Header
	// Dialect is that of the request, and will be that of the answer.
	Dialect *Dialect
	// Method is the JSON-RPC method as it came; empty for a bare message.
	Method string
	// Raw is the message without its wrapping. It may alias the text that was read.
	Raw jsontext.Value

	mode protocol.Mode
	id   jsontext.Value // of JSON-RPC, nil where it is not known
	doc  rawjson.Object // Raw, taken apart
	tool string         // what the message was called by, echoed in some answers
	path string         // to which a message without JSON-RPC was sent

	echo       []renamed // what the request calls otherwise than the protocol
	assignment string    // the type of an assignment, empty for any other request
}

// Open unwraps a JSON-RPC request and determines its message type. The Request is never nil: if
// Open fails, it serves to answer in kind. The error is an [*Error].
//
// Params that are missing or null count as an empty object.
func (c *Codec) Open(method string, params []byte) (*Request, error) {
	return c.openParams(nil, method, params)
}

// OpenRequest is [Codec.Open] or, where there is no JSON-RPC, [Codec.OpenBare] for a
// request that host/jsonrpc has read, without a second pass over params.
func (c *Codec) OpenRequest(rpc *jsonrpc.Request) (r *Request, err error) {
	if rpc.Kind == jsonrpc.KindObject {
		r, err = c.OpenBare(rpc.Raw)
		r.path = rpc.Route
		return r, err
	}
	r, err = c.openParams(rawjson.Split(rpc.Params), rpc.Method, rpc.Params)
	r.id = rpc.ID
	return r, err
}

// openParams opens a request whose params have been taken apart, if doc is not nil.
func (c *Codec) openParams(doc rawjson.Object, method string, params []byte) (r *Request, err error) {
	r = &Request{Dialect: c.fallback, Method: method, mode: c.mode}
	if kind := jsontext.Value(params).Kind(); kind == 0 && len(params) == 0 || kind == 'n' {
		params = []byte("{}")
	}
	if all := rawjson.Batch(params); len(all) == 1 && c.mode == protocol.Tolerant {
		doc, params = nil, all[0] // the only parameter by position
	}
	if doc == nil {
		doc, err = rawjson.Parse(params)
	}
	switch {
	case err == rawjson.ErrNoObject:
		return r, refuseShape("", "params is not an object.")
	case err != nil:
		return r, refuseJSON(err)
	}
	if refusal := c.open(r, doc, params); refusal != nil {
		return r, refusal
	}
	return r, nil
}

// OpenBare reads a body that has no JSON-RPC around it. Strict mode refuses
// it. Otherwise it is like [Codec.Open].
func (c *Codec) OpenBare(body []byte) (*Request, error) {
	r := &Request{Dialect: c.bare, mode: c.mode}
	doc, err := rawjson.Parse(body)
	switch {
	case err == rawjson.ErrNoObject:
		return r, refuseShape("", "The body is not an object.")
	case err != nil:
		return r, refuseJSON(err)
	case c.mode == protocol.Strict:
		return r, refuseShape("", `The request has no "jsonrpc": "2.0" around it.`)
	}
	r.Raw, r.doc = body, doc
	r.spread()
	r.Header = protocol.ReadHeader(r.doc)
	if refusal := r.dispatch(""); refusal != nil {
		return r, refusal
	}
	r.respell()
	return r, nil
}

func (c *Codec) open(r *Request, params rawjson.Object, raw []byte) *protocol.Error {
	d, refusal := c.recognize(r.Method, params)
	if d != nil {
		r.Dialect = d
	}
	if refusal != nil {
		return refusal
	}
	r.Raw, r.doc = raw, params
	if d.Request.structured() {
		r.doc, r.tool, refusal = d.Request.unwrap(params)
		r.Raw = r.doc.Encode()
	}
	r.spread()
	if _, served := protocol.TypeOfMethod(r.tool); refusal == nil && (served || r.tool == "") {
		r.Dialect = c.refine(r.Dialect, r.Method, r.doc)
	}
	r.Header = protocol.ReadHeader(r.doc)
	if refusal != nil {
		refusal.Original = r.Header.MessageType
		return refusal
	}
	if refusal := r.dispatch(r.witness()); refusal != nil {
		return refusal
	}
	r.respell()
	return nil
}

// Tolerant reports whether the request is read in tolerant mode.
func (r *Request) Tolerant() bool { return r.mode == protocol.Tolerant }

// Decode validates the message against its field rules and returns it as its Go
// type. Call it after Open has succeeded. The error is an [*Error] that lists
// everything that is wrong. In tolerant mode what is wrong with a message that
// holds what it is needed for is no error, but the Flaw of its header.
func (r *Request) Decode() (protocol.Message, error) {
	m, err := protocol.Decode(r.Type, r.doc, r.mode, &r.Header)
	if err != nil && r.mode == protocol.Tolerant {
		return decodeTolerantly(r.Type, r.doc, err, &r.Header)
	}
	return m, err
}

// refuseJSON is the Error for a text that is not JSON as this protocol takes
// it: malformed, with duplicate keys, trailing data, or nested too deeply.
func refuseJSON(err error) *protocol.Error {
	return &protocol.Error{RPC: protocol.RPCParseError, Detail: "The message is not valid JSON: " + err.Error()}
}

// refuseShape is the Error for JSON that is not a JSON-RPC request or whose
// method contradicts its message.
func refuseShape(t protocol.Type, detail string) *protocol.Error {
	return &protocol.Error{RPC: protocol.RPCInvalidRequest, Original: t, Detail: detail}
}

// refuseMethod is the Error for a message under the name of another type.
func refuseMethod(t protocol.Type, name string, named protocol.Type) *protocol.Error {
	return refuseShape(t, "The message is called by "+name+", which is for "+string(named)+".")
}

// refuseTool is the Error for tool input that cannot be read as such.
func refuseTool(code, detail string, violations ...protocol.Violation) *protocol.Error {
	return &protocol.Error{Canonical: code, Detail: detail, Violations: violations}
}
