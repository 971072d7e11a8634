package dialect

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Call is an outbound request: Method and Params for JSON-RPC, or a Body
// without it.
type Call struct {
	Method string
	Params jsontext.Value
	Body   jsontext.Value
}

// Call wraps a request for a peer of the dialect. The error is that of
// [protocol.Encode], or says that the type is only an answer.
func (d *Dialect) Call(m protocol.Message) (Call, error) {
	return d.CallAs(d.nameOf(m.Head().MessageType), m)
}

// CallAs is [Dialect.Call] under a name from [Dialect.MethodsOf]: the method
// or, where all requests share one, what stands in the place for it.
func (d *Dialect) CallAs(name string, m protocol.Message) (Call, error) {
	t := m.Head().MessageType
	raw, err := d.Body(m)
	if err != nil {
		return Call{}, err
	}
	call, err := d.Wrap(name, raw)
	if err != nil {
		return Call{}, fmt.Errorf("protocol: wrap %s for dialect %s: %w", t, d.Name, err)
	}
	return call, nil
}

// Body returns a request for a peer of the dialect before it is wrapped. The
// error is that of [Dialect.Call].
func (d *Dialect) Body(m protocol.Message) (jsontext.Value, error) {
	t := m.Head().MessageType
	if about, known := protocol.Describe(t); known && about.Method == "" {
		return nil, fmt.Errorf("protocol: %s is an answer and cannot be a request", t)
	}
	raw, err := protocol.Encode(m)
	if err != nil {
		return nil, err
	}
	if raw, err = d.edited(t, raw, true); err != nil {
		return nil, fmt.Errorf("protocol: edit %s for dialect %s: %w", t, d.Name, err)
	}
	return raw, nil
}

// Wrap wraps what is to be sent under a name from [Dialect.MethodsOf] as it is,
// be it a message or other parameters.
func (d *Dialect) Wrap(name string, raw jsontext.Value) (Call, error) {
	if d.Request.Bare {
		return Call{Body: raw}, nil
	}
	params, err := d.Request.wrap(raw, name, false)
	if err != nil {
		return Call{}, err
	}
	if d.Request.Method != "" {
		name = d.Request.Method
	}
	return Call{Method: name, Params: params}, nil
}

// Document returns the whole JSON document of the call; the id is JSON.
func (c Call) Document(id jsontext.Value) jsontext.Value {
	if c.Body != nil {
		return c.Body
	}
	return rawjson.Object{
		{Name: "jsonrpc", Value: rawjson.Quote("2.0")}, {Name: "method", Value: rawjson.Quote(c.Method)}, {Name: "params", Value: c.Params}, identity(id),
	}.Encode()
}

// An RPCError is the error object of JSON-RPC.
type RPCError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// A Reply answers a request: exactly one of Result, Error, Params (with Method)
// and Body is set, or Result and Params. [Reply.Document] makes it the JSON
// document that is sent.
type Reply struct {
	// Status is the HTTP status; other transports ignore it.
	Status int
	// Result is the result of a JSON-RPC response.
	Result jsontext.Value
	// Error is the error of a JSON-RPC response.
	Error *RPCError
	// Method and Params are an answer that is itself a request.
	Method string
	Params jsontext.Value
	// Body is an answer without JSON-RPC.
	Body jsontext.Value
}

// Reply wraps an answer as the request was wrapped. The error is that of
// [protocol.Encode].
func (r *Request) Reply(m protocol.Message) (Reply, error) {
	raw, err := protocol.Encode(m)
	if err != nil {
		return Reply{}, err
	}
	return r.wrap(m.Head().MessageType, raw, false)
}

// wrap puts an encoded answer where the dialect wants it.
func (r *Request) wrap(t protocol.Type, raw jsontext.Value, refused bool) (Reply, error) {
	raw, err := r.Dialect.edited(t, raw, false)
	if err != nil {
		return Reply{}, err
	}
	if !refused {
		if raw, err = r.widened(raw); err != nil {
			return Reply{}, err
		}
	}
	place := r.Dialect.Answer
	if raw, err = place.wrap(raw, r.tool, refused); err != nil {
		return Reply{}, err
	}
	reply := Reply{Status: httpOK}
	switch {
	case place.Bare:
		reply.Body = raw
	case place.Request:
		reply.Method, reply.Params = strings.ToLower(string(t)), raw
	case place.Both && !refused:
		reply.Result, reply.Method, reply.Params = raw, strings.ToLower(string(t)), raw
	default:
		reply.Result = raw
	}
	return reply, nil
}

