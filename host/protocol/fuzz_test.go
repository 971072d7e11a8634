package protocol

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// bodies returns messages to start fuzzing from: the samples, and the examples
// of the protocol's sources.
func bodies(f *testing.F) []jsontext.Value {
	var all []jsontext.Value
	for _, s := range samples(f) {
		raw, err := Encode(s.message)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, raw)
	}
	for _, e := range sourceExamples(f) {
		doc := parsed(f, e.Document)
		for _, part := range []string{"params", "result"} {
			if doc.Get("jsonrpc") != nil && doc.Get(part) != nil {
				all = append(all, doc.Get(part))
			}
		}
		if doc.Get("jsonrpc") == nil {
			all = append(all, e.Document)
		}
	}
	return all
}

// FuzzDecode: no text makes a decoder panic, and what is accepted is written
// again with nothing lost and reads as the same message.
func FuzzDecode(f *testing.F) {
	types := Types()
	for _, raw := range bodies(f) {
		for i, t := range types {
			if string(t) == parsed(f, raw).Text("message_type") {
				f.Add(i, true, true, []byte(raw))
			}
		}
	}
	f.Add(2, true, true, []byte(`{"player_meta":{"display_name":"x","contact_endpoint":"y","version":null},"sender":"","protocol":null}`))
	f.Add(20, true, true, []byte(`{"match_id":"R1M1","game_result":{"choices":{"P01":null},"drawn_number":7.0}}`))
	f.Fuzz(func(t *testing.T, i int, tolerant, request bool, body []byte) {
		typ := types[uint(i)%uint(len(types))]
		mode := Strict
		if tolerant {
			mode = Tolerant
		}
		m, err := Decode(typ, body, mode, request)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || m != nil {
				t.Fatalf("%v beside %v", err, m)
			}
			if len(e.Violations) == 0 && e.RPC == 0 {
				t.Fatalf("the rules accept what does not fit the Go type: %v", err)
			}
			return
		}
		raw, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		want := parsed(t, body)
		if want.Text("message_type") == "" {
			want = want.Set("message_type", rawjson.Quote(string(typ)))
		}
		if a, b := comparable(want.Encode()), comparable(raw); a != b {
			t.Fatalf("%s of\n%s\nis written as\n%s", typ, body, raw)
		}
		again, err := Decode(typ, raw, mode, request)
		if err != nil {
			t.Fatalf("%s is not read again: %v", raw, err)
		}
		sameMessage(t, again, m)
	})
}

// comparable returns JSON in canonical form, or as it is where a number does
// not fit that form.
func comparable(raw jsontext.Value) string {
	v := raw.Clone()
	if v.Canonicalize() != nil {
		return ""
	}
	return string(v)
}

// FuzzOpen: no request makes the codec panic; whatever comes of it can be
// answered, in JSON.
func FuzzOpen(f *testing.F) {
	all := samples(f)
	for _, d := range append(Dialects(), variants...) {
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
	strict, tolerant := NewCodec(Strict), NewCodec(Tolerant, append(Dialects(), variants...)...)
	f.Fuzz(func(t *testing.T, method string, wild bool, params []byte) {
		c := strict
		if wild {
			c = tolerant
		}
		req, err := c.Open(method, params)
		answerable(t, req, err)
		if method == "" {
			req, err = c.OpenBare(params)
			answerable(t, req, err)
		}
	})
}

// answerable decodes a request and answers it, in a valid document each.
func answerable(t *testing.T, req *Request, err error) {
	if req == nil || req.Dialect == nil {
		t.Fatal("no request to answer")
	}
	h := req.Header.Answer("SOME_ACK", "player:P01", clock("09:00:00"))
	if err == nil {
		_, err = req.Decode()
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("refused with %T", err)
		}
		document := mustDocument(t, req.Refuse(h, e))
		if a, err := ParseAnswer(200, document); err != nil {
			t.Fatalf("the refusal %s is not read: %v", document, err)
		} else if _, err := NewCodec(Tolerant).ReadAnswer(TypeGameInvitation, a); err == nil && !req.Dialect.Answer.Bare && !req.Dialect.Rejects {
			t.Fatalf("the refusal %s is read as an answer", document)
		}
		return
	}
	reply, err := req.Reply(&Ack{Header: h, Status: StatusAcknowledged})
	if err != nil {
		t.Fatal(err)
	}
	mustDocument(t, reply)
}

func mustDocument(t *testing.T, r Reply) jsontext.Value {
	doc, err := r.Document(jsontext.Value(`1`), jsontext.Value(`"own"`))
	if err != nil || !doc.IsValid() {
		t.Fatalf("the reply %s is no JSON: %v", doc, err)
	}
	return doc
}

// FuzzReadAnswer: no response makes the reader panic, and it yields a message
// or an error of the two kinds.
func FuzzReadAnswer(f *testing.F) {
	all := samples(f)
	for _, d := range append(Dialects(), variants...) {
		for i, s := range all {
			if s.sent != "" {
				f.Add(i, 200, []byte(s.wire(f, d, all)))
			}
		}
	}
	for _, e := range sourceExamples(f) {
		f.Add(3, 500, []byte(e.Document))
	}
	f.Add(0, 200, []byte(`{"result":"\"{\\\"result\\\":{}}\""}`))
	types := Types()
	f.Fuzz(func(t *testing.T, i, status int, body []byte) {
		sent := types[uint(i)%uint(len(types))]
		a, err := ParseAnswer(status, body)
		if err != nil {
			return
		}
		for _, mode := range []Mode{Strict, Tolerant} {
			m, err := NewCodec(mode).ReadAnswer(sent, a)
			var own *Error
			var peer *Refusal
			switch {
			case err == nil && m == nil:
				t.Fatal("neither answer nor error")
			case err != nil && !errors.As(err, &own) && !errors.As(err, &peer):
				t.Fatalf("an error of type %T", err)
			case err == nil:
				if _, err := Encode(m); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
