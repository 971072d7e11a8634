package dialect

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Call wraps a request for a peer of the dialect, under a name from [Dialect.MethodsOf] if one is
// given. The error is that of [protocol.Encode], or says that the type is only an answer.
func (d *Dialect) Call(m protocol.Message, as ...string) (jsonrpc.Message, error) {
	raw, err := d.Body(m)
	if err != nil {
		return jsonrpc.Message{}, err
	}
	return d.Wrap(cmp.Or(append(as, d.nameOf(m.Head().MessageType))...), raw), nil
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
	return d.edited(t, raw, true), nil
}

// Wrap wraps what is to be sent under a name from [Dialect.MethodsOf] as it is, a JSON
// object, be it a message or other parameters.
func (d *Dialect) Wrap(name string, raw jsontext.Value) jsonrpc.Message {
	if d.Request.Bare {
		return jsonrpc.Message{Body: raw}
	}
	params := d.Request.wrap(raw, name, false)
	return jsonrpc.Message{Method: cmp.Or(d.Request.Method, name), Params: params}
}

// Reply wraps an answer as the request was wrapped. The error is that of [protocol.Encode].
func (r *Request) Reply(m protocol.Message) (jsonrpc.Response, error) {
	raw, err := protocol.Encode(m)
	if err != nil {
		return jsonrpc.Response{}, err
	}
	return r.wrap(m.Head().MessageType, raw, false), nil
}

// wrap puts an encoded answer where the dialect wants it.
func (r *Request) wrap(t protocol.Type, raw jsontext.Value, refused bool) jsonrpc.Response {
	raw = r.Dialect.edited(t, raw, false)
	if !refused {
		raw = r.widened(raw)
	}
	place := r.Dialect.Answer
	raw = place.wrap(raw, r.tool, refused)
	reply := jsonrpc.Response{Status: http.StatusOK}
	switch {
	case place.Bare:
		reply.Body = raw
	case place.Request:
		reply.Body = posted(t, raw, rawjson.Member{Name: "id", Value: rawjson.Quote(jsonrpc.RandomID())})
	case place.Both && !refused:
		id := r.ID
		if id == nil {
			id = jsontext.Value("null")
		}
		reply.Body = posted(t, raw, rawjson.Member{Name: "result", Value: raw}, rawjson.Member{Name: "id", Value: id})
	default:
		reply.Result = raw
	}
	return reply
}

// posted returns an answer that is itself a request.
func posted(t protocol.Type, raw jsontext.Value, more ...rawjson.Member) jsontext.Value {
	return append(rawjson.Object{
		{Name: "jsonrpc", Value: rawjson.Quote("2.0")}, {Name: "method", Value: rawjson.Quote(strings.ToLower(string(t)))}, {Name: "params", Value: raw},
	}, more...).Encode()
}

// Refuse wraps a refusal of the request in the form of its dialect: a JSON-RPC error whose data is
// a LEAGUE_ERROR (from the manager) or a GAME_ERROR (from others), a tool result with isError, or
// the refusal instead of an answer. H is the header of the refusal, made by
// [protocol.Header.Answer] of r.Header; its message type is set here. Refuse never fails; what
// cannot be encoded is left out.
func (r *Request) Refuse(h protocol.Header, e *protocol.Error) jsonrpc.Response {
	if e.Original == "" && e.Code != "" {
		clone := *e
		clone.Original = r.Type
		e = &clone
	}
	reply, err := r.refuse(h, e)
	if err != nil {
		form := e.Form()
		reply = jsonrpc.Response{Status: form.HTTP, Error: &jsonrpc.Error{Code: form.RPC, Message: form.Message}}
	}
	return reply
}

func (r *Request) refuse(h protocol.Header, e *protocol.Error) (jsonrpc.Response, error) {
	if r.Dialect.Request.Bare && e.Code != "" {
		if m := Rejected(r.Type, h, e.Detail); m != nil {
			return r.Reply(m)
		}
	}
	data, err := e.Data(h)
	if err != nil {
		return jsonrpc.Response{}, err
	}
	league := e.Code != "" // a refusal of the league, not of JSON-RPC itself
	form, d := e.Form(), r.Dialect
	byTool := d.Request == Tool.Request && form.RPC != protocol.RPCMethodNotFound // else it is a fault of the call
	if league && (byTool || d.Answer.Request || d.Request.Bare) {
		return r.wrap(protocol.TypeOf(rawjson.Split(data)), data, true), nil
	}
	if r.Dialect.Answer.Bare {
		return jsonrpc.Response{Status: form.HTTP, Body: data}, nil
	}
	if place := r.Dialect.Answer; league && place.Header != "" {
		data = place.split(data)
	}
	return jsonrpc.Response{
		Status: form.HTTP,
		Error:  &jsonrpc.Error{Code: form.RPC, Message: form.Message, Data: data},
	}, nil
}

// Rejected returns the answer of status REJECTED to a registration of type t,
// with a reason and neither id, token nor league. It returns nil for a type
// that is no registration. The header's message type is set here.
func Rejected(t protocol.Type, h protocol.Header, reason string) protocol.Message {
	h.Protocol, h.MessageType, h.LeagueID, h.AuthToken = protocol.Version, t.Answer(), "", ""
	if t != protocol.TypeRefereeRegisterRequest && t != protocol.TypeLeagueRegisterRequest {
		return nil
	}
	return &protocol.RegisterResponse{Header: h, Status: protocol.StatusRejected, Reason: protocol.Some(reason)}
}