// Refuse wraps a refusal of the request in the form of its dialect: a JSON-RPC
// error whose data is a LEAGUE_ERROR (from the manager) or a GAME_ERROR (from
// others), a tool result with isError, or the refusal instead of an answer. H
// is the header of the refusal, made by [protocol.Header.Answer] of r.Header;
// its message type is set here. Refuse never fails; what cannot be encoded is
// left out.
func (r *Request) Refuse(h protocol.Header, e *protocol.Error) Reply {
	if e.Original == "" && e.Code != "" {
		clone := *e
		clone.Original = r.Type
		e = &clone
	}
	reply, err := r.refuse(h, e)
	if err != nil {
		form := e.Form()
		reply = Reply{Status: form.HTTP, Error: &RPCError{Code: form.RPC, Message: form.Message}}
	}
	return reply
}

func (r *Request) refuse(h protocol.Header, e *protocol.Error) (Reply, error) {
	if r.Dialect.Rejects && e.Code != "" {
		if m := Rejected(r.Type, h, e.Detail); m != nil {
			return r.Reply(m)
		}
	}
	data, err := e.Data(h)
	if err != nil {
		return Reply{}, err
	}
	league := e.Code != "" // a refusal of the league, not of JSON-RPC itself
	form, style := e.Form(), r.Dialect.Refusal
	if league && (style == RefuseByToolError && form.RPC != protocol.RPCMethodNotFound || style == RefuseByMessage) {
		return r.wrap(refusalType(h), data, true)
	}
	if r.Dialect.Answer.Bare {
		return Reply{Status: form.HTTP, Body: data}, nil
	}
	if place := r.Dialect.Answer; league && place.Header != "" {
		if data, err = place.split(data); err != nil {
			return Reply{}, err
		}
	}
	return Reply{
		Status: form.HTTP,
		Error:  &RPCError{Code: form.RPC, Message: form.Message, Data: data},
	}, nil
}

func refusalType(h protocol.Header) protocol.Type {
	if role, _, _ := protocol.ParseSender(h.Sender); role == protocol.RoleManager {
		return protocol.TypeLeagueError
	}
	return protocol.TypeGameError
}

// Rejected returns the answer of status REJECTED to a registration of type t,
// with a reason and neither id, token nor league. It returns nil for a type
// that is no registration. The header's message type is set here.
func Rejected(t protocol.Type, h protocol.Header, reason string) protocol.Message {
	h.Protocol, h.MessageType, h.LeagueID, h.AuthToken = protocol.Version, t.Answer(), "", ""
	switch t {
	case protocol.TypeRefereeRegisterRequest:
		return &protocol.RefereeRegisterResponse{Header: h, Status: protocol.StatusRejected, Reason: protocol.Some(reason)}
	case protocol.TypeLeagueRegisterRequest:
		return &protocol.LeagueRegisterResponse{Header: h, Status: protocol.StatusRejected, Reason: protocol.Some(reason)}
	}
	return nil
}

// Document returns the whole JSON document of the reply. The id is that of the
// request, as JSON; nil means null. A reply that is itself a request has ownID
// instead.
func (r Reply) Document(id, ownID jsontext.Value) (jsontext.Value, error) {
	if r.Body != nil {
		return r.Body, nil
	}
	doc := rawjson.Object{{Name: "jsonrpc", Value: rawjson.Quote("2.0")}}
	if r.Method != "" {
		doc = append(doc, rawjson.Member{Name: "method", Value: rawjson.Quote(r.Method)}, rawjson.Member{Name: "params", Value: r.Params})
	}
	switch {
	case r.Error != nil:
		raw, err := json.Marshal(r.Error)
		if err != nil {
			return nil, err
		}
		doc = append(doc, rawjson.Member{Name: "error", Value: raw})
	case r.Result != nil:
		doc = append(doc, rawjson.Member{Name: "result", Value: r.Result})
	case r.Method != "":
		id = ownID
	}
	return append(doc, identity(id)).Encode(), nil
}

func identity(id jsontext.Value) rawjson.Member {
	if id == nil {
		id = jsontext.Value("null")
	}
	return rawjson.Member{Name: "id", Value: id}
}
