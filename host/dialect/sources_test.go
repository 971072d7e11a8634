package dialect

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
)

// sourceExample is a complete JSON example of one of the documents that the
// protocol was put together from: its values, with sentences of our own.
// Messages that stand there without a header were given one.
type sourceExample struct {
	Source   string         `json:"source"`
	Section  string         `json:"section"`
	Document jsontext.Value `json:"document"`
}

func sourceExamples(t testing.TB) []sourceExample {
	t.Helper()
	text, err := os.ReadFile("../protocol/testdata/source_examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []sourceExample
	for line := range bytes.Lines(text) {
		var e sourceExample
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// sourceRefusals are the errors among the examples, by JSON-RPC code.
var sourceRefusals = map[int]protocol.Code{
	-32600: "", 1001: protocol.CodeLeagueFull, 2002: protocol.CodeDuplicateName, 3001: protocol.CodeTokenInvalid,
	-1: protocol.CodeTimeout, 5003: protocol.CodeDuplicateReport, 12: protocol.CodeTokenInvalid,
}

// TestSourceExamples: a tolerant receiver takes every one of them, although
// the documents contradict each other, and loses nothing of it.
func TestSourceExamples(t *testing.T) {
	t.Parallel()
	all := sourceExamples(t)
	if len(all) != 72 {
		t.Errorf("%d examples, want all 72", len(all))
	}
	c := NewCodec(protocol.Tolerant)
	for _, e := range all {
		doc, body := parsed(t, e.Document), e.Document
		rpc, typ := doc.Get("jsonrpc") != nil, protocol.Type(doc.Text("message_type"))
		var m protocol.Message
		var err error
		switch {
		case doc.Get("error") != nil:
			a, failed := ParseAnswer(200, e.Document)
			_, err = c.ReadAnswer(protocol.TypeLeagueQuery, a)
			var refusal *Refusal
			if failed != nil || !errors.As(err, &refusal) || refusal.Code != sourceRefusals[refusal.RPC] {
				t.Errorf("%s %s: read as %v", e.Source, e.Section, err)
			}
			continue
		case rpc && doc.Get("method") != nil, !rpc && isRequest(typ):
			var req *Request
			if req, err = c.Open(doc.Text("method"), doc.Get("params")); !rpc {
				req, err = c.OpenBare(e.Document)
			}
			if err == nil {
				body, typ = req.Raw, req.Type
				m, err = req.Decode()
			}
		default:
			if rpc {
				body = doc.Get("result")
				typ = protocol.Type(parsed(t, body).Text("message_type"))
			}
			m, err = c.ReadAnswer(sentFor(typ), Answer{Result: body})
		}
		if err != nil || m.Head().MessageType != typ || m.Head().Flaw != nil {
			t.Errorf("%s %s: %+v, %v", e.Source, e.Section, m, err)
			continue
		}
		again, err := protocol.Encode(m)
		if want, got := canonical(t, body), canonical(t, again); err != nil || want != got {
			t.Errorf("%s %s changes when it is read and written, %v:\n%s\n%s", e.Source, e.Section, err, want, got)
		}
	}
}
