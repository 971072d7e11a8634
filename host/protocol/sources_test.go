package protocol

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	text, err := os.ReadFile("testdata/source_examples.jsonl")
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
var sourceRefusals = map[int]Code{
	-32600: "", 1001: CodeLeagueFull, 2002: CodeDuplicateName, 3001: CodeTokenInvalid,
	-1: CodeTimeout, 5003: CodeDuplicateReport, 12: CodeTokenInvalid,
}

// TestSourceExamples: a tolerant receiver takes every one of them, although
// the documents contradict each other, and loses nothing of it.
func TestSourceExamples(t *testing.T) {
	t.Parallel()
	all := sourceExamples(t)
	if len(all) != 72 {
		t.Errorf("%d examples, want all 72", len(all))
	}
	c := NewCodec(Tolerant)
	for _, e := range all {
		doc := parsed(t, e.Document)
		bare := doc.Get("jsonrpc") == nil
		switch {
		case bare && byType[Type(doc.Text("message_type"))].method != "":
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
			_, err = c.ReadAnswer(TypeLeagueQuery, a)
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
	roundTrip(t, req.Type, req.Raw, Tolerant, true)
}

// takesAnswer reads a body as the answer to whatever it answers.
func takesAnswer(t *testing.T, e sourceExample, body jsontext.Value) {
	t.Helper()
	typ := Type(parsed(t, body).Text("message_type"))
	for _, sent := range catalogue {
		if sent.answer != typ {
			continue
		}
		m, err := NewCodec(Tolerant).ReadAnswer(sent.typ, Answer{Result: body})
		if err != nil {
			t.Errorf("%s %s: %v", e.Source, e.Section, err)
			return
		}
		if m.Head().MessageType != typ {
			t.Errorf("%s %s: read as %s", e.Source, e.Section, m.Head().MessageType)
		}
		roundTrip(t, typ, body, Tolerant, false)
		return
	}
	t.Errorf("%s %s: %s answers nothing", e.Source, e.Section, typ)
}
