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
	place, reply := r.Dialect.Answer, jsonrpc.Response{Status: http.StatusOK}
	raw = place.wrap(raw, r.tool, refused)
	switch {
	case place.Bare:
		reply.Body = raw
	case place.Request, place.Both && !refused: // the answer is itself a request, or that too
		doc := rawjson.Object{
			{Name: "jsonrpc", Value: rawjson.Quote("2.0")},
			{Name: "method", Value: rawjson.Quote(strings.ToLower(string(t)))},
			{Name: "params", Value: raw},
		}
		id := rawjson.Quote(jsonrpc.RandomID())
		if place.Both {
			doc = append(doc, rawjson.Member{Name: "result", Value: raw})
			id = jsontext.Value(cmp.Or(string(r.ID), "null"))
		}
		reply.Body = append(doc, rawjson.Member{Name: "id", Value: id}).Encode()
	default:
		reply.Result = raw
	}
	return reply
}

// Refuse wraps a refusal of the request in the form of its dialect: a JSON-RPC error whose data is
// a LEAGUE_ERROR (from the manager) or a GAME_ERROR (from others), a tool result with isError, or
// the refusal instead of an answer. H is the header of the refusal, made by
// [protocol.Header.Answer] of r.Header; its message type is set here. Refuse never fails; what
// cannot be encoded is left out.
func (r *Request) Refuse(h protocol.Header, e *protocol.Error) jsonrpc.Response {
	league := e.Code != "" // a refusal of the league, not of JSON-RPC itself
	if e.Original == "" && league {
		clone := *e
		clone.Original = r.Type
		e = &clone
	}
	form, place := e.Form(), r.Dialect.Answer
	reply := jsonrpc.Response{Status: form.HTTP, Error: &jsonrpc.Error{Code: form.RPC, Message: form.Message}}
	if m := Rejected(r.Type, h, e.Detail); m != nil && league && r.Dialect.Request.Bare {
		if rejection, err := r.Reply(m); err == nil {
			return rejection
		}
	}
	data, err := e.Data(h)
	byTool := r.Dialect.Request == Tool.Request && form.RPC != protocol.RPCMethodNotFound // else the call is at fault
	switch {
	case err != nil:
		return reply
	case league && (byTool || place.Request || r.Dialect.Request.Bare):
		return r.wrap(protocol.TypeOf(rawjson.Split(data)), data, true)
	case place.Bare:
		return jsonrpc.Response{Status: form.HTTP, Body: data}
	case league && place.Header != "":
		data = place.split(data)
	}
	reply.Error.Data = data
	return reply
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
