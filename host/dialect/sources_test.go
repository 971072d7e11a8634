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
		doc := parsed(t, e.Document)
		bare := doc.Get("jsonrpc") == nil
		switch {
		case bare && isRequest(protocol.Type(doc.Text("message_type"))):
			req, err := c.OpenBare(e.Document)
			takes(t, e, req, err)
		case bare:
			takesAnswer(t, e, e.Document)
		case doc.Get("method") != nil:
			req, err := c.Open(doc.Text("method"), doc.Get("params"))
			takes(t, e, req, err)
		case doc.Get("error") != nil:
			a, err := ParseAnswer(200, e.Document)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.ReadAnswer(protocol.TypeLeagueQuery, a)
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Code != sourceRefusals[refusal.RPC] {
				t.Errorf("%s %s: read as %v", e.Source, e.Section, err)
			}
		default:
			takesAnswer(t, e, doc.Get("result"))
		}
	}
}

func takes(t *testing.T, e sourceExample, req *Request, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s %s: %v", e.Source, e.Section, err)
		return
	}
	if _, err := req.Decode(); err != nil {
		t.Errorf("%s %s: %v", e.Source, e.Section, err)
	}
	roundTrip(t, req.Type, req.Raw, protocol.Tolerant, true)
}

// takesAnswer reads a body as the answer to whatever it answers.
func takesAnswer(t *testing.T, e sourceExample, body jsontext.Value) {
	t.Helper()
	typ := protocol.Type(parsed(t, body).Text("message_type"))
	if sent := sentFor(typ); sent != "" {
		m, err := NewCodec(protocol.Tolerant).ReadAnswer(sent, Answer{Result: body})
		if err != nil {
			t.Errorf("%s %s: %v", e.Source, e.Section, err)
			return
		}
		if m.Head().MessageType != typ {
			t.Errorf("%s %s: read as %s", e.Source, e.Section, m.Head().MessageType)
		}
		roundTrip(t, typ, body, protocol.Tolerant, false)
		return
	}
	t.Errorf("%s %s: %s answers nothing", e.Source, e.Section, typ)
}
