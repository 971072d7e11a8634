package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// frame is what JSON-RPC has around a request.
type frame struct {
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	ID      json.RawMessage `json:"id"`
	Version json.RawMessage `json:"jsonrpc"`
}

// opened takes a request apart in whatever dialect it is. The request says how
// to answer even where the error says that it cannot be read; it is nil for
// what is no JSON object.
func opened(body []byte) (*protocol.Request, frame, error) {
	var f frame
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, f, err
	}
	codec := protocol.NewCodec(protocol.Tolerant, protocol.KnownDialects()...)
	if f.Version == nil && f.Method == "" {
		req, err := codec.OpenBare(body)
		return req, f, err
	}
	req, err := codec.Open(f.Method, f.Params)
	return req, f, err
}

// inKind answers a request in the wrapping it came in: with a message, with a
// refusal (an error), or, for nil, with an acknowledgement. A request that can
// hardly be read is answered as well as possible, since whoever sent it has to
// be told something.
func inKind(body []byte, answer any) Said {
	req, frame, err := opened(body)
	if req == nil {
		return Said{Status: http.StatusBadRequest, Body: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)}
	}
	now := protocol.Timestamp(time.Now())
	var reply protocol.Reply
	var refusal *protocol.Error
	switch a := answer.(type) {
	case protocol.Message:
		*a.Head() = answerHead(req.Header, *a.Head(), now)
		reply, err = req.Reply(a)
	case error:
		err = a
	case nil:
		if err == nil {
			reply, err = acknowledge(req, now)
		}
	}
	if err != nil {
		if !errors.As(err, &refusal) {
			refusal = protocol.Refuse(protocol.CodeInternalError, req.Type, err.Error())
		}
		reply = req.Refuse(req.Header.Answer("", "league_manager", now), refusal)
	}
	doc, err := reply.Document(jsontext.Value(frame.ID), jsontext.Value(`"`+jsonrpc.RandomID()+`"`))
	if err != nil {
		return Said{Status: http.StatusInternalServerError}
	}
	return Said{Status: reply.Status, Body: doc}
}

// answerHead is the header of an answer: what a station has put into it beside
// the echo of the request's.
func answerHead(request, own protocol.Header, now string) protocol.Header {
	h := request.Answer(own.MessageType, "league_manager", now)
	h.AuthToken = own.AuthToken
	if own.LeagueID != "" {
		h.LeagueID = own.LeagueID
	}
	if own.Sender != "" {
		h.Sender = own.Sender
	}
	return h
}

// acknowledge says that a message has arrived.
func acknowledge(req *protocol.Request, now string) (protocol.Reply, error) {
	about, _ := protocol.Describe(req.Type)
	ack, ok := protocol.New(about.Answer).(*protocol.Ack)
	if !ok {
		return protocol.Reply{}, protocol.Refuse(protocol.CodeUnknownMessageType, req.Type, "nothing here takes such a message")
	}
	ack.Header, ack.Status = answerHead(req.Header, ack.Header, now), protocol.StatusAcknowledged
	return req.Reply(ack)
}
