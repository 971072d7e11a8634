package dialect

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// FuzzOpen: no request makes the codec panic; whatever comes of it can be answered, in JSON.
func FuzzOpen(f *testing.F) {
	all := samples(f)
	for _, d := range append(OfProtocol(), variants...) {
		for _, s := range all {
			if s.sent != "" {
				continue
			}
			call, err := d.Call(s.message)
			if err != nil {
				f.Fatal(err)
			}
			if call.Body != nil {
				call.Params = call.Body
			}
			f.Add(call.Method, true, []byte(call.Params))
		}
	}
	f.Add("tools/call", false, []byte(`{"name":"x","arguments":{},"tool":"y","input":{}}`))
	f.Add("league.handle", false, []byte(`{"envelope":{"a":1},"payload":{"a":1.0},"a":2}`))
	f.Add("handle_message", true, []byte(`{"message":"{\"message_type\":\"GAME_OVER\"}"}`))
	strict, tolerant := NewCodec(protocol.Strict), NewCodec(protocol.Tolerant)
	f.Fuzz(func(t *testing.T, method string, wild bool, params []byte) {
		c := strict
		if wild {
			c = tolerant
		}
		if _, err := rawjson.Parse(params); err != nil && err != rawjson.ErrNoObject {
			return // host/jsonrpc refuses it
		}
		req, err := opens(c, method, params)
		answerable(t, req, err)
		if method == "" {
			req, err = openCall(c, jsonrpc.Message{Body: params})
			answerable(t, req, err)
		}
	})
}

// answerable decodes a request and answers it, in a valid document each.
func answerable(t *testing.T, req *Request, err error) {
	if req == nil || req.Dialect == nil {
		t.Fatal("no request to answer")
	}
	h := req.Header.Answer("GAME_OVER_ACK", "player:P01", clock("09:00:00"))
	if err == nil {
		_, err = req.Decode()
	}
	if err != nil {
		var e *protocol.Error
		if !errors.As(err, &e) {
			t.Fatalf("refused with %T", err)
		}
		document := mustDocument(t, req.Refuse(h, e))
		if a, err := ParseAnswer(200, document); err != nil {
			t.Fatalf("the refusal %s is not read: %v", document, err)
		} else if _, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeGameInvitation, a); err == nil && !req.Dialect.Answer.Bare && !req.Dialect.Request.Bare {
			t.Fatalf("the refusal %s is read as an answer", document)
		}
		return
	}
	reply, err := req.Reply(&protocol.Ack{Header: h, Status: protocol.StatusAcknowledged})
	if err != nil {
		t.Fatal(err)
	}
	mustDocument(t, reply)
}

func mustDocument(t *testing.T, r jsonrpc.Response) jsontext.Value {
	doc := jsontext.Value(r.Encode(&jsonrpc.Request{ID: jsontext.Value(`1`)}))
	if !doc.IsValid() {
		t.Fatalf("the reply %s is no JSON", doc)
	}
	return doc
}

// FuzzReadAnswer: no response makes the reader panic, and it yields a message
// or an error of the two kinds.
func FuzzReadAnswer(f *testing.F) {
	all := samples(f)
	for _, d := range append(OfProtocol(), variants...) {
		for i, s := range all {
			if s.sent != "" {
				f.Add(i, 200, []byte(s.wire(f, d)))
			}
		}
	}
	for _, e := range sourceExamples(f) {
		f.Add(3, 500, []byte(e.Document))
	}
	f.Add(0, 200, []byte(`{"result":"\"{\\\"result\\\":{}}\""}`))
	f.Add(0, 200, []byte(`{"result":"\""}`))
	types := protocol.Types()
	f.Fuzz(func(t *testing.T, i, status int, body []byte) {
		sent := types[uint(i)%uint(len(types))]
		a, err := ParseAnswer(status, body)
		if err != nil {
			return
		}
		for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
			m, err := NewCodec(mode).ReadAnswer(sent, a)
			var own *protocol.Error
			var peer *Refusal
			switch {
			case err == nil && m == nil:
				t.Fatal("neither answer nor error")
			case err != nil && !errors.As(err, &own) && !errors.As(err, &peer):
				t.Fatalf("an error of type %T", err)
			case err == nil:
				if _, err := protocol.Encode(m); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
